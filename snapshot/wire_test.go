package snapshot

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestDumpFields(t *testing.T) {
	var b []byte
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 300)
	b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), 7)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 3, protowire.Fixed64Type), 8)
	b = protowire.AppendString(protowire.AppendTag(b, 4, protowire.BytesType), "8080")
	b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), []byte{0xff, 0})
	long := strings.Repeat("ä", 3000)
	b = protowire.AppendString(protowire.AppendTag(b, 6, protowire.BytesType), long)
	nested := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), strings.Repeat("n", 40))
	b = protowire.AppendBytes(protowire.AppendTag(b, 7, protowire.BytesType), nested)
	b = protowire.AppendString(protowire.AppendTag(b, 8, protowire.BytesType), "")
	b = protowire.AppendGroup(protowire.AppendTag(b, 9, protowire.StartGroupType), 9, []byte{0x08, 0x05})
	want := []WireField{
		{Number: 1, Type: WireVarint, Value: 300},
		{Number: 2, Type: WireFixed32, Value: 7},
		{Number: 3, Type: WireFixed64, Value: 8},
		{Number: 4, Type: WireText, Text: "8080", Size: 4},
		{Number: 5, Type: WireBytes, Bytes: []byte{0xff, 0}, Size: 2},
		{Number: 6, Type: WireText, Text: long[:4096], Size: 6000},
		{Number: 7, Type: WireMessage, Size: 42, Fields: []WireField{{Number: 1, Type: WireText, Text: strings.Repeat("n", 40), Size: 40}}},
		{Number: 8, Type: WireText},
		{Number: 9, Type: WireGroup, Size: 2, Fields: []WireField{{Number: 1, Type: WireVarint, Value: 5}}},
	}
	got, err := DumpFields(b)
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDumpFieldsLimits(t *testing.T) {
	deep := []byte{0x08, 0x01}
	for range 100 {
		deep = protowire.AppendBytes([]byte{0x0a}, deep)
	}
	got, err := DumpFields(deep)
	must(t, err)
	depth := 0
	for len(got) > 0 {
		depth++
		got = got[0].Fields
	}
	if depth != maxWireDepth+1 {
		t.Errorf("%d deep", depth)
	}
	got, err = DumpFields(bytes.Repeat([]byte{0x08, 0x01}, maxWireFields+1))
	if !errors.Is(err, errWireFields) || len(got) != maxWireFields {
		t.Errorf("%d fields, %v", len(got), err)
	}
	if got, err := DumpFields([]byte{0x08}); got != nil || !errors.Is(err, errWire) {
		t.Errorf("half a field is %v, %v", got, err)
	}
}

// TestWire has a kind of a release to come, encrypted.
func TestWire(t *testing.T) {
	raw, err := pod().Marshal()
	must(t, err)
	secret := random(32)
	value := encode(t, protobufSerializer, &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "new/v9", Kind: "Thing"}, Raw: raw})
	e := newEtcdStore()
	e.txn(func() { e.set(secretKey, sealValue(t, providerGCM, "k1", secret, value), 0) })
	e.put("/registry/pods/a/b", storedCRD)
	e.del("/registry/pods/a/b")
	h := loadWith(t, parseKeys(t, config(confKey{providerGCM, "k1", secret})), e.file(t, filepath.Join(t.TempDir(), "db")))
	o, err := h.Wire(0)
	must(t, err)
	meta := o.Fields[0]
	if o.APIVersion != "new/v9" || o.Kind != "Thing" || meta.Number != 1 || meta.Type != WireMessage || meta.Fields[0].Text != "web" {
		t.Errorf("%+v", o)
	}
	u, err := h.Unstructured(0)
	must(t, err)
	if u.GetName() != "web" || u.GetAPIVersion() != "new/v9" || u.GetLabels()["app"] != "web" {
		t.Errorf("%+v", u.Object)
	}
	var wrong *DecodeError
	if _, err := h.Wire(1); !errors.As(err, &wrong) {
		t.Errorf("JSON: %v", err)
	}
	if _, err := h.Wire(2); !errors.Is(err, ErrTombstone) {
		t.Errorf("a deletion: %v", err)
	}
}

// FuzzDumpFields wants no panic, the limits kept, and sizes that fit.
func FuzzDumpFields(f *testing.F) {
	raw, err := pod().Marshal()
	must(f, err)
	f.Add(raw)
	f.Add(bytes.Repeat([]byte{0x0b}, 50))
	f.Fuzz(func(t *testing.T, b []byte) {
		fields, err := DumpFields(b)
		if err != nil && !errors.Is(err, errWireFields) && fields != nil {
			t.Fatalf("%v with %v", fields, err)
		}
		count := 0
		var check func(fields []WireField, size, depth int)
		check = func(fields []WireField, size, depth int) {
			if depth > maxWireDepth+1 {
				t.Fatal("too deep")
			}
			for _, f := range fields {
				count++
				if f.Size > size || len(f.Text) > maxWireText || len(f.Bytes) > maxWireText {
					t.Fatalf("%+v in %d bytes", f, size)
				}
				check(f.Fields, f.Size, depth+1)
			}
		}
		check(fields, len(b), 0)
		if count > maxWireFields {
			t.Fatalf("%d fields", count)
		}
	})
}
