package wal

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// segmentWriter makes the bytes of a segment and knows where its records are.
type segmentWriter struct {
	bytes   []byte
	crc     uint32
	offsets []int64
}

func (s *segmentWriter) record(kind int64, crc uint32, data []byte) {
	s.offsets = append(s.offsets, int64(len(s.bytes)))
	b, err := proto.Marshal(&walpb.Record{Type: &kind, Crc: &crc, Data: data})
	if err != nil {
		panic(err)
	}
	pad := (8 - len(b)%8) % 8
	head := uint64(len(b))
	if pad > 0 {
		head |= uint64(0x80|pad) << 56
	}
	s.bytes = binary.LittleEndian.AppendUint64(s.bytes, head)
	s.bytes = append(append(s.bytes, b...), make([]byte, pad)...)
}

func (s *segmentWriter) add(kind int64, data []byte) {
	s.crc = crc32.Update(s.crc, castagnoli, data)
	s.record(kind, s.crc, data)
}

func message(m proto.Message) []byte {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return b
}

// begin starts a segment: the checksum so far and the IDs.
func (s *segmentWriter) begin(node, cluster uint64) *segmentWriter {
	s.record(typeCRC, s.crc, nil)
	b := binary.AppendUvarint([]byte{8}, node)
	s.add(typeMetadata, binary.AppendUvarint(append(b, 16), cluster))
	return s
}

func (s *segmentWriter) entry(index, term uint64, data string) *segmentWriter {
	s.add(typeEntry, message(&raftpb.Entry{Index: &index, Term: &term, Data: []byte(data)}))
	return s
}

func (s *segmentWriter) state(term, vote, commit uint64) *segmentWriter {
	s.add(typeState, message(&raftpb.HardState{Term: &term, Vote: &vote, Commit: &commit}))
	return s
}

func (s *segmentWriter) snapshot(index, term uint64) *segmentWriter {
	s.add(typeSnapshot, message(&walpb.Snapshot{Index: &index, Term: &term}))
	return s
}

// healthy is a first segment with entries 1 to n of term 1, the data "data N…".
func healthy(n int) *segmentWriter {
	s := (&segmentWriter{}).begin(7, 8).snapshot(0, 0)
	for i := range n {
		s.entry(uint64(i+1), 1, fmt.Sprintf("data %d of an entry that is long enough", i+1))
	}
	return s.state(1, 7, uint64(n))
}

// next begins the segment behind one.
func (s *segmentWriter) next() *segmentWriter { return (&segmentWriter{crc: s.crc}).begin(7, 8) }

// name is what etcd calls a segment.
func name(sequence, index uint64) string { return fmt.Sprintf("%016x-%016x.wal", sequence, index) }

// scan writes the files of a folder, by name, and scans them.
func scan(t testing.TB, files map[string][]byte) *Log {
	t.Helper()
	dir := t.TempDir()
	var sources []Source
	for n, b := range files {
		p := filepath.Join(dir, n)
		must(t, os.WriteFile(p, b, 0o400))
		sources = append(sources, Source{Path: "wal/" + n, OSPath: p})
	}
	l, err := Open(sources).Scan(context.Background())
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// indexes lists the indexes of the entries that were not overwritten.
func indexes(l *Log) (list []uint64) {
	for _, e := range l.Entries {
		if !e.Overwritten {
			list = append(list, e.Index)
		}
	}
	return list
}

// reread makes sure that every entry reads again as it is, both ways.
func reread(t testing.TB, l *Log) (data []string) {
	t.Helper()
	n := 0
	for e, err := range l.Read(context.Background(), 0, len(l.Entries)) {
		must(t, err)
		if ref := l.Entries[n]; e.Index != ref.Index || e.Term != ref.Term || e.Type != ref.Type {
			t.Fatalf("entry %d reads as %+v, not %+v", n, e, ref)
		}
		again, err := l.Data(n)
		must(t, err)
		if string(again) != string(e.Data) {
			t.Fatalf("entry %d has two kinds of data", n)
		}
		data = append(data, string(e.Data))
		n++
	}
	if n != len(l.Entries) {
		t.Fatalf("%d of %d entries read again", n, len(l.Entries))
	}
	return data
}
