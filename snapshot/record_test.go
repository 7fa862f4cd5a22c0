package snapshot

import (
	"bytes"
	"math"
	"testing"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

func TestRevisionKey(t *testing.T) {
	tests := []struct {
		key  string
		want revisionKey
		ok   bool
	}{
		{"\x00\x00\x00\x00\x00\x00\x00\x33_\x00\x00\x00\x00\x00\x00\x00\x00", revisionKey{main: 0x33}, true},
		{"\x00\x00\x00\x00\x00\x00\x00\x33_\x00\x00\x00\x00\x00\x00\x00\x02t", revisionKey{main: 0x33, sub: 2, tombstone: true}, true},
		{"\x00\x00\x00\x00\x00\x00\x00\x33_\x00\x00\x00\x00\x00\x00\x00\x02x", revisionKey{}, false},
		{"\x00\x00\x00\x00\x00\x00\x00\x33-\x00\x00\x00\x00\x00\x00\x00\x02", revisionKey{}, false},
		{"\x00\x00\x00\x00\x00\x00\x00\x00_\x00\x00\x00\x00\x00\x00\x00\x02", revisionKey{}, false},
		{"\xff\x00\x00\x00\x00\x00\x00\x01_\x00\x00\x00\x00\x00\x00\x00\x02", revisionKey{}, false},
		{"\x00\x00\x00\x00\x00\x00\x00\x01_\xff\x00\x00\x00\x00\x00\x00\x02", revisionKey{}, false},
		{"", revisionKey{}, false},
		{"short", revisionKey{}, false},
	}
	for _, tt := range tests {
		got, ok := parseRevisionKey([]byte(tt.key))
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%x: %+v, %v", tt.key, got, ok)
		}
	}
}

func FuzzRevisionKey(f *testing.F) {
	f.Add(revisionKey{main: 5, sub: 1}.append(nil))
	f.Add(revisionKey{main: math.MaxInt64, tombstone: true}.append(nil))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, ok := parseRevisionKey(b)
		if !ok {
			return
		}
		if again := r.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x is written as %x", b, again)
		}
	})
}

// FuzzKeyValue compares with the generated decoder of etcd's API.
func FuzzKeyValue(f *testing.F) {
	f.Add(marshal(&mvccpb.KeyValue{Key: []byte("/k"), Value: []byte("v"), CreateRevision: 2, ModRevision: 3, Version: 4, Lease: 5}))
	f.Add(marshal(&mvccpb.KeyValue{Key: []byte("/k")}))
	f.Add([]byte{0x0a, 0x01, 'a', 0x0a, 0x01, 'b', 0x30, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add([]byte{0x0a, 0x05, 'a'})
	f.Add([]byte{0x3b, 0x3c, 0x08, 0x01})
	f.Fuzz(func(t *testing.T, b []byte) {
		var want mvccpb.KeyValue
		wantErr := proto.Unmarshal(b, &want)
		got, err := parseKeyValue(b)
		if (err != nil) != (wantErr != nil) {
			t.Fatalf("%x: %v, etcd says %v", b, err, wantErr)
		}
		if err != nil {
			return
		}
		if !bytes.Equal(got.key, want.Key) || !bytes.Equal(got.value, want.Value) || got.create != want.CreateRevision ||
			got.mod != want.ModRevision || got.version != want.Version || got.leased != want.Lease {
			t.Fatalf("%x: %+v, etcd says %v", b, got, &want)
		}
	})
}
