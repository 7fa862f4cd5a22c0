package snapshot

import "time"

// RequestOrigin takes the ID of a raft request apart: the low 16 bits of the ID
// of the member that proposed it, and the time in it. A member counts its IDs up
// from the millisecond at which its process started, by its clock, one for each
// request and each round of linearizable reads, and they run over into the
// milliseconds after each 256: the request was made then or later, and of the first
// requests after a start it is that start (etcd v3.6 pkg/idutil/id.go).
func RequestOrigin(id uint64) (member uint16, notBefore time.Time) {
	return uint16(id >> idMemberShift), idTime(id)
}

// idTime is the time in a generated ID. The 40 bits came round in November 2004 and
// do so again in September 2039.
func idTime(id uint64) time.Time {
	return time.UnixMilli(int64(id>>idTimeShift&(1<<idTimeBits-1) + 1<<idTimeBits)).UTC()
}

// Proposer returns the ID of the member that proposed a request, "" if none or
// several of the members end in its bits.
func Proposer(id uint64, members []Member) string {
	found := ""
	for _, m := range members {
		if n := memberNumber(m.ID); n != 0 && uint16(n) == uint16(id>>idMemberShift) {
			if found != "" {
				return ""
			}
			found = m.ID
		}
	}
	return found
}
