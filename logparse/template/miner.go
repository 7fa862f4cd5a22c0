package template

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"etcd-autopsy/logparse"
)

// Miner collects the forms of messages. The zero value is not usable; it is not
// for several goroutines at once.
type Miner struct {
	limit int
	log   int
	forms map[string]*form
	order []*form // by hash, highest first
	left  int     // records of forms beyond the limit
	buf   []byte
}

// Limit is how many forms a miner keeps. Which ones are kept when there are more
// does not depend on the order of the records.
const Limit = 1000

// New returns a miner for the log of a number.
func New(log int) *Miner { return newMiner(log, Limit) }

func newMiner(log, limit int) *Miner {
	return &Miner{log: log, limit: limit, forms: map[string]*form{}}
}

// Wants says whether a record is one for a miner: no signature knows it, and it is
// a warning or worse, or says of itself that something failed where its format has
// no levels.
func Wants(rec *logparse.Record) bool {
	switch {
	case len(rec.Signatures) > 0, rec.Format == logparse.FormatNoise, rec.Format == logparse.FormatAudit:
		return false
	case rec.Level == logparse.LevelUnknown:
		return soundsBad(rec.Message)
	}
	return rec.Level >= logparse.LevelWarn
}

// Add counts a record that Wants accepts. A form that was seen before costs no
// memory.
func (m *Miner) Add(rec *logparse.Record) {
	m.buf = m.key(m.buf[:0], rec)
	f := m.forms[string(m.buf)]
	if f == nil {
		if f = m.begin(rec); f == nil {
			m.left += 1 + rec.Repeats
			return
		}
	}
	f.add(rec, m.log)
}

// Settle is called behind the last record of a log: it lets go of the memory that
// the last record of each form shares with others.
func (m *Miner) Settle() {
	for _, f := range m.order {
		f.last.Text = strings.Clone(f.last.Text)
	}
}

// key writes what records of one form share.
func (m *Miner) key(buf []byte, rec *logparse.Record) []byte {
	buf = append(buf, rec.Component...)
	buf = append(buf, 0, byte(rec.Level))
	buf = append(buf, callerFile(rec.Caller)...)
	buf = append(buf, 0)
	return mask(buf, messageOf(rec))
}

// messageOf is the text that tells what a record is about: its message, or the
// error of one that only passes it on.
func messageOf(rec *logparse.Record) string {
	if rec.Message == "Unhandled Error" || rec.Message == "" {
		for _, key := range [...]string{"err", "error"} {
			if v := rec.Fields.Get(key); v != "" {
				return v
			}
		}
	}
	return rec.Message
}

// callerFile is the file of "dir/file.go:123": the line changes with the release.
func callerFile(caller string) string {
	for i := len(caller) - 1; i > 0; i-- {
		if caller[i] == ':' {
			return caller[:i]
		}
	}
	return caller
}

// begin makes a new form, nil if it is beyond the limit.
func (m *Miner) begin(rec *logparse.Record) *form {
	key := string(m.buf)
	return m.keep(&form{
		origin: origin{component: rec.Component, level: rec.Level, caller: strings.Clone(callerFile(rec.Caller))},
		key:    key, text: key[strings.LastIndexByte(key, 0)+1:], hash: hashOf(key),
	})
}

// keep takes a form in, and puts out the one with the highest hash if there are too
// many: what is left are those with the lowest hashes of all. It returns nil if the
// form itself is the one.
func (m *Miner) keep(f *form) *form {
	if len(m.order) >= m.limit {
		worst := m.order[0]
		if f.hash >= worst.hash {
			return nil
		}
		m.order = slices.Delete(m.order, 0, 1)
		m.left += worst.count
		delete(m.forms, worst.key)
	}
	m.forms[f.key] = f
	at, _ := slices.BinarySearchFunc(m.order, f, func(a, b *form) int { return cmp.Compare(b.hash, a.hash) })
	m.order = slices.Insert(m.order, at, f)
	return f
}

// Merge adds what other miners found; they stay as they are.
func (m *Miner) Merge(others ...*Miner) {
	for _, o := range others {
		m.left += o.left
		for _, key := range slices.Sorted(maps.Keys(o.forms)) {
			f := o.forms[key].clone()
			if mine := m.forms[key]; mine != nil {
				mine.join(f)
			} else if m.keep(f) == nil {
				m.left += f.count
			}
		}
	}
}

// Left is how many records were of forms beyond the limit.
func (m *Miner) Left() int { return m.left }

// hashOf is the same in every run.
func hashOf(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	return h.Sum64()
}
