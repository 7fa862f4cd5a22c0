package logparse

import (
	"strings"
	"sync"
	"time"
)

// What stands before a line, or around it, was put there by those who carried it:
// a container runtime, journald, syslog, kubectl, a terminal. Each is a framing,
// a row of framings; they come in any order and several deep, and are taken off
// one by one until a format claims what is left.

// framing is one way to wrap a line.
type framing struct {
	name string
	// first are the bytes that a line so wrapped begins with; "d" stands for any
	// digit, "a" for any letter.
	first string
	// cut takes the wrapper off, false if the line has none such.
	cut func(text string, f *frame) (rest string, ok bool)
	// doubtful says that text of other meaning looks the same: the wrapper counts
	// only if a format claims what is behind it, or has done so in this stream.
	doubtful bool
}

// framings are asked in this order.
var framings = []framing{
	{name: "cri", first: "d", cut: cutCRI},
	{name: "docker", first: "{", cut: cutDocker},
	{name: "journald-json", first: "{", cut: cutJournalJSON},
	{name: "journald-json", first: "\"\t ", cut: cutJournalPretty},
	{name: "kubectl-prefix", first: "[", cut: cutPodPrefix},
	{name: "bracketed", first: "[", cut: cutBracketed},
	{name: "syslog-5424", first: "<", cut: cutSyslog5424},
	{name: "syslog", first: "<a", cut: cutSyslog},
	{name: "syslog", first: "d", cut: cutSyslogNumbered},
	{name: "syslog-iso", first: "d", cut: cutSyslogISO},
	{name: "journald-full", first: "a", cut: cutJournalFull},
	{name: "journald-unix", first: "d", cut: cutJournalUnix},
	{name: "supervisord", first: "d", cut: cutSupervisord},
	{name: "rancher-ui", first: "d", cut: cutRancherUI},
	{name: "logrus", first: "t", cut: cutLogrusWrapped},
	{name: "dmesg", first: "[", cut: cutMonotonic, doubtful: true},
	{name: "timestamps", first: "d", cut: cutTimestamp, doubtful: true},
	{name: "quote", first: ">*\t ", cut: cutQuote, doubtful: true},
	{name: "stern", first: "ad", cut: cutStern, doubtful: true},
	{name: "tag", first: "ad", cut: cutTag, doubtful: true},
}

// framingCRI is the first row: most logs of a cluster come so, and no format
// begins like it, so that it is asked before the formats.
const framingCRI = 0

// These are not in the table: colours may stand anywhere, a prefix of no known
// shape is found from its end, and an exported entry is no line.
const (
	framingANSI = iota + 100
	framingPrefix
	framingExport
)

func framingName(id int) string {
	switch id {
	case framingANSI:
		return "ansi"
	case framingPrefix:
		return "prefix"
	case framingExport:
		return "journald-export"
	}
	return framings[id].name
}

// framingsBy lists the framings by the first byte of a line.
var framingsBy = sync.OnceValue(func() *[256][]int {
	var by [256][]int
	for id, f := range framings {
		for c := range 256 {
			if beginsSo(f.first, byte(c)) {
				by[c] = append(by[c], id)
			}
		}
	}
	return &by
})

func beginsSo(first string, c byte) bool {
	for i := range len(first) {
		switch x := first[i]; {
		case x == 'd' && isDigit(c), x == 'a' && (isLetter(c) || c >= 0x80), x == c && x != 'd' && x != 'a':
			return true
		}
	}
	return strings.IndexByte(first, c) >= 0
}

// maxFraming is how deep wrappers may be.
const maxFraming = 7

// frame is what the wrappers of one line say.
type frame struct {
	// chain holds the framings that were taken off, outermost lowest, a byte
	// each; 0 for none.
	chain uint64
	depth int

	stamp   moment // of the innermost wrapper that has one
	stamped bool
	// outer is stamp as an instant, zero if it lacks a part.
	outer time.Time

	// host is the machine, program and pid the process; pod and container where
	// it ran. Empty where no wrapper says.
	host, program, pid, pod, container string
	// stream is stdout or stderr.
	stream string
	level  Level
	// partial means that the line goes on in the next one of the same stream.
	partial bool
	// header means that the wrapper stands alone, before the line that it is for.
	header bool
	// prefix is the text that was taken off, if its shape is not known.
	prefix string
}

func (f *frame) push(id int) {
	if f.depth < maxFraming {
		f.chain |= uint64(id+1) << (8 * f.depth)
	}
	f.depth++
}

// setStamp keeps a wrapper's stamp.
func (f *frame) setStamp(m moment) {
	f.stamp, f.stamped = m, true
	f.outer, _ = m.full()
}

// chainNames lists the framings of a chain, outermost first.
func chainNames(chain uint64) []string {
	var out []string
	for ; chain != 0; chain >>= 8 {
		out = append(out, framingName(int(chain&0xff)-1))
	}
	return out
}

// peeled is a line without its wrappers.
type peeled struct {
	frame
	text string
	// format claims the text; nil for text that nobody does.
	format *format
}

// recordMarks are what a line of a distinct format holds; one without any of them
// is not searched for such a line behind a doubtful wrapper.
var recordMarks = []string{`{"`, "] ", " | ", "level=", "\t"}

// peel takes the wrappers off a line. Doubtful ones count if a format claims what
// is left, or if known has their chain; known is nil if it has none.
func peel(text string, known func(chain uint64) bool) peeled {
	p := peeled{text: text}
	p.peel(known)
	return p
}

// peel is the same in place.
func (p *peeled) peel(known func(chain uint64) bool) {
	if strings.IndexByte(p.text, 0x1b) >= 0 {
		if plain, ok := cutANSI(p.text); ok {
			p.text = plain
			p.push(framingANSI)
		}
	}
	for p.depth < maxFraming {
		rest, ok := cutCRI(p.text, &p.frame)
		if !ok {
			break
		}
		p.push(framingCRI)
		if p.text = rest; p.partial {
			return
		}
	}
	if p.format = formatOf(p.text); p.format != nil && !p.format.late {
		return
	}
	p.peelRest(known)
}

// peelRest takes off what is not a container runtime's; no format, or a late one,
// claims the text as it is.
func (p *peeled) peelRest(known func(chain uint64) bool) {
	var sure peeled // as far as no wrapper was in doubt
	doubt, last := false, -1
	by := framingsBy()
	loose := known != nil || containsAny(p.text, recordMarks)
	for p.depth < maxFraming {
		before := *p
		id, rest := p.cutOne(by[firstByte(p.text)], loose)
		if id < 0 {
			if p.format != nil {
				return
			}
			break
		}
		switch {
		case framings[id].doubtful && !doubt:
			doubt, sure = true, before
		case doubt && last >= 0 && framings[last].name == "timestamps" && known != nil && known(before.chain):
			sure = before // what looks like another wrapper behind a stamp may be the text
		}
		p.text, last = rest, id
		if p.partial || p.header {
			return
		}
		if p.format = formatOf(p.text); p.format != nil && !p.format.late {
			return
		}
	}
	if doubt && (known == nil || !known(p.chain)) {
		*p = sure
	}
	if p.format == nil && loose {
		p.cutPrefix()
	}
}

func firstByte(s string) byte {
	if s == "" {
		return 0
	}
	return s[0]
}

// cutOne takes one wrapper off. It leaves text as it is, so that the caller can
// go back; id is -1 if there is none.
func (p *peeled) cutOne(ids []int, loose bool) (id int, rest string) {
	for _, id := range ids {
		if framings[id].doubtful && !loose {
			continue
		}
		before := p.frame
		rest, ok := framings[id].cut(p.text, &p.frame)
		if ok {
			p.push(id)
			return id, rest
		}
		p.frame = before
	}
	return -1, ""
}

// maxPrefix is how long a prefix of no known shape may be.
const maxPrefix = 160

// cutPrefix looks for the start of a record behind a prefix of any shape: an
// address, a time since the start, a bullet.
func (p *peeled) cutPrefix() {
	for i := 1; i < len(p.text) && i <= maxPrefix; i++ {
		switch p.text[i-1] {
		case '"', '{', '=':
			return // inside somebody's value
		case ' ', '\t', ']', ':', '|', '>', ')':
		default:
			continue
		}
		switch c := p.text[i]; {
		case c == '{', c == 'I', c == 'W', c == 'E', c == 'F', c == '2', c == 't':
			if f := formatOf(p.text[i:]); f != nil && f.distinct {
				p.prefix, p.text, p.format = p.text[:i], p.text[i:], f
				p.push(framingPrefix)
				return
			}
		}
	}
}
