package snapshot

import "time"

// RequestOrigin takes the ID of a raft request apart: the low 16 bits of the ID
// of the member that proposed it, and when that member's process had started: to
// the millisecond, on its clock. The member counts its requests up from there, so
// the request was made then or later (etcd v3.6 pkg/idutil/id.go). The
// 40 bits that the ID has of the time are read as of the years 2004 to 2039.
func RequestOrigin(id uint64) (member uint16, started time.Time) {
	const era = int64(1) << 40
	ms := int64(id>>8&(1<<40-1)) + era
	return uint16(id >> 48), time.UnixMilli(ms).UTC()
}

// Proposer returns the ID of the member that proposed a request, "" if none or
// several of the members end in its bits.
func Proposer(id uint64, members []Member) string {
	found := ""
	for _, m := range members {
		if n := memberNumber(m.ID); n != 0 && uint16(n) == uint16(id>>48) {
			if found != "" {
				return ""
			}
			found = m.ID
		}
	}
	return found
}
