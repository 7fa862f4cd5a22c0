package correlate

import (
	"cmp"
	"path"
	"strings"
	"time"

	"etcd-autopsy/internal/source"
	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
	"etcd-autopsy/snapshot/dump"
)

// Kinds of inputs, in the words of the JSON report.
const (
	kindSnapshot = "snapshot"
	kindMember   = "member"
	kindWAL      = "wal"
	kindLog      = "log"
	kindAudit    = "audit"
	kindObjects  = "objects"
	kindArchive  = "archive"
	kindConfig   = "config"
	kindStatus   = "status"
	kindIgnored  = "ignored"
	kindUnknown  = "unknown"
)

// headSize is how much of a text is looked at to tell what it is.
const headSize = 256 << 10

// classify decides what each file is taken for, by content; --as overrides it.
func (c *Case) classify() {
	c.inputs = make([]Input, len(c.set.Files))
	c.logs = make([]*logFile, len(c.set.Files))
	for i, f := range c.set.Files {
		in := &c.inputs[i]
		*in = Input{Label: f.Input, Path: f.Path, Bytes: f.Size, Problems: append([]string{}, f.Problems...)}
		in.Kind, in.Why = kindByContent(f)
		if k := asKind(c.opts.As, f.Path); k != "" {
			in.Kind, in.Why = k, namedByUser
		}
		switch in.Kind {
		case kindLog, kindAudit, kindObjects, kindUnknown:
			c.identify(i, f)
		case kindArchive:
			if f.Unpacked {
				in.Why = "archive: its entries are inputs of their own"
			}
		}
	}
}

// namedByUser is why an input is taken for what a --as rule says.
const namedByUser = "named by --as"

// named is the reason of an input's kind if the user gave it, else "".
func named(in *Input) string {
	if in.Why == namedByUser {
		return namedByUser
	}
	return ""
}

// kindByContent maps what a file looks like to a kind; text is told apart later.
func kindByContent(f *source.File) (kind, why string) {
	switch f.Kind {
	case source.KindBolt:
		if strings.HasSuffix(f.Path, "member/snap/db") {
			return kindMember, "bbolt database at a member's place"
		}
		return kindSnapshot, "bbolt database"
	case source.KindSnap:
		return kindMember, "raft snapshot of a member: the membership at a raft index"
	case source.KindWAL:
		return kindWAL, "etcd WAL segment, or a file made for one"
	case source.KindArchive:
		return kindArchive, "archive by its first bytes"
	case source.KindEmpty:
		return kindUnknown, "empty file"
	case source.KindZeros:
		return kindUnknown, "nothing but zero bytes in its first block"
	case source.KindText:
		return kindUnknown, "text"
	}
	return kindUnknown, "binary of no known kind"
}

// asKind returns the kind that a --as rule gives a path, "" for none.
func asKind(rules []AsRule, p string) string {
	for _, r := range rules {
		full, _ := path.Match(r.Pattern, p)
		base, _ := path.Match(r.Pattern, path.Base(p))
		if full || base {
			if r.Kind == "ignore" {
				return kindIgnored
			}
			return r.Kind
		}
	}
	return ""
}

// identify looks into a text: a log of a known format gets a reader, the rest is
// listed as unknown.
func (c *Case) identify(i int, f *source.File) {
	in := &c.inputs[i]
	forced := in.Kind == kindLog || in.Kind == kindAudit || in.Kind == kindObjects
	switch f.Kind {
	case source.KindText:
	case source.KindEmpty:
		return
	case source.KindZeros:
		in.Problems = append(in.Problems, "nothing but zero bytes at offset 0: not read")
		return
	default:
		if !forced {
			if looksLikeStore(f.Path) {
				in.Problems = append(in.Problems, "named like a store, but there is no bbolt meta page at offset 0 or 4096: not read")
			}
			return
		}
	}
	head, err := f.Head(headSize)
	if err != nil {
		in.Problems = append(in.Problems, plainError(err))
		return
	}
	if !forced && snapshot.LooksLikeEncryptionConfig(head) {
		c.takeKeys(in, head)
		return
	}
	if in.Kind == kindObjects || !forced && dump.Looks(head) {
		in.Kind = kindObjects
		in.Why = cmp.Or(named(in), "objects that an API server answered, with resourceVersions")
		return
	}
	if !forced && looksLikeStatus(head) {
		c.takeStatus(i, f)
		return
	}
	id := logparse.Identify(f.Path, head)
	if id.Format == "" || id.Format == logparse.FormatPlain {
		if !forced && !looksLikeLog(f.Path, id) {
			in.Why = "text of no known log format"
			if looksLikeStore(f.Path) {
				in.Problems = append(in.Problems, "named like a store, but it is text: no bbolt meta page at offset 0")
			}
			return
		}
	}
	if named(in) == "" {
		in.Kind, in.Why = kindLog, cmp.Or(id.Why, whyLog(id))
		if id.Format == logparse.FormatAudit {
			in.Kind = kindAudit
		}
	}
	in.Component, in.Member, in.Node = string(id.Component), id.Member, id.Node
	l := &logFile{input: i, file: f, id: id}
	l.begins = begins(head, l.options(c, time.Time{}))
	c.logs[i] = l
}

// looksLikeLog says whether text of no known format is a log all the same: most of
// its lines have a time, or it is named so.
func looksLikeLog(p string, id logparse.Identity) bool {
	return id.Format != "" && (id.Stamped || strings.Contains(path.Base(p), ".log"))
}

// whyLog is the reason for a log whose program does not show.
func whyLog(id logparse.Identity) string {
	switch {
	case len(id.Framing) > 0:
		return string(id.Format) + " lines in " + strings.Join(id.Framing, ", ")
	case id.Format != logparse.FormatPlain:
		return string(id.Format) + " lines"
	case id.Stamped:
		return "lines with a time"
	}
	return "text named like a log"
}

// takeKeys reads an EncryptionConfiguration: its keys decrypt what the stores hold.
func (c *Case) takeKeys(in *Input, text []byte) {
	in.Kind, in.Why = kindConfig, "EncryptionConfiguration of an API server; its keys decrypt the stores"
	keys, err := snapshot.ParseEncryptionConfig(text)
	if err != nil {
		in.Problems = append(in.Problems, err.Error())
		return
	}
	c.keys = append(c.keys, keys)
}

// looksLikeStore says whether a file's name promises a backend database.
func looksLikeStore(p string) bool {
	return strings.HasSuffix(p, ".db") || path.Base(p) == "db"
}
