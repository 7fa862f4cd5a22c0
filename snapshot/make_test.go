package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/lease/leasepb"
	"google.golang.org/protobuf/proto"
)

// etcdStore is a small model of etcd's store: it takes writes and can be written
// out as a backend file.
type etcdStore struct {
	revision int64
	sub      int64
	live     map[string]*mvccpb.KeyValue
	records  map[string][]byte // the key bucket
	others   map[string]map[string][]byte
	pageSize int
	// freelist has bbolt write its list of free pages, as etcd did up to 3.2.
	freelist bool
}

func newEtcdStore() *etcdStore {
	return &etcdStore{
		revision: 1,
		live:     map[string]*mvccpb.KeyValue{},
		records:  map[string][]byte{},
		others:   map[string]map[string][]byte{"meta": {}, "lease": {}, "alarm": {}, "cluster": {}, "members": {}, "members_removed": {}, "auth": {}, "authUsers": {}, "authRoles": {}},
		pageSize: 4096,
	}
}

// clone is an independent copy, to go on from a common past.
func (e *etcdStore) clone() *etcdStore {
	c := *e
	c.live, c.records = maps.Clone(e.live), maps.Clone(e.records)
	c.others = map[string]map[string][]byte{}
	for name, bucket := range e.others {
		c.others[name] = maps.Clone(bucket)
	}
	return &c
}

// txn makes all writes of f one revision.
func (e *etcdStore) txn(f func()) int64 {
	e.revision++
	e.sub = 0
	f()
	return e.revision
}

func (e *etcdStore) write(key string, value []byte, tombstone bool) {
	r := revisionKey{main: e.revision, sub: e.sub, tombstone: tombstone}
	e.records[string(r.append(nil))] = value
	e.sub++
}

// set is a put inside a txn.
func (e *etcdStore) set(key string, value []byte, lease int64) {
	kv := &mvccpb.KeyValue{Key: []byte(key), Value: value, Lease: lease, ModRevision: e.revision, CreateRevision: e.revision, Version: 1}
	if old := e.live[key]; old != nil {
		kv.CreateRevision, kv.Version = old.CreateRevision, old.Version+1
	}
	e.live[key] = kv
	e.write(key, marshal(kv), false)
}

// unset is a delete inside a txn.
func (e *etcdStore) unset(key string) {
	delete(e.live, key)
	e.write(key, marshal(&mvccpb.KeyValue{Key: []byte(key)}), true)
}

func (e *etcdStore) put(key, value string) int64 {
	return e.txn(func() { e.set(key, []byte(value), 0) })
}

func (e *etcdStore) del(key string) int64 { return e.txn(func() { e.unset(key) }) }

// compact removes what etcd's compaction at a revision removes.
func (e *etcdStore) compact(at int64) {
	newest := map[string]string{} // user key to its newest record up to at
	for _, k := range slices.Sorted(maps.Keys(e.records)) {
		if r, _ := parseRevisionKey([]byte(k)); r.main <= at {
			kv, _ := parseKeyValue(e.records[k])
			newest[string(kv.key)] = k
		}
	}
	for k, v := range e.records {
		r, _ := parseRevisionKey([]byte(k))
		kv, _ := parseKeyValue(v)
		if r.main <= at && (r.tombstone || newest[string(kv.key)] != k) {
			delete(e.records, k)
		}
	}
	rev := string(revisionKey{main: at}.append(nil))
	e.others["meta"]["scheduledCompactRev"] = []byte(rev)
	e.others["meta"]["finishedCompactRev"] = []byte(rev)
}

// schema writes the meta keys of an etcd version.
func (e *etcdStore) schema(version string) *etcdStore {
	m := e.others["meta"]
	m["consistent_index"] = binary.BigEndian.AppendUint64(nil, 77)
	if version >= "3.5" {
		m["term"] = binary.BigEndian.AppendUint64(nil, 3)
		m["confState"] = []byte(`{"voters":[1,2,3],"auto_leave":false}`)
	}
	if version >= "3.6" {
		m["storageVersion"] = []byte(version + ".0")
	}
	e.others["cluster"]["clusterVersion"] = []byte(version + ".0")
	return e
}

// lease adds an entry to the bucket lease.
func (e *etcdStore) lease(id, ttl, remaining int64) {
	key := binary.BigEndian.AppendUint64(nil, uint64(id))
	e.others["lease"][string(key)] = marshal(&leasepb.Lease{ID: id, TTL: ttl, RemainingTTL: remaining})
}

// alarm adds an entry to the bucket alarm.
func (e *etcdStore) alarm(member uint64, kind etcdserverpb.AlarmType) {
	e.others["alarm"][string(marshal(&etcdserverpb.AlarmMember{MemberID: member, Alarm: kind}))] = []byte{}
}

func marshal(m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// file writes the store as a member's file and returns its path.
func (e *etcdStore) file(t testing.TB, path string) string {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: e.pageSize, NoFreelistSync: !e.freelist, NoSync: true, NoGrowSync: true})
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		for name, entries := range e.others {
			if err := fill(tx, name, entries); err != nil {
				return err
			}
		}
		return fill(tx, "key", nil)
	}))
	// Several transactions, so that there are free pages and real splits.
	keys := slices.Sorted(maps.Keys(e.records))
	for part := range slices.Chunk(keys, max(1, len(keys)/3)) {
		must(t, db.Update(func(tx *bbolt.Tx) error {
			b := tx.Bucket([]byte("key"))
			b.FillPercent = 0.9
			for _, k := range part {
				if err := b.Put([]byte(k), e.records[k]); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	must(t, db.Close())
	return path
}

// fill makes a bucket.
func fill(tx *bbolt.Tx, name string, entries map[string][]byte) error {
	b, err := tx.CreateBucketIfNotExists([]byte(name))
	if err != nil {
		return err
	}
	for k, v := range entries {
		if err := b.Put([]byte(k), v); err != nil {
			return err
		}
	}
	return nil
}

// saved writes the store as "snapshot save" does and returns its path.
func (e *etcdStore) saved(t testing.TB, path string) string {
	t.Helper()
	e.file(t, path+".live")
	db, err := bbolt.Open(path+".live", 0o600, &bbolt.Options{ReadOnly: true, PageSize: e.pageSize})
	must(t, err)
	var out bytes.Buffer
	must(t, db.View(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(&out)
		return err
	}))
	must(t, db.Close())
	must(t, os.Remove(path+".live"))
	sum := sha256.Sum256(out.Bytes())
	must(t, os.WriteFile(path, append(out.Bytes(), sum[:]...), 0o600))
	return path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// load opens files that are named by their base name.
func load(t testing.TB, paths ...string) *History {
	t.Helper()
	var files []File
	for _, p := range paths {
		files = append(files, File{Input: filepath.Base(p), Path: filepath.Base(p), OSPath: p})
	}
	h, err := Load(context.Background(), files, Options{LockTimeout: 50e6})
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	return h
}

// list writes a history one revision a line.
func list(h *History) []string {
	var lines []string
	for i := range h.Len() {
		r := h.At(i)
		verb := "put"
		if r.Tombstone {
			verb = "del"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s create %d version %d lease %d size %d stores %v",
			revisionName(r.Main, r.Sub), verb, r.Key, r.Create, r.Version, r.Lease, r.Size, r.Stores))
	}
	return lines
}
