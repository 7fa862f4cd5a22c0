package logparse

import "strings"

// parts joins the pieces of a line that a container runtime has cut.
type parts struct {
	row   row
	text  strings.Builder
	count int
}

// join adds a piece, false if it does not continue the pieces before it: a line
// of the other stream, or one with other wrappers. What goes past MaxLine is
// counted only.
func (p *parts) join(r row) bool {
	if p.count > 0 && (r.stream != p.row.stream || r.chain != p.row.chain || r.container != p.row.container || r.pod != p.row.pod) {
		return false
	}
	if p.count == 0 {
		p.row = r
		p.text.Reset()
	} else {
		p.row.lines += r.lines
		p.row.lost += r.lost
		p.row.nuls += r.nuls
	}
	keep := cutText(r.text, MaxLine-p.text.Len())
	p.text.WriteString(keep)
	p.row.lost += int64(len(r.text) - len(keep))
	p.count++
	return true
}

// whole returns what was joined and starts anew. What is inside the pieces may
// have wrappers of its own.
func (p *parts) whole(known func(uint64) bool) row {
	r := p.row
	inner := peel(p.text.String(), known)
	r.text, r.format = inner.text, inner.format
	r.frame.inside(&inner.frame)
	r.partial = false
	p.text.Reset()
	p.count = 0
	return r
}

// inside adds what the wrappers inside a frame say.
func (f *frame) inside(in *frame) {
	f.chain |= in.chain << (8 * min(f.depth, maxFraming))
	f.depth += in.depth
	if in.stamped {
		f.setStamp(in.stamp)
	}
	for _, x := range []struct{ to, from *string }{
		{&f.host, &in.host}, {&f.program, &in.program}, {&f.pid, &in.pid}, {&f.pod, &in.pod}, {&f.container, &in.container},
	} {
		if *x.from != "" {
			*x.to = *x.from
		}
	}
	if in.level != LevelUnknown {
		f.level = in.level
	}
	f.prefix = in.prefix
}
