package correlate

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"

	"etcd-autopsy/fixtures/world"
)

// be64 is how etcd writes a number in its buckets.
func be64(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// revisionBytes is the key of a put in the key bucket.
func revisionBytes(main int64) []byte { return append(append(be64(main), '_'), be64(0)...) }

// memberPath is where the database of a member lies below a folder of its name.
func memberPath(dir string, n int) string {
	return filepath.Join(dir, fmt.Sprintf("etcd-%d", n), "member", "snap", "db")
}

// saveMembers saves a world as the databases of several members, all alike.
func saveMembers(t *testing.T, w *world.World, dir string, members int) {
	t.Helper()
	must(t, w.Save(dir))
	b, err := os.ReadFile(filepath.Join(dir, "state.db"))
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, "state.db")))
	for n := 1; n <= members; n++ {
		must(t, os.MkdirAll(filepath.Dir(memberPath(dir, n)), 0o755))
		must(t, os.WriteFile(memberPath(dir, n), b, 0o600))
	}
}

// editStore changes a store.
func editStore(t *testing.T, path string, f func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true})
	must(t, err)
	must(t, db.Update(f))
	must(t, db.Close())
}

// editPut changes the record of a put.
func editPut(tx *bolt.Tx, main int64, f func(kv *mvccpb.KeyValue)) error {
	var kv mvccpb.KeyValue
	b := tx.Bucket([]byte("key"))
	if err := proto.Unmarshal(b.Get(revisionBytes(main)), &kv); err != nil {
		return err
	}
	f(&kv)
	v, err := proto.Marshal(&kv)
	if err != nil {
		return err
	}
	return b.Put(revisionBytes(main), v)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
