package wal

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// maxRecord is the longest record that is believed: etcd refuses requests of more
// than 1.5 MiB unless it is told otherwise.
const maxRecord = 256 << 20

// reader gives the records of one segment in order, each of them verified, and
// tells of everything else that the segment holds.
type reader struct {
	w       *window
	segment string
	fault   func(Fault)
	emit    func(*record)
	at      int64
	now     record
	// before is the checksum behind the record before; it is not known at the
	// beginning and behind a place where records were lost.
	before uint32
	seeded bool
	// held is a record that does not follow the one before: the next one shows
	// whether its data or its checksum is damaged.
	held *heldRecord
	last bool // the log ends with this segment
}

// heldRecord has its own copy of the data; sum is what the checksum should be.
type heldRecord struct {
	record
	sum uint32
}

// run reads the segment to its end. The error is that of ctx.
func (r *reader) run(ctx context.Context) error {
	if r.w.size == 0 {
		r.note(FaultTorn, 0, 0, "an empty file")
	}
	for n := 0; r.at+frameHead <= r.w.size; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !r.step() {
			break
		}
	}
	if rest := r.w.size - r.at; rest > 0 && rest < frameHead {
		r.note(FaultTorn, r.at, rest, fmt.Sprintf("%d bytes, too few for a record", rest))
	}
	r.release()
	return nil
}

// step reads one record; it returns false at the end of the records.
func (r *reader) step() bool {
	head, err := r.w.bytes(r.at, frameHead)
	if err != nil {
		return r.unread(err)
	}
	if binary.LittleEndian.Uint64(head) == 0 {
		return r.zeros()
	}
	f, ok := parseFrame(r.at, head)
	if !ok || f.size > maxRecord {
		return r.resync(r.at+8, FaultDamaged, "no record begins here: the length field is not one that etcd writes")
	}
	if f.offset+frameHead+f.size > r.w.size {
		return r.resync(r.at+8, r.atEnd(), fmt.Sprintf("a record of %d bytes, but the file ends %d bytes before its end", f.size, f.offset+frameHead+f.size-r.w.size))
	}
	b, err := r.w.bytes(r.at+frameHead, f.size)
	if err != nil {
		return r.unread(err)
	}
	if r.now, ok = parseRecord(f, b); !ok {
		return r.resync(r.at+8, FaultDamaged, fmt.Sprintf("%d bytes that are no record", f.size))
	}
	r.at = f.end()
	r.take(&r.now)
	return true
}

// atEnd is the kind of a fault that cuts the segment off.
func (r *reader) atEnd() FaultKind {
	if r.last {
		return FaultTorn
	}
	return FaultDamaged
}

func (r *reader) note(kind FaultKind, offset, length int64, text string) {
	r.fault(Fault{Kind: kind, Segment: r.segment, Offset: offset, Length: length, Text: text})
}

// unread ends the segment where the file cannot be read.
func (r *reader) unread(err error) bool {
	r.note(FaultUnread, r.at, r.w.size-r.at, err.Error())
	return false
}

// zeros looks behind zeros: usually there is nothing, since segments are made
// long at once and filled later.
func (r *reader) zeros() bool {
	next, err := r.w.dataFrom(r.at)
	if err != nil {
		return r.unread(err)
	}
	if next == r.w.size {
		r.at = next
		return false
	}
	return r.resync(next&^7, FaultZeros, fmt.Sprintf("%d zero bytes, and more records behind them", next-r.at))
}

// take verifies a record.
func (r *reader) take(rec *record) {
	switch {
	case rec.kind == typeCRC:
		r.release()
		if r.seeded && rec.crc != r.before {
			r.note(FaultChain, rec.offset, 0, fmt.Sprintf("the checksum %08x does not continue what is before it (%08x): a segment is missing, cut or replaced", rec.crc, r.before))
		}
		r.seeded = true
	case r.held != nil:
		r.judge(rec)
		return
	case !r.seeded:
		r.note(FaultDamaged, rec.offset, rec.end()-rec.offset, "a record that cannot be verified, since the one before it is lost")
		r.before, r.seeded = rec.crc, true
		return
	case !rec.follows(r.before):
		r.hold(rec, r.before)
		return
	}
	r.before = rec.crc
	r.emit(rec)
}

func (r *reader) hold(rec *record, before uint32) {
	h := &heldRecord{record: *rec, sum: crc32.Update(before, castagnoli, rec.data)}
	h.data = bytes.Clone(rec.data)
	r.held = h
}

// judge decides about the held record by the one behind it.
func (r *reader) judge(rec *record) {
	h := r.held
	switch {
	case rec.follows(h.crc):
		r.release()
	case rec.follows(h.sum):
		r.note(FaultDamaged, h.offset, 0, fmt.Sprintf("the checksum of the record is damaged (%08x instead of %08x); the record behind it proves its data", h.crc, h.sum))
		r.held = nil
		r.emit(&h.record)
	default:
		r.release()
		r.hold(rec, h.crc)
		return
	}
	r.before = rec.crc
	r.emit(rec)
}

// release gives a held record up: its data are damaged.
func (r *reader) release() {
	h := r.held
	if h == nil {
		return
	}
	r.held = nil
	r.before = h.crc
	kind, text := FaultDamaged, "damaged"
	if r.last && h.torn() && r.at >= h.end() && r.nothingBehind(h.end()) {
		kind, text = FaultTorn, "not wholly written"
	}
	r.note(kind, h.offset, h.end()-h.offset, fmt.Sprintf("a record that is %s: its checksum is %08x, its data give %08x", text, h.crc, h.sum))
}

// nothingBehind says whether only zeros follow.
func (r *reader) nothingBehind(at int64) bool {
	if at >= r.w.size {
		return true
	}
	next, err := r.w.dataFrom(at)
	return err == nil && next == r.w.size
}

// sector is what a disk writes at once.
const sector = 512

// torn says whether a sector of the record is zero, as a crash leaves it (etcd
// v3.6 server/storage/wal/decoder.go, isTornEntry).
func (h *heldRecord) torn() bool {
	at := h.offset + frameHead + h.size - int64(len(h.data)) // data is the last field
	for b := h.data; len(b) > 0; {
		n := min(int64(len(b)), sector-at%sector)
		if bytes.Equal(b[:n], zeros[:n]) {
			return true
		}
		b, at = b[n:], at+n
	}
	return false
}

// resync looks for the next place from which on records follow each other. What
// is left out before it is a fault; the first record there is part of it, since
// nothing can verify it.
func (r *reader) resync(from int64, kind FaultKind, text string) bool {
	r.release()
	start := r.at
	for at := from; at+2*frameHead < r.w.size; at += 8 {
		rec, ok := r.probe(at)
		if !ok {
			continue
		}
		next, ok := r.probe(rec.end())
		if !ok || !next.follows(rec.crc) {
			continue
		}
		r.note(kind, start, rec.end()-start, text)
		r.at, r.before, r.seeded = rec.end(), rec.crc, true
		return true
	}
	r.note(kind, start, r.w.size-start, text+"; no record is found behind it")
	r.at, r.seeded = r.w.size, false
	return false
}

// probe reads what may be a record. Its data are good until the next call.
func (r *reader) probe(at int64) (rec record, ok bool) {
	if at+2*frameHead > r.w.size {
		return rec, false
	}
	b, err := r.w.bytes(at, 2*frameHead)
	if err != nil {
		return rec, false
	}
	f, ok := parseFrame(at, b)
	if !ok || f.size > maxRecord || f.offset+frameHead+f.size > r.w.size {
		return rec, false
	}
	if b[8] != 0x08 || b[9] < typeMetadata || b[9] > typeSnapshot || b[10] != 0x10 {
		return rec, false // type and crc come first
	}
	if b, err = r.w.bytes(at+frameHead, f.size); err != nil {
		return rec, false
	}
	return parseRecord(f, b)
}
