package logparse

import (
	"cmp"
	"strings"
)

// Identity is what the start of a log shows about where it comes from. Empty
// values mean that it does not show.
type Identity struct {
	// Format is how most of its lines are written; plain if no line has a known
	// format, empty if there is no text.
	Format Format
	// Framing is what most lines are wrapped in, outermost first; nil for none.
	Framing []string
	// Stamped says that at least half of the lines have a time of their own or
	// their wrapper's: the text is some log, whatever its format.
	Stamped bool
	// Component is the program; empty if unknown or if several write there.
	Component Component
	// Member is the name (--name) of the etcd member that writes here, also among other
	// programs, MemberID its ID as 16 hex digits.
	Member, MemberID string
	// Node is the name of the kubelet's node.
	Node string
	// Why names the mark that told the component, or the format.
	Why string
}

// headLimit is how much of a block Identify looks at.
const headLimit = 256 << 10

// Identify looks at the first block of a log; callers pass up to 256 KiB. The
// content decides, the file's name only where the content shows no program.
func Identify(name string, head []byte) Identity {
	var id Identity
	v := countVotes(headLines(decodedHead(head)))
	id.Format, id.Framing, id.Stamped = v.format(), v.framing(), 2*v.stamped >= v.lines && v.lines > 0
	if isEventList(head) {
		id.Format = FormatAudit
	}
	switch id.Format {
	case "":
		return id
	case FormatAudit:
		id.Component, id.Why = ComponentAudit, "audit.k8s.io event lines"
		return id
	}
	if c, name := v.wrapped(); c != ComponentUnknown {
		id.Component, id.Why = c, "lines of "+name
	}
	if id.Component == ComponentUnknown {
		id.Component, id.Why = v.component(id.Format)
	}
	if id.Component == ComponentUnknown && id.Why == "" {
		id.Component, id.Why = componentOfName(name, id.Format)
	}
	id.Member, id.MemberID = v.member, v.memberID // of etcd inside another program, too
	if id.Component == ComponentKubelet {
		id.Node = v.node
	}
	return id
}

// headLines cuts a block into lines; a last one that the block cuts does not
// count unless it is the only one.
func headLines(head []byte) []string {
	text := string(head[:min(len(head), headLimit)])
	text = strings.TrimPrefix(text, "\ufeff")
	if end := strings.LastIndexByte(text, '\n'); end >= 0 && len(head) >= headLimit {
		text = text[:end]
	}
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.Trim(l, "\r\n\x00"); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// votes is what the lines of a block say.
type votes struct {
	lines      int
	formats    map[Format]int
	plain      int
	stamped    int // lines with a time
	etcd       int // etcd's own lines
	components map[Component]*componentVotes
	chains     map[uint64]int
	programs   map[string]int // as wrappers name them; "" for lines without

	member, memberID, node string
}

// componentVotes are the marks of one klog program.
type componentVotes struct {
	flags bool            // its command line was dumped
	files map[string]bool // source files that only it has
	named bool            // a message names it
}

func countVotes(lines []string) *votes {
	v := &votes{
		lines: len(lines), formats: map[Format]int{}, components: map[Component]*componentVotes{}, chains: map[uint64]int{},
		programs: map[string]int{},
	}
	if len(lines) > 0 && isExport([]byte(lines[0])) {
		lines = exportedMessages(lines)
		v.lines, v.stamped = len(lines), len(lines)
	}
	for _, text := range lines {
		v.line(text)
	}
	return v
}

// exportedMessages are the messages among the lines of an export.
func exportedMessages(lines []string) (out []string) {
	for _, l := range lines {
		if m, ok := strings.CutPrefix(l, "MESSAGE="); ok {
			out = append(out, m)
		}
	}
	return out
}

func (v *votes) line(text string) {
	p := peel(text, nil)
	v.chains[p.chain]++
	v.programs[cmp.Or(p.program, p.container, p.pod)]++
	if p.format == nil {
		v.plain++
		if _, _, ok := leadingStamp(p.text); ok || p.stamped {
			v.stamped++
		}
		return
	}
	v.stamped++
	v.formats[p.format.name]++
	switch p.format.name {
	case FormatKlog:
		if _, ok := klogHeader(p.text); ok {
			v.klog(p.text)
		}
	case FormatZapJSON, FormatZapConsole, FormatCapnslog, FormatGoLog:
		v.etcdLine(p)
	}
}

// framing is the chain of wrappers that most lines have.
func (v *votes) framing() []string {
	best, most := uint64(0), 0
	for chain, n := range v.chains {
		if n > most || n == most && chain < best {
			best, most = chain, n
		}
	}
	return chainNames(best)
}

// wrapped is the component that all wrappers name, if all lines have one that
// does, and that name.
func (v *votes) wrapped() (Component, string) {
	if len(v.programs) != 1 {
		return ComponentUnknown, ""
	}
	for name := range v.programs {
		return componentNamed(name), name
	}
	return ComponentUnknown, ""
}

// format returns the format with the most lines. Plain lines continue klog
// records, so they win only alone.
func (v *votes) format() Format {
	var best Format
	if v.plain > 0 {
		best = FormatPlain
	}
	for _, f := range formats {
		if v.formats[f.name] > v.formats[best] { // plain counts nothing here
			best = f.name
		}
	}
	return best
}

func (v *votes) of(c Component) *componentVotes {
	if v.components[c] == nil {
		v.components[c] = &componentVotes{files: map[string]bool{}}
	}
	return v.components[c]
}

// klog takes the marks of one klog line.
func (v *votes) klog(text string) {
	n, _ := klogHeader(text)
	message := text[n:]
	caller := strings.TrimSuffix(strings.TrimSuffix(text[:n], " "), "]")
	caller = caller[strings.LastIndexAny(caller, " /")+1:]
	file, _, _ := strings.Cut(caller, ":")
	if c, ok := componentFiles[file]; ok {
		v.of(c).files[file] = true
	}
	if flag, ok := strings.CutPrefix(message, "FLAG: --"); ok {
		v.flag(flag)
		return
	}
	for _, m := range componentMessages {
		if strings.HasPrefix(message, m.text) {
			v.of(m.component).named = true
		}
	}
	if rest, ok := strings.CutPrefix(message, `"Successfully registered node" node="`); ok {
		v.node, _, _ = strings.Cut(rest, `"`)
	}
}

// flag takes one line of a flag dump (component-base/cli/flag, PrintFlags).
func (v *votes) flag(text string) {
	key, value, _ := strings.Cut(text, "=")
	value = strings.Trim(value, `"`)
	if c, ok := componentFlags[key]; ok {
		v.of(c).flags = true
	}
	switch key {
	case "leader-elect-resource-name":
		if c := Component(value); c == ComponentControllerManager || c == ComponentScheduler {
			v.of(c).flags = true
		}
	case "hostname-override":
		v.node = value
	}
}

// etcdLine takes the marks of one line in a format of etcd's.
func (v *votes) etcdLine(p peeled) {
	s := stream{clock: newClock(Options{})}
	r := row{peeled: p}
	var rec Record
	p.format.read(&s, &r, &rec)
	if rec.Component != ComponentEtcd || rec.Problem != "" {
		return
	}
	v.etcd++
	if v.memberID == "" {
		if id, rest, ok := cutMember(rec.Fields.Get("local-member-id")); ok && rest == "" {
			v.memberID = id
		} else if e, ok := RaftEventOf(rec); ok {
			v.memberID = e.Member
		}
	}
	if v.member != "" {
		return
	}
	switch rec.Message {
	case "starting an etcd server": // embed/etcd.go
		v.member = rec.Fields.Get("name")
	case "Running: ": // etcdmain/etcd.go
		v.member = nameFlag(rec.Fields.Get("args"))
	case "published local member to cluster through raft": // etcdserver/server.go
		attributes := rec.Fields.Get("local-member-attributes")
		if rest, ok := strings.CutPrefix(attributes, "{Name:"); ok {
			v.member, _, _ = strings.Cut(rest, " ")
		}
	}
}

// nameFlag finds --name in a JSON list of arguments.
func nameFlag(args string) string {
	list := strings.Split(strings.Trim(args, "[]"), ",")
	for i, a := range list {
		a = strings.Trim(a, `"`)
		if value, ok := strings.CutPrefix(strings.TrimPrefix(a, "-"), "-name="); ok {
			return value
		}
		if (a == "--name" || a == "-name") && i+1 < len(list) {
			return strings.Trim(list[i+1], `"`)
		}
	}
	return ""
}

// etcdFormats are the formats of etcd's own logs, with the reason that they give.
var etcdFormats = map[Format]string{
	FormatZapJSON: "etcd zap JSON lines", FormatZapConsole: "etcd zap console lines", FormatCapnslog: "etcd capnslog lines",
}

// component weighs the marks. Marks of two programs at once mean that both write
// here, or that one embeds the other: then no single answer is right.
func (v *votes) component(f Format) (Component, string) {
	if name, ok := etcdFormats[f]; ok {
		if v.etcd == 0 || len(v.components) > 0 {
			return ComponentUnknown, ""
		}
		return ComponentEtcd, name
	}
	if v.etcd > 0 {
		return ComponentUnknown, "klog lines between etcd's own: several programs in one log"
	}
	if c, ok := v.only(func(x *componentVotes) bool { return x.flags }); ok {
		return c, "klog lines with " + string(c) + " flags"
	}
	if c, ok := v.only(func(x *componentVotes) bool { return x.named }); ok {
		return c, "klog lines that name " + string(c)
	}
	if c, ok := v.mostFiles(); ok {
		return c, "klog lines from source files of " + string(c)
	}
	return ComponentUnknown, ""
}

// only returns the one component that has a mark.
func (v *votes) only(has func(*componentVotes) bool) (c Component, ok bool) {
	n := 0
	for x, marks := range v.components {
		if has(marks) {
			c, n = x, n+1
		}
	}
	return c, n == 1
}

// mostFiles returns the component with at least twice the files of any other.
func (v *votes) mostFiles() (best Component, ok bool) {
	most, second := 0, 0
	for c, marks := range v.components {
		switch n := len(marks.files); {
		case n > most:
			best, most, second = c, n, most
		case n > second:
			second = n
		}
	}
	return best, most > 0 && most >= 2*second
}

// componentOfName reads a file's name, the last resort.
func componentOfName(name string, f Format) (Component, string) {
	base := strings.ToLower(name[strings.LastIndexAny(name, `/\`)+1:])
	for _, c := range []Component{ComponentAPIServer, ComponentControllerManager, ComponentScheduler, ComponentKubelet, ComponentEtcd} {
		if etcdFormats[f] != "" && c != ComponentEtcd || f == FormatKlog && c == ComponentEtcd {
			continue
		}
		if strings.HasPrefix(base, string(c)) {
			return c, "file name"
		}
	}
	return ComponentUnknown, ""
}
