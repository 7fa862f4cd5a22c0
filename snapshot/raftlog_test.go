package snapshot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"etcd-autopsy/snapshot/wal"
)

// madeLog is the log of a member, made up of terms and indexes: "1-3@1" are three
// entries of term 1. What a later one has the place of is overwritten. "?" behind
// entries says that the member may not have kept them.
func madeLog(t *testing.T, member string, commit uint64, spec string) *memberLog {
	t.Helper()
	log := &wal.Log{Commit: commit, Segments: []wal.Segment{{Path: member}}}
	for _, s := range strings.Fields(spec) {
		var first, last, term uint64
		unsure := strings.HasSuffix(s, "?")
		if _, err := fmt.Sscanf(strings.TrimSuffix(s, "?"), "%d-%d@%d", &first, &last, &term); err != nil {
			_, err = fmt.Sscanf(strings.TrimSuffix(s, "?"), "%d@%d", &first, &term)
			must(t, err)
			last = first
		}
		for i := range log.Entries {
			if log.Entries[i].Index >= first {
				log.Entries[i].Overwritten = true
			}
		}
		for n := last - first + 1; n > 0; n-- {
			log.Entries = append(log.Entries, wal.Ref{Index: last - n + 1, Term: term, Unsure: unsure})
		}
	}
	return newMemberLog(WAL{MemberID: member, Path: member}, log)
}

// states writes what is known of the entries, as madeLog reads them.
func states(r *raftLog) string {
	var words []string
	for _, e := range r.listEntries() {
		words = append(words, fmt.Sprintf("%d@%d:%s", e.index, e.term, e.state))
	}
	return strings.Join(words, " ")
}

// fromThree drops the entries 1 and 2, which are the same in all tables.
func fromThree(states string) string { return states[max(strings.Index(states, "3@"), 0):] }

// runs writes the runs of a log.
func runs(r *raftLog) string {
	var words []string
	for _, run := range r.runs {
		words = append(words, fmt.Sprintf("%d-%d", run.first, run.last))
		for _, p := range run.pieces {
			words = append(words, fmt.Sprintf("%s:%d", r.logs[p.log].info.MemberID, p.to-p.from))
		}
	}
	return strings.Join(words, " ")
}

// made is the log of a member as the tables have it.
type made struct {
	member string
	commit uint64
	spec   string
	terms  []uint64 // of hard states
}

func makeLogs(t *testing.T, list []made) (logs []*memberLog) {
	t.Helper()
	for _, m := range list {
		l := madeLog(t, m.member, m.commit, m.spec)
		for _, term := range m.terms {
			l.log.States = append(l.log.States, wal.State{Term: term})
		}
		logs = append(logs, l)
	}
	return logs
}

func TestJoinLogs(t *testing.T) {
	three := [][]string{{"a", "b", "c"}}
	tests := []struct {
		name        string
		logs        []made
		known       []raftPosition
		electorates [][]string
		runs        string
		states      string // of the entries from 3 on
	}{
		{"commit", []made{{"a", 3, "1-4@1", nil}}, nil, nil,
			"1-3 a:3", "3@1:unplaced 4@1:commit-unknown"},
		{"commit of another", []made{{"a", 1, "1-4@1", nil}, {"b", 3, "1-3@1", nil}}, nil, nil,
			"1-3 a:3", "3@1:unplaced 4@1:commit-unknown"},
		{"commit of another with a higher index", []made{{"a", 1, "1-4@1", nil}, {"b", 6, "5-7@1", nil}}, nil, nil,
			"1-6 a:4 b:2", "3@1:unplaced 4@1:unplaced 5@1:unplaced 6@1:unplaced 7@1:commit-unknown"},
		{"another's commit in a later term", []made{{"a", 1, "1-4@1", nil}, {"b", 6, "5-6@2", nil}}, nil, nil,
			"1-1 a:1 5-6 b:2", "3@1:commit-unknown 4@1:commit-unknown 5@2:unplaced 6@2:unplaced"},
		{"beaten", []made{{"a", 2, "1-5@1", nil}, {"b", 3, "1-2@1 3@2", nil}}, nil, nil,
			"1-3 b:3", "3@2:unplaced 3@1:lost 4@1:lost 5@1:lost"},
		{"beaten, but by what is not committed", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-2@1 3@2", nil}}, nil, nil,
			"1-2 a:2", "3@1:commit-unknown 3@2:commit-unknown 4@1:commit-unknown"},
		{"overwritten", []made{{"a", 4, "1-5@1 3-4@2", nil}}, nil, nil,
			"1-4 a:4", "3@2:unplaced 3@1:lost 4@2:unplaced 4@1:lost 5@1:lost"},
		{"overwritten, but by what is not committed", []made{{"a", 2, "1-4@1 3@2", nil}}, nil, nil,
			"1-2 a:2", "3@1:commit-unknown 3@2:commit-unknown 4@1:commit-unknown"},
		{"overwritten, but committed by a third", []made{{"a", 2, "1-3@1 3@2", nil}, {"b", 4, "1-3@1 4@3", nil}}, nil, nil,
			"1-4 b:4", "3@1:unplaced 3@2:lost 4@3:unplaced"},
		{"of a later term than one behind it", []made{{"a", 2, "1-2@1 3@5", nil}, {"b", 5, "1-2@1 4-5@3", nil}}, nil, nil,
			"1-2 b:2 4-5 b:2", "3@5:lost 4@3:unplaced 5@3:unplaced"},
		{"position", []made{{"a", 1, "1-4@1", nil}}, []raftPosition{{4, 1}}, nil,
			"1-4 a:4", "3@1:unplaced 4@1:unplaced"},
		{"position ahead", []made{{"a", 1, "1-4@1", nil}}, []raftPosition{{9, 1}}, nil,
			"1-4 a:4", "3@1:unplaced 4@1:unplaced"},
		{"position ahead of another term", []made{{"a", 1, "1-4@1", nil}}, []raftPosition{{9, 2}}, nil,
			"1-1 a:1", "3@1:commit-unknown 4@1:commit-unknown"},
		{"position without a term", []made{{"a", 1, "1-4@1", nil}}, []raftPosition{{4, 0}}, nil,
			"1-1 a:1", "3@1:commit-unknown 4@1:commit-unknown"},
		{"position of another entry", []made{{"a", 2, "1-2@1 3-4@2", nil}}, []raftPosition{{4, 3}}, nil,
			"1-2 a:2", "3@2:commit-unknown 4@2:commit-unknown"},
		{"through a third", []made{{"a", 0, "1-3@1", nil}, {"b", 0, "3@1 4@2", nil}, {"c", 5, "4@2 5@3", nil}}, nil, nil,
			"1-5 a:3 c:2", "3@1:unplaced 4@2:unplaced 5@3:unplaced"},
		{"on one of three", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-2@1", nil}, {"c", 2, "1-2@1", nil}}, nil, three,
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"on two of three", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-3@1", nil}, {"c", 2, "1-2@1", nil}}, nil, three,
			"1-3 a:3", "3@1:unplaced 4@1:commit-unknown"},
		{"on two of three, of which one is not there", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-3@1", nil}}, nil, three,
			"1-3 a:3", "3@1:unplaced 4@1:commit-unknown"},
		{"on two of three, but one has seen a later term", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-3@1", []uint64{2}}}, nil, three,
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"on two of three, but the third has seen a later term", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-3@1", nil}, {"c", 2, "1-2@1", []uint64{2}}}, nil, three,
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"on two of three, but the third has a later one", []made{{"a", 2, "1-3@1", nil}, {"b", 2, "1-3@1", nil}, {"c", 2, "1-2@1 3@2", nil}}, nil, three,
			"1-2 a:2", "3@1:commit-unknown 3@2:commit-unknown"},
		{"two copies of one", []made{{"a", 2, "1-4@1", nil}, {"a", 2, "1-4@1", nil}}, nil, three,
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"on one that does not vote", []made{{"a", 2, "1-4@1", nil}, {"x", 2, "1-4@1", nil}}, nil, three,
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"three or five", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-4@1", nil}}, nil, [][]string{{"a", "b", "c"}, {"a", "b", "c", "d", "e"}},
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"voters are not known", []made{{"a", 2, "1-4@1", nil}, {"b", 2, "1-4@1", nil}}, nil, nil,
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"one member", []made{{"a", 2, "1-4@1", nil}}, nil, [][]string{{"a"}},
			"1-4 a:4", "3@1:unplaced 4@1:unplaced"},
		{"no voters", []made{{"a", 2, "1-4@1", nil}}, nil, [][]string{{}},
			"1-2 a:2", "3@1:commit-unknown 4@1:commit-unknown"},
		{"a hole", []made{{"a", 9, "1-3@1 6-9@1", nil}}, nil, nil,
			"1-3 a:3 6-9 a:4", "3@1:unplaced 6@1:unplaced 7@1:unplaced 8@1:unplaced 9@1:unplaced"},
		{"a hole that another fills", []made{{"a", 9, "1-3@1 6-7@1", nil}, {"b", 4, "3-5@1", nil}}, nil, nil,
			"1-7 a:3 b:2 a:2", "3@1:unplaced 4@1:unplaced 5@1:unplaced 6@1:unplaced 7@1:unplaced"},
		{"perhaps not kept", []made{{"a", 9, "1-2@1 3@1? 7-9@2", nil}}, nil, nil,
			"1-2 a:2 7-9 a:3", "3@1:commit-unknown 7@2:unplaced 8@2:unplaced 9@2:unplaced"},
		{"perhaps not kept, but by another", []made{{"a", 9, "1-2@1 3@1? 7-9@2", nil}, {"b", 3, "1-3@1", nil}}, nil, nil,
			"1-3 a:2 b:1 7-9 a:3", "3@1:unplaced 7@2:unplaced 8@2:unplaced 9@2:unplaced"},
		{"terms that fall", []made{{"a", 4, "1-4@3", nil}, {"b", 6, "5-6@2", nil}}, nil, nil,
			"1-4 a:4 5-6 b:2", "3@3:unplaced 4@3:unplaced 5@2:unplaced 6@2:unplaced"},
		{"indexes that no log has", []made{{"a", math.MaxUint64, fmt.Sprintf("1-3@1 %d@1", uint64(math.MaxUint64)), nil}}, nil, nil,
			"1-3 a:3", "3@1:unplaced 18446744073709551615@1:commit-unknown"},
		{"nothing", []made{{"a", 5, "", nil}}, []raftPosition{{3, 1}}, three, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			logs := makeLogs(t, tt.logs)
			r := joinLogs(logs, tt.known, tt.electorates)
			if got := runs(r); got != tt.runs {
				t.Errorf("runs %s, want %s", got, tt.runs)
			}
			if d := cmp.Diff(tt.states, fromThree(states(r))); d != "" {
				t.Errorf("states (-want +got):\n%s", d)
			}
			slices.Reverse(logs) // their order matters only to which of them is read
			if d := cmp.Diff(tt.states, fromThree(states(joinLogs(logs, tt.known, tt.electorates)))); d != "" {
				t.Errorf("states in another order (-want +got):\n%s", d)
			}
		})
	}
}

func TestByMajority(t *testing.T) {
	tests := []struct {
		name        string
		logs        []made
		electorates [][]string
		want        raftPosition
	}{
		{"all three", []made{{"a", 0, "1-5@2", nil}, {"b", 0, "1-4@2", nil}, {"c", 0, "1-3@2", nil}}, [][]string{{"a", "b", "c"}}, raftPosition{4, 2}},
		{"of five three", []made{{"a", 0, "1-5@2", nil}, {"b", 0, "1-4@2", nil}, {"c", 0, "1-3@2", nil}}, [][]string{{"a", "b", "c", "d", "e"}}, raftPosition{3, 2}},
		{"of five two", []made{{"a", 0, "1-5@2", nil}, {"b", 0, "1-4@2", nil}}, [][]string{{"a", "b", "c", "d", "e"}}, raftPosition{0, 2}},
		{"of four two", []made{{"a", 0, "1-5@2", nil}, {"b", 0, "1-4@2", nil}}, [][]string{{"a", "b", "c", "d"}}, raftPosition{0, 2}},
		{"the lesser of two electorates", []made{{"a", 0, "1-5@2", nil}, {"b", 0, "1-4@2", nil}}, [][]string{{"a"}, {"a", "b"}}, raftPosition{4, 2}},
		{"of an older term", []made{{"a", 0, "1-5@2", nil}, {"b", 0, "1-5@2 6@3", nil}, {"c", 0, "1-5@2", nil}}, [][]string{{"a", "b", "c"}}, raftPosition{0, 3}},
		{"the longer of two logs of one", []made{{"a", 0, "1-3@2", nil}, {"a", 0, "1-5@2", nil}, {"b", 0, "1-4@2", nil}}, [][]string{{"a", "b", "c"}}, raftPosition{4, 2}},
		{"no logs", nil, [][]string{{"a"}}, raftPosition{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := byMajority(makeLogs(t, tt.logs), tt.electorates)
			if got.index == 0 && tt.want.index == 0 {
				return
			}
			if got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestLearn has two logs, of which the second one knows what is committed.
func TestLearn(t *testing.T) {
	tests := []struct {
		name        string
		own, others string
		commit      uint64
		want        uint64
	}{
		{"equal", "1-5@1", "1-5@1", 4, 4},
		{"shorter", "1-3@1", "1-5@1", 5, 3},
		{"parted", "1-5@1", "1-3@1 4-5@2", 5, 3},
		{"parted in a later term", "1-3@1 4-5@3", "1-3@1 4-5@2 6@4", 6, 3},
		{"no index in common", "1-3@1", "5-6@1", 6, 3},
		{"no term in common", "1-3@1", "5-6@2", 6, 0},
		{"holes in both", "1-3@1 8-9@2", "1-2@1 8-9@2", 9, 9},
		{"a hole at the top", "1-3@1", "1-3@1 9@2", 9, 3},
		{"nothing known", "1-3@1", "1-3@1", 0, 0},
		{"empty", "", "1-3@1", 3, 0},
		{"of empty", "1-3@1", "", 3, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, other := madeLog(t, "a", 0, tt.own), madeLog(t, "b", tt.commit, tt.others)
			_, last := other.span()
			other.certified = min(tt.commit, last)
			l.learn(other)
			if l.certified != tt.want {
				t.Errorf("certified up to %d, want %d", l.certified, tt.want)
			}
		})
	}
}
