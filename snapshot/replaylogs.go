package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"etcd-autopsy/snapshot/wal"
)

// replayLogs makes revisions of what the members' logs hold, and adds those that
// no store has.
func (h *History) replayLogs(ctx context.Context, m *merger, logs []*memberLog) error {
	h.chooseLogs(m, logs)
	raft := joinLogs(logs, h.positions(m, logs), h.electorates(m, logs))
	h.members = memberSet{}
	for _, m := range snapMembers(h.ownSnaps(logs)) {
		h.members[m.ID] = &m
	}
	p := &replayer{h: h, m: m, raft: raft, entries: raft.listEntries(), removed: map[uint64]bool{}}
	err := p.replayAll(ctx)
	p.finish()
	return err
}

// chooseLogs leaves out the logs that do not belong to the stores, or not to each
// other: of several clusters the one with the most entries stays.
func (h *History) chooseLogs(m *merger, logs []*memberLog) {
	var known []string
	for _, i := range m.accepted {
		known = append(known, h.stores[i].info.memberIDs()...)
	}
	ours := map[string]bool{} // clusters of which the stores know a member
	for _, l := range logs {
		if len(known) == 0 || slices.Contains(known, l.info.MemberID) {
			ours[l.info.ClusterID] = true
		}
	}
	entries := map[string]int{}
	for _, l := range logs {
		switch {
		case l.info.Entries == 0:
		case l.info.MemberID == "":
			l.reject("no readable record says of which cluster it is")
		case !ours[l.info.ClusterID]:
			l.reject(fmt.Sprintf("it is of member %s of cluster %s, which no store knows", l.info.MemberID, l.info.ClusterID))
		default:
			entries[l.info.ClusterID] += l.info.Entries
		}
	}
	var main string
	for _, l := range logs {
		if id := l.info.ClusterID; entries[id] > entries[main] {
			main = id
		}
	}
	for _, l := range logs {
		if l.info.Rejected == "" && l.info.Entries > 0 && l.info.ClusterID != main {
			l.reject(fmt.Sprintf("it is of cluster %s, the others are of cluster %s", l.info.ClusterID, main))
		}
	}
	rejectStrange(logs)
}

// reject leaves the log out.
func (l *memberLog) reject(why string) {
	l.info.Rejected = why
	l.valid, l.log.Entries, l.log.Commit, l.log.Snapshots = nil, nil, 0, nil
}

// scanLogs reads the WALs of all folders, one after the other.
func scanLogs(ctx context.Context, files []File) ([]*memberLog, error) {
	var logs []*memberLog
	for _, d := range walFolders(files) {
		l, err := d.scan(ctx)
		if err != nil && ctx.Err() != nil {
			return logs, err
		}
		if err != nil {
			l = &memberLog{info: WAL{Input: d.input, Path: d.path}, log: &wal.Log{}}
			l.problem("%s", err)
		}
		logs = append(logs, l)
	}
	return logs, nil
}

// replayedTo is the last revision of the logs, 0 for none.
func (h *History) replayedTo() (last int64) {
	for _, r := range h.replayed {
		last = max(last, r.last)
	}
	return last
}

// replayedWhole says whether the logs have a revision whole.
func (h *History) replayedWhole(main int64) bool {
	return slices.ContainsFunc(h.replayed, func(r span) bool { return main > r.above && main <= r.last })
}

// placeOf finds the value of a revision that only a log has.
func (h *History) placeOf(main int64, sub uint32) (walPlace, bool) {
	n, ok := slices.BinarySearchFunc(h.walPlaces, walPlace{main: main, sub: sub}, func(a, b walPlace) int {
		return cmp.Or(cmp.Compare(a.main, b.main), cmp.Compare(a.sub, b.sub))
	})
	if !ok {
		return walPlace{}, false
	}
	return h.walPlaces[n], true
}
