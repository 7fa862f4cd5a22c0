package snapshot

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestLeasesAgainstEtcd asks a real etcd for what its small buckets hold.
func TestLeasesAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	ctx := context.Background()
	server, client, stop := startEtcd(t)
	want := fillBuckets(ctx, t, client, server.Server.Alarm)
	stop()
	h := load(t, filepath.Join(server.Config().Dir, "member", "snap", "db"))
	want.check(t, h)
	if d := cmp.Diff([]string{want.member}, h.Stores()[0].Voters); d != "" {
		t.Errorf("voters (-want +got):\n%s", d)
	}
}

// bucketAnswers is what an etcd says of its small buckets.
type bucketAnswers struct {
	before time.Time // of the first lease
	member string
	leases map[clientv3.LeaseID][]string // and their keys
}

// fillBuckets makes leases with keys, an alarm, users and roles. Nothing can be done
// without a password afterwards.
func fillBuckets(ctx context.Context, t *testing.T, c *clientv3.Client, alarm func(context.Context, *etcdserverpb.AlarmRequest) (*etcdserverpb.AlarmResponse, error)) bucketAnswers {
	t.Helper()
	members, err := c.MemberList(ctx)
	must(t, err)
	self := members.Members[0].ID
	a := bucketAnswers{before: time.Now(), member: memberID(self), leases: map[clientv3.LeaseID][]string{}}
	first, err := c.Grant(ctx, 3600)
	must(t, err)
	second, err := c.Grant(ctx, 600)
	must(t, err)
	if first.ID >= second.ID {
		t.Errorf("the later lease has the lower ID: %x, %x", first.ID, second.ID)
	}
	attach := func(n int, lease clientv3.LeaseID) {
		for i := range n {
			_, err := c.Put(ctx, fmt.Sprint("/k", i), "v", clientv3.WithLease(lease))
			must(t, err)
		}
	}
	attach(12, first.ID)
	attach(3, second.ID)
	_, err = c.Delete(ctx, "/k4")
	must(t, err)
	_, err = c.Put(ctx, "/k5", "detached")
	must(t, err)
	for _, l := range []clientv3.LeaseID{first.ID, second.ID} {
		r, err := c.TimeToLive(ctx, l, clientv3.WithAttachedKeys())
		must(t, err)
		for _, k := range r.Keys {
			a.leases[l] = append(a.leases[l], string(k))
		}
		slices.Sort(a.leases[l])
	}
	_, err = alarm(ctx, &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_ACTIVATE, MemberID: self, Alarm: etcdserverpb.AlarmType_NOSPACE})
	must(t, err)
	enableAuth(ctx, t, c)
	return a
}

// check compares what was read of the only store of a history.
func (a bucketAnswers) check(t *testing.T, h *History) {
	t.Helper()
	s := h.Stores()[0]
	if len(s.Problems) > 0 {
		t.Errorf("problems %q", s.Problems)
	}
	found := 0
	for _, l := range s.Leases {
		want, ok := a.leases[clientv3.LeaseID(l.ID)]
		if !ok {
			continue // of before
		}
		found++
		if d := cmp.Diff(want, h.LeaseKeys(l.ID)); d != "" {
			t.Errorf("keys of lease %x (-etcd +got):\n%s", l.ID, d)
		}
		if _, at := l.Granted(); at.Before(a.before.Add(-time.Minute)) || at.After(time.Now()) {
			t.Errorf("lease %x granted not before %v, that was after %v", l.ID, at, a.before)
		}
		if got := s.Granter(l); got != a.member {
			t.Errorf("lease %x granted by %q, want %s", l.ID, got, a.member)
		}
	}
	if found != len(a.leases) {
		t.Errorf("leases %v, want those of %v", s.Leases, a.leases)
	}
	if d := cmp.Diff([]Alarm{{a.member, "NOSPACE"}}, s.Alarms); d != "" {
		t.Errorf("alarms (-want +got):\n%s", d)
	}
	if u := s.Auth; !u.Enabled || u.Revision == 0 || !slices.Equal(u.Users, []string{"ops", "root"}) || !slices.Equal(u.Roles, []string{"reader", "root"}) {
		t.Errorf("auth %+v", u)
	}
}

// enableAuth makes users and roles and lets them be asked for. Nothing can be done
// without a password afterwards.
func enableAuth(ctx context.Context, t *testing.T, c *clientv3.Client) {
	t.Helper()
	for _, role := range []string{"root", "reader"} {
		_, err := c.RoleAdd(ctx, role)
		must(t, err)
	}
	for _, user := range []string{"root", "ops"} {
		_, err := c.UserAdd(ctx, user, "$2a-secret")
		must(t, err)
	}
	_, err := c.UserGrantRole(ctx, "root", "root")
	must(t, err)
	_, err = c.AuthEnable(ctx)
	must(t, err)
}
