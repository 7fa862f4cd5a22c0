package wal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Snap is a raft snapshot of a member (member/snap/*.snap): etcd writes one after
// so many entries. It has the membership at an index of the log; the store is not
// in it (etcd v3.6 server/etcdserver/api/snap).
type Snap struct {
	// Index and Term are those of the last entry that it covers.
	Index, Term uint64
	// Voters and Learners are the members of raft's configuration, by ID.
	Voters, Learners []uint64
	// Members are those of the old store that the snapshot carries, by ID; nil if
	// it carries none.
	Members []SnapMember
	// Problem says what is odd about the file, "" if nothing is.
	Problem string
}

// SnapMember is a member as a snapshot has it.
type SnapMember struct {
	ID                   uint64
	Name                 string
	PeerURLs, ClientURLs []string
}

// maxSnap is the largest snapshot that is read: that of a large cluster has some
// hundred KiB.
const maxSnap = 64 << 20

// ReadSnap reads a .snap file. The error says why it is none, or that its checksum
// is wrong.
func ReadSnap(file string) (*Snap, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, plain(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxSnap:
		return nil, fmt.Errorf("%d bytes: too large for a raft snapshot", info.Size())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, plain(err)
	}
	s, err := parseSnap(b)
	if err == nil {
		s.checkName(file)
	}
	return s, err
}

// parseSnap decodes a snappb.Snapshot: a checksum and a raftpb.Snapshot.
func parseSnap(b []byte) (*Snap, error) {
	var sum uint32
	var data []byte
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, errors.New("not a raft snapshot")
		}
		b = b[n:]
		switch {
		case number == 1 && kind == protowire.VarintType:
			v, n := protowire.ConsumeVarint(b)
			if n < 0 {
				return nil, errors.New("not a raft snapshot")
			}
			sum, b = uint32(v), b[n:]
		case number == 2 && kind == protowire.BytesType:
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return nil, errors.New("not a raft snapshot, or a cut one")
			}
			data, b = v, b[n:]
		default:
			n := protowire.ConsumeFieldValue(number, kind, b)
			if n < 0 {
				return nil, errors.New("not a raft snapshot")
			}
			b = b[n:]
		}
	}
	if len(data) == 0 {
		return nil, errors.New("an empty raft snapshot")
	}
	if got := crc32.Checksum(data, castagnoli); got != sum {
		return nil, fmt.Errorf("the checksum is %08x, its data give %08x: damaged", sum, got)
	}
	var r raftpb.Snapshot
	if err := proto.Unmarshal(data, &r); err != nil {
		return nil, errors.New("the raft snapshot cannot be decoded")
	}
	m := r.GetMetadata()
	s := &Snap{Index: m.GetIndex(), Term: m.GetTerm(), Voters: m.GetConfState().GetVoters(), Learners: m.GetConfState().GetLearners()}
	s.members(r.GetData())
	return s, nil
}

// node is a node of the old store, as JSON (etcd v3.6
// server/etcdserver/api/v2store/node.go).
type node struct {
	Path     string
	Value    string
	Children map[string]*node
}

// members reads the members out of the old store, which is JSON.
func (s *Snap) members(data []byte) {
	if len(data) == 0 || data[0] != '{' {
		return
	}
	var store struct{ Root *node }
	if err := json.Unmarshal(data, &store); err != nil {
		s.Problem = "the members in it cannot be decoded"
		return
	}
	folder := store.Root.child("0").child("members")
	if folder == nil {
		return
	}
	for _, id := range sortedNames(folder.Children) {
		n, err := strconv.ParseUint(id, 16, 64)
		if err != nil {
			continue
		}
		m := SnapMember{ID: n}
		x := folder.Children[id]
		var attributes struct {
			Name       string   `json:"name"`
			ClientURLs []string `json:"clientURLs"`
		}
		var raft struct {
			PeerURLs []string `json:"peerURLs"`
		}
		if a := x.child("attributes"); a != nil && json.Unmarshal([]byte(a.Value), &attributes) == nil {
			m.Name, m.ClientURLs = attributes.Name, attributes.ClientURLs
		}
		if a := x.child("raftAttributes"); a != nil && json.Unmarshal([]byte(a.Value), &raft) == nil {
			m.PeerURLs = raft.PeerURLs
		}
		s.Members = append(s.Members, m)
	}
}

// child is a node below another, nil if there is none.
func (n *node) child(name string) *node {
	if n == nil {
		return nil
	}
	return n.Children[name]
}

func sortedNames(m map[string]*node) (names []string) {
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// snapName is the name that etcd gives to a snapshot: term and index.
var snapName = regexp.MustCompile(`^([0-9a-f]{16})-([0-9a-f]{16})\.snap$`)

// checkName compares the file's name with what it holds.
func (s *Snap) checkName(file string) {
	m := snapName.FindStringSubmatch(path.Base(strings.ReplaceAll(file, `\`, "/")))
	if m == nil {
		return
	}
	term, _ := strconv.ParseUint(m[1], 16, 64)
	index, _ := strconv.ParseUint(m[2], 16, 64)
	if term != s.Term || index != s.Index {
		s.Problem = fmt.Sprintf("its name says term %d and index %d, it is of term %d and index %d", term, index, s.Term, s.Index)
	}
}
