package replay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// v2Methods are what the second field of an old Request says, with which it is
// told from an InternalRaftRequest: that one has a message there, or nothing.
var v2Methods = map[string]bool{"PUT": true, "POST": true, "DELETE": true, "QGET": true, "SYNC": true, "GET": true, "HEAD": true}

// isV2 says whether an entry is a request of the old API (etcd v3.5
// api/etcdserverpb/etcdserver.proto, Request).
func (r *Request) isV2(w wire) bool {
	for w.next() && w.field <= 2 {
		if w.isBytes(2) {
			return v2Methods[string(w.bytes())]
		}
	}
	return false
}

// v2 decodes an old Request. etcd up to 3.5 keeps the attributes of members and
// the version of the cluster with it.
func (r *Request) v2(w wire) error {
	r.Kind = KindV2
	var value []byte
	for w.next() {
		switch {
		case w.isNumber(1):
			r.ID = w.varint
		case w.isBytes(2):
			r.V2.Method = string(w.bytes())
		case w.isBytes(3):
			r.V2.Path = string(w.bytes())
		case w.isBytes(4):
			value = w.bytes()
		}
	}
	if w.bad {
		return w.err()
	}
	if r.V2.Method != "PUT" {
		return nil
	}
	if r.V2.Path == "/0/version" {
		r.Kind, r.ClusterVersion = KindClusterVersion, string(value)
		return nil
	}
	return r.v2Member(value)
}

// v2Member decodes the write of a member's attributes, which is under
// /0/members/ID/attributes.
func (r *Request) v2Member(value []byte) error {
	id, ok := strings.CutPrefix(r.V2.Path, "/0/members/")
	if !ok {
		return nil
	}
	if id, ok = strings.CutSuffix(id, "/attributes"); !ok {
		return nil
	}
	member, err := strconv.ParseUint(id, 16, 64)
	if err != nil {
		return fmt.Errorf("decode the member of %q: %w", r.V2.Path, err)
	}
	var a struct {
		Name       string   `json:"name"`
		ClientURLs []string `json:"clientURLs"`
	}
	if err := json.Unmarshal(value, &a); err != nil {
		return fmt.Errorf("decode the attributes of a member: %w", err)
	}
	r.Kind, r.Member = KindMemberAttributes, MemberAttributes{ID: member, Name: a.Name, ClientURLs: a.ClientURLs}
	return nil
}
