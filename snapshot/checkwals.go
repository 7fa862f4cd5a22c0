package snapshot

import (
	"fmt"

	"etcd-autopsy/snapshot/wal"
)

// expectedFaults are faults that a log has which was copied while etcd wrote it,
// or of which a crash took the end: they are no damage.
var expectedFaults = map[wal.FaultKind]bool{wal.FaultTorn: true}

// CheckWAL checks the raft log i of a history: its records, and the revisions that
// its entries make against those that the stores hold.
func CheckWAL(h *History, i int) []CheckLine {
	c := &checking{}
	l := h.logs[i]
	faults := 0
	for _, f := range l.faults {
		status := CheckFault
		if expectedFaults[f.Kind] {
			status = CheckOK
		} else {
			faults++
		}
		c.add("wal records", status, fmt.Sprintf("%s, offset %d", f.Segment, f.Offset), "%s", f.Text)
	}
	if faults == 0 {
		c.add("wal records", CheckOK, "", "%d entries (%d to %d) in %d files, with right checksums", l.info.Entries, l.info.First, l.info.Last, len(l.info.Segments))
	}
	switch {
	case l.info.Rejected != "":
		c.add("wal replay", CheckUnknown, "", "left out: %s", l.info.Rejected)
	case l.info.Span.Last == 0:
		c.add("wal replay", CheckUnknown, "", "no revisions were made of its entries")
	case h.disagreed != "":
		c.add("wal replay", CheckFault, "", "%s", h.disagreed)
	case h.agreed == 0:
		c.add("wal replay", CheckUnknown, "", "revisions %d to %d: no store has any of them to compare with", l.info.Span.First, l.info.Span.Last)
	default:
		c.add("wal replay", CheckOK, "", "revisions %d to %d: all of %d records that stores hold too are equal, byte for byte", l.info.Span.First, l.info.Span.Last, h.agreed)
	}
	return c.lines
}
