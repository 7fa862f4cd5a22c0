package logparse

import (
	"strconv"
	"strings"
)

// RaftKind is what a raft message says has happened.
type RaftKind string

// Kinds of raft events (raft/raft.go and raft/node.go).
const (
	RaftElectionStart      RaftKind = "election-start"
	RaftBecamePreCandidate RaftKind = "became-precandidate"
	RaftBecameCandidate    RaftKind = "became-candidate"
	RaftBecameFollower     RaftKind = "became-follower"
	RaftBecameLeader       RaftKind = "became-leader"
	RaftLostLeader         RaftKind = "lost-leader"
	RaftElectedLeader      RaftKind = "elected-leader"
	RaftChangedLeader      RaftKind = "changed-leader"
	RaftSteppedDown        RaftKind = "stepped-down"
)

// RaftEvent is a change of leadership as one member saw it.
type RaftEvent struct {
	Kind RaftKind
	// Member is who speaks, always the member whose log it is: 16 hex digits.
	Member string
	// Leader is the leader that was lost, elected or changed to, 16 hex digits;
	// for became-leader the member itself; empty where no leader is named.
	Leader string
	// Former is the leader that was changed from or lost; else empty.
	Former string
	// Term is the raft term, 0 where the message names none (stepped-down).
	Term uint64
}

// raftTails are what follows the member's ID in its own messages.
var raftTails = []struct {
	tail string
	kind RaftKind
}{
	{" became leader at term ", RaftBecameLeader},
	{" became follower at term ", RaftBecameFollower},
	{" became candidate at term ", RaftBecameCandidate},
	{" became pre-candidate at term ", RaftBecamePreCandidate},
	{" is starting a new election at term ", RaftElectionStart},
	{" stepped down to follower since quorum is not active", RaftSteppedDown},
}

// RaftEventOf reads the raft messages about leadership, false for every other
// record. The texts are the same from etcd 3.0 on; lines written before 3.4's
// JSON logs carry a "raft: " before them, which is skipped.
func RaftEventOf(rec Record) (RaftEvent, bool) {
	if rec.Component != ComponentEtcd && rec.Component != ComponentUnknown {
		return RaftEvent{}, false
	}
	text := strings.TrimPrefix(rec.Message, "raft: ")
	if node, ok := strings.CutPrefix(text, "raft.node: "); ok {
		return raftNodeEvent(node)
	}
	member, rest, ok := cutMember(text)
	if !ok {
		return RaftEvent{}, false
	}
	for _, t := range raftTails {
		after, ok := strings.CutPrefix(rest, t.tail)
		if !ok {
			continue
		}
		e := RaftEvent{Kind: t.kind, Member: member}
		if t.kind != RaftSteppedDown {
			if e.Term, ok = parseTerm(after); !ok {
				return RaftEvent{}, false
			}
		}
		if t.kind == RaftBecameLeader {
			e.Leader = member
		}
		return e, true
	}
	return RaftEvent{}, false
}

// raftNodeEvent reads what raft.node tells about the leader it follows.
func raftNodeEvent(text string) (RaftEvent, bool) {
	var e RaftEvent
	var ok bool
	var rest string
	if e.Member, rest, ok = cutMember(text); !ok {
		return RaftEvent{}, false
	}
	switch {
	case strings.HasPrefix(rest, " lost leader "):
		e.Kind = RaftLostLeader
		e.Leader, rest, ok = cutMember(rest[len(" lost leader "):])
		e.Former = e.Leader
	case strings.HasPrefix(rest, " elected leader "):
		e.Kind = RaftElectedLeader
		e.Leader, rest, ok = cutMember(rest[len(" elected leader "):])
	case strings.HasPrefix(rest, " changed leader from "):
		e.Kind = RaftChangedLeader
		if e.Former, rest, ok = cutMember(rest[len(" changed leader from "):]); ok {
			rest, ok = strings.CutPrefix(rest, " to ")
		}
		if ok {
			e.Leader, rest, ok = cutMember(rest)
		}
	default:
		return RaftEvent{}, false
	}
	if !ok {
		return RaftEvent{}, false
	}
	if rest, ok = strings.CutPrefix(rest, " at term "); !ok {
		return RaftEvent{}, false
	}
	if e.Term, ok = parseTerm(rest); !ok {
		return RaftEvent{}, false
	}
	return e, true
}

// cutMember reads a member ID, which raft prints as %x without leading zeros.
func cutMember(s string) (id, rest string, ok bool) {
	n := strings.IndexByte(s, ' ')
	if n < 0 {
		n = len(s)
	}
	if n == 0 || n > 16 {
		return "", "", false
	}
	for i := range n {
		if c := s[i]; !isDigit(c) && (c < 'a' || c > 'f') {
			return "", "", false
		}
	}
	return strings.Repeat("0", 16-n) + s[:n], s[n:], true
}

// parseTerm reads a term that ends the message or a word of it.
func parseTerm(s string) (uint64, bool) {
	if n := strings.IndexByte(s, ' '); n >= 0 {
		s = s[:n]
	}
	term, err := strconv.ParseUint(strings.TrimRight(s, "."), 10, 64)
	return term, err == nil
}
