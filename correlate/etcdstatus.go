package correlate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"etcd-autopsy/internal/source"
	"etcd-autopsy/snapshot"
)

// MemberStatus is what a member answered to "etcdctl endpoint status -w json", which
// must-gather and people save.
type MemberStatus struct {
	Input    string `json:"input"`
	Source   string `json:"source"`
	Endpoint string `json:"endpoint"`
	Version  string `json:"version"`
	// DBSize is that of the database file, DBSizeInUse that without free pages; bytes.
	DBSize      int64 `json:"dbSize"`
	DBSizeInUse int64 `json:"dbSizeInUse"`
	// Revision is the store's, Term and Index are raft's, Applied the index that the
	// member had applied.
	Revision int64  `json:"revision"`
	Term     uint64 `json:"term"`
	Index    uint64 `json:"index"`
	Applied  uint64 `json:"applied"`
	// Leader is the name or ID of the leader as the member saw it, "" for none.
	Leader string   `json:"leader"`
	Errors []string `json:"errors"`
}

// etcdStatus is what one saved answer of etcdctl says.
type etcdStatus struct {
	input    int
	members  []snapshot.Member
	alarms   []snapshot.Alarm
	statuses map[string]MemberStatus // by member ID
}

// Shapes of the answers (etcd v3.6 etcdctl/ctlv3/command/printer_json.go: IDs are
// decimal unless --hex is given).
type (
	statusAnswer struct {
		Endpoint string `json:"Endpoint"`
		Status   *struct {
			Header struct {
				MemberID id64  `json:"member_id"`
				Revision int64 `json:"revision"`
			} `json:"header"`
			Version     string   `json:"version"`
			DBSize      int64    `json:"dbSize"`
			DBSizeInUse int64    `json:"dbSizeInUse"`
			Leader      id64     `json:"leader"`
			RaftIndex   uint64   `json:"raftIndex"`
			RaftTerm    uint64   `json:"raftTerm"`
			Applied     uint64   `json:"raftAppliedIndex"`
			Errors      []string `json:"errors"`
		} `json:"Status"`
	}
	listAnswer struct {
		Header  *struct{} `json:"header"`
		Members []struct {
			ID         id64     `json:"ID"`
			Name       string   `json:"name"`
			PeerURLs   []string `json:"peerURLs"`
			ClientURLs []string `json:"clientURLs"`
			Learner    bool     `json:"isLearner"`
		} `json:"members"`
		Alarms []struct {
			MemberID id64 `json:"memberID"`
			Alarm    int  `json:"alarm"`
		} `json:"alarms"`
	}
)

// id64 is a member's ID: a decimal number, or hexadecimal digits in quotes.
type id64 uint64

func (x *id64) UnmarshalJSON(b []byte) error {
	text, base := string(b), 10
	if strings.HasPrefix(text, `"`) {
		text, base = strings.Trim(text, `"`), 16
	}
	n, err := strconv.ParseUint(text, base, 64)
	*x = id64(n)
	return err
}

func (x id64) String() string { return fmt.Sprintf("%016x", uint64(x)) }

// alarmKinds are etcd's alarms (etcd v3.6 api/etcdserverpb/rpc.proto: AlarmType).
var alarmKinds = map[int]string{1: "NOSPACE", 2: "CORRUPT"}

// maxStatus is how much of such an answer is read, in bytes.
const maxStatus = 8 << 20

// looksLikeStatus says whether a text begins as an answer of etcdctl does.
func looksLikeStatus(head []byte) bool {
	head = bytes.TrimSpace(head)
	switch {
	case bytes.HasPrefix(head, []byte("[")):
		return bytes.Contains(head, []byte(`"Endpoint"`)) && bytes.Contains(head, []byte(`"Status"`))
	case bytes.HasPrefix(head, []byte("{")):
		return bytes.Contains(head, []byte(`"header"`)) && bytes.Contains(head, []byte(`"cluster_id"`)) &&
			(bytes.Contains(head, []byte(`"members"`)) || bytes.Contains(head, []byte(`"alarms"`)))
	}
	return false
}

// takeStatus reads an answer of etcdctl.
func (c *Case) takeStatus(i int, f *source.File) {
	in := &c.inputs[i]
	in.Kind, in.Why = kindStatus, "answer of etcdctl: members, their status or alarms"
	text, err := readAll(f, maxStatus)
	if err == nil {
		err = c.addStatus(i, text)
	}
	if err != nil {
		in.Problems = append(in.Problems, "not readable as an answer of etcdctl: "+plainError(err))
	}
}

// readAll reads a small file.
func readAll(f *source.File, most int64) (text []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	return io.ReadAll(io.LimitReader(r, most))
}

func (c *Case) addStatus(i int, text []byte) error {
	s := etcdStatus{input: i, statuses: map[string]MemberStatus{}}
	in := &c.inputs[i]
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		var list []statusAnswer
		if err := json.Unmarshal(text, &list); err != nil {
			return err
		}
		for _, x := range list {
			if x.Status == nil || x.Status.Header.MemberID == 0 {
				continue
			}
			st := MemberStatus{
				Input: in.Label, Source: in.Path, Endpoint: x.Endpoint, Version: x.Status.Version, DBSize: x.Status.DBSize, DBSizeInUse: x.Status.DBSizeInUse,
				Revision: x.Status.Header.Revision, Term: x.Status.RaftTerm, Index: x.Status.RaftIndex, Applied: x.Status.Applied, Errors: append([]string{}, x.Status.Errors...),
			}
			if x.Status.Leader != 0 {
				st.Leader = x.Status.Leader.String()
			}
			s.statuses[x.Status.Header.MemberID.String()] = st
			in.Records++
		}
	} else {
		var answer listAnswer
		if err := json.Unmarshal(text, &answer); err != nil {
			return err
		}
		for _, m := range answer.Members {
			s.members = append(s.members, snapshot.Member{ID: m.ID.String(), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.Learner})
			in.Records++
		}
		for _, a := range answer.Alarms {
			if kind := alarmKinds[a.Alarm]; kind != "" {
				s.alarms = append(s.alarms, snapshot.Alarm{MemberID: a.MemberID.String(), Kind: kind})
				in.Records++
			}
		}
	}
	c.statuses = append(c.statuses, s)
	return nil
}

// memberStatuses adds the answers of etcdctl to the rows of members.
func (c *Case) memberStatuses(m *members, row func(id string) *MemberRow) {
	for _, s := range c.statuses {
		for _, x := range s.members {
			r := row(x.ID)
			r.Learner = r.Learner || x.Learner
			if len(r.ClientURLs) == 0 {
				r.ClientURLs = append(r.ClientURLs, x.ClientURLs...)
			}
			if len(r.PeerURLs) == 0 {
				r.PeerURLs = append(r.PeerURLs, x.PeerURLs...)
			}
		}
		for _, id := range sortedKeys(s.statuses) {
			st := s.statuses[id]
			if st.Leader != "" {
				st.Leader = m.name(st.Leader)
			}
			r := row(id)
			r.Status = append(r.Status, st)
		}
		for _, a := range s.alarms {
			r := row(a.MemberID)
			r.Alarms = append(r.Alarms, a.Kind)
			slices.Sort(r.Alarms)
			r.Alarms = slices.Compact(r.Alarms)
		}
	}
}

// statusAlarms cites the answers of etcdctl that list an alarm.
func (c *Case) statusAlarms(kind string) (ids []string, cites []*cite) {
	for _, s := range c.statuses {
		for _, a := range s.alarms {
			if a.Kind == kind {
				ids = append(ids, a.MemberID)
				cites = append(cites, &cite{input: s.input + 1, text: fmt.Sprintf("etcdctl alarm list: memberID:%s alarm:%s", a.MemberID, a.Kind)})
			}
		}
	}
	return ids, cites
}
