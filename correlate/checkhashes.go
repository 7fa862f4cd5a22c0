package correlate

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"etcd-autopsy/logparse"
	"etcd-autopsy/snapshot"
)

// storedHash is the hash that an etcd printed when it compacted its store.
type storedHash struct {
	note
	hash        uint32
	rev, before int64
}

// takeHash keeps etcd's line about the hash of a compaction (etcd v3.5.5 and newer
// server/storage/mvcc/hash.go).
func (l *logFile) takeHash(rec *logparse.Record) {
	if rec.Message != "storing new hash" {
		return
	}
	hash, err := strconv.ParseUint(rec.Fields.Get("hash"), 10, 32)
	rev, err2 := strconv.ParseInt(rec.Fields.Get("revision"), 10, 64)
	before, err3 := strconv.ParseInt(rec.Fields.Get("compact-revision"), 10, 64)
	if err == nil && err2 == nil && err3 == nil {
		if len(l.hashes) == maxHashes {
			l.hashes = slices.Delete(l.hashes, 0, 1)
		}
		l.hashes = append(l.hashes, storedHash{l.note(rec), uint32(hash), rev, before})
	}
}

// maxHashes is how many hashes of one log are compared, the last ones: each takes
// reading the whole history.
const maxHashes = 3

// checkHashes compares the hashes that members printed with those of the history.
func (c *Case) checkHashes(ctx context.Context) ([]CheckRow, error) {
	var out []CheckRow
	type compaction struct{ rev, before int64 }
	known := map[compaction]map[uint32]bool{}
	for _, l := range c.logs {
		if l == nil || len(l.hashes) == 0 {
			continue
		}
		in := &c.inputs[l.input]
		for _, s := range l.hashes {
			row := CheckRow{Input: in.Label, Source: in.Path, Check: "compaction hash", Where: fmt.Sprintf("line %d", s.line)}
			at := compaction{s.rev, s.before}
			if known[at] == nil {
				sums, err := c.historyHashes(ctx, s.rev, s.before)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if err != nil {
					row.Status, row.Text = snapshot.CheckUnknown.String(), fmt.Sprintf("the hash of revision %d cannot be computed: %s", s.rev, err)
					out = append(out, row)
					continue
				}
				known[at] = sums
			}
			row.Status, row.Text = snapshot.CheckOK.String(), fmt.Sprintf("the hash of revision %d that etcd printed (%d) is that of the history", s.rev, s.hash)
			if !known[at][s.hash] {
				row.Status, row.Text = snapshot.CheckFault.String(), fmt.Sprintf("the hash of revision %d that etcd printed (%d) is not that of the history", s.rev, s.hash)
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// historyHashes are the hashes of the history by the rules of all releases.
func (c *Case) historyHashes(ctx context.Context, rev, before int64) (map[uint32]bool, error) {
	sums := map[uint32]bool{}
	for _, rule := range []snapshot.TombstoneRule{snapshot.TombstoneSkipped, snapshot.TombstoneHashed} {
		sum, err := c.hist.CompactionHash(ctx, rev, before, rule)
		if err != nil {
			return nil, err
		}
		sums[sum] = true
	}
	return sums, nil
}
