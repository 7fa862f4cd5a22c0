package replay

import (
	"encoding/json"
	"fmt"

	"go.etcd.io/raft/v3/raftpb"
)

// ConfChange is a change of the cluster's membership.
type ConfChange struct {
	Type raftpb.ConfChangeType
	// Node is the member's id.
	Node uint64
	// Member is what the proposer knew of it: nothing for a removal.
	Member ConfMember
}

// ConfMember is the member of a ConfChange, as etcd writes it in JSON (etcd v3.7
// server/etcdserver/api/membership/cluster.go, ConfigChangeContext).
type ConfMember struct {
	ID         uint64   `json:"id"`
	PeerURLs   []string `json:"peerURLs"`
	Learner    bool     `json:"isLearner"`
	Name       string   `json:"name"`
	ClientURLs []string `json:"clientURLs"`
	// Promote makes a voter of a learner.
	Promote bool `json:"isPromote"`
}

// confChange decodes raftpb.ConfChange. The request id is in it.
func (r *Request) confChange(w wire) error {
	r.Kind = KindConfChange
	var context []byte
	for w.next() {
		switch {
		case w.isNumber(1):
			r.ID = w.varint
		case w.isNumber(2):
			r.ConfChange.Type = raftpb.ConfChangeType(w.varint)
		case w.isNumber(3):
			r.ConfChange.Node = w.varint
		case w.isBytes(4):
			context = w.bytes()
		}
	}
	if w.bad || len(context) == 0 {
		return w.err()
	}
	if err := json.Unmarshal(context, &r.ConfChange.Member); err != nil {
		return fmt.Errorf("decode the member of a conf change: %w", err)
	}
	return nil
}
