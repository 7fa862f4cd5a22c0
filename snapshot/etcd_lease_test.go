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

// TestLeasesAgainstEtcd asks a real etcd for what its small buckets hold: leases
// with their keys and who granted them, users and roles, alarms.
func TestLeasesAgainstEtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("runs an etcd")
	}
	ctx := context.Background()
	before := time.Now()
	server, client, stop := startEtcd(t)
	first, err := client.Grant(ctx, 3600)
	must(t, err)
	second, err := client.Grant(ctx, 600)
	must(t, err)
	for i := range 12 {
		_, err := client.Put(ctx, fmt.Sprint("k", i), "v", clientv3.WithLease(first.ID))
		must(t, err)
	}
	for i := range 3 {
		_, err := client.Put(ctx, fmt.Sprint("k", i), "v", clientv3.WithLease(second.ID))
		must(t, err)
	}
	_, err = client.Delete(ctx, "k4")
	must(t, err)
	_, err = client.Put(ctx, "k5", "detached")
	must(t, err)
	want := map[clientv3.LeaseID][]string{}
	for _, l := range []clientv3.LeaseID{first.ID, second.ID} {
		r, err := client.TimeToLive(ctx, l, clientv3.WithAttachedKeys())
		must(t, err)
		for _, k := range r.Keys {
			want[l] = append(want[l], string(k))
		}
		slices.Sort(want[l])
	}
	_, err = server.Server.Alarm(ctx, &etcdserverpb.AlarmRequest{Action: etcdserverpb.AlarmRequest_ACTIVATE, MemberID: uint64(server.Server.MemberID()), Alarm: etcdserverpb.AlarmType_NOSPACE})
	must(t, err)
	enableAuth(ctx, t, client)
	stop()

	h := load(t, filepath.Join(server.Config().Dir, "member", "snap", "db"))
	s := h.Stores()[0]
	if len(s.Problems) > 0 || len(s.Leases) != 2 {
		t.Fatalf("leases %v, problems %q", s.Leases, s.Problems)
	}
	for _, l := range s.Leases {
		if d := cmp.Diff(want[clientv3.LeaseID(l.ID)], h.LeaseKeys(l.ID)); d != "" {
			t.Errorf("keys of lease %x (-etcd +got):\n%s", l.ID, d)
		}
		_, at := l.Granted()
		if at.Before(before.Truncate(time.Millisecond)) || at.After(time.Now()) {
			t.Errorf("lease %x granted not before %v, the process started after %v", l.ID, at, before)
		}
		if got, id := s.Granter(l), memberID(uint64(server.Server.MemberID())); got != id {
			t.Errorf("lease %x granted by %q, want %s", l.ID, got, id)
		}
	}
	if first.ID >= second.ID {
		t.Errorf("the later lease has the lower ID: %x, %x", first.ID, second.ID)
	}
	self := memberID(uint64(server.Server.MemberID()))
	if d := cmp.Diff([]Alarm{{self, "NOSPACE"}}, s.Alarms); d != "" {
		t.Errorf("alarms (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{self}, s.Voters); d != "" {
		t.Errorf("voters (-want +got):\n%s", d)
	}
	a := s.Auth
	if !a.Enabled || a.Revision == 0 || !slices.Equal(a.Users, []string{"ops", "root"}) || !slices.Equal(a.Roles, []string{"reader", "root"}) {
		t.Errorf("auth %+v", a)
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
