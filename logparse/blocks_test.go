package logparse

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// shared are the strings of a record that stand in no block: they are constants, or
// shared between records anyway.
var shared = map[string]bool{"Format": true, "Component": true, "Framing": true, "Signatures": true}

// eachLeaf calls f for the strings below v that are not shared.
func eachLeaf(path string, v reflect.Value, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		f(path, v)
	case reflect.Pointer:
		if !v.IsNil() {
			eachLeaf(path, v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachLeaf(path, v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if x := v.Type().Field(i); x.IsExported() && !shared[x.Name] {
				eachLeaf(path+"."+x.Name, v.Field(i), f)
			}
		}
	}
}

// A clone is equal and has strings of its own, all of them.
func TestClone(t *testing.T) {
	rec := Record{Line: 3, Level: LevelWarn, Fields: make(Fields, 2), Audit: &AuditEvent{Code: 409}, Framing: []string{"cri"}}
	n := 0
	eachLeaf("", reflect.ValueOf(&rec), func(path string, v reflect.Value) {
		n++
		v.SetString(strings.Repeat("x", n))
	})
	c := rec.Clone()
	if !reflect.DeepEqual(c, rec) {
		t.Errorf("%+v, want %+v", c, rec)
	}
	old := map[*byte]bool{}
	eachLeaf("", reflect.ValueOf(&rec), func(_ string, v reflect.Value) { old[unsafe.StringData(v.String())] = true })
	eachLeaf("", reflect.ValueOf(&c), func(path string, v reflect.Value) {
		if old[unsafe.StringData(v.String())] {
			t.Errorf("%s shares its memory", path)
		}
	})
	if n < 29 {
		t.Errorf("%d strings", n)
	}
	if c := (&Record{}).Clone(); !reflect.DeepEqual(c, Record{}) {
		t.Errorf("clone of nothing: %+v", c)
	}
}

// What is handed out is never written again.
func TestBlocks(t *testing.T) {
	var texts texts
	var lists fieldLists
	var keptTexts, wantTexts []string
	var keptLists []Fields
	for i := range 3000 {
		text := strings.Repeat(string(rune('a'+i%26)), i%97*i%5003)
		keptTexts, wantTexts = append(keptTexts, texts.keep([]byte(text))), append(wantTexts, text)
		list := lists.open()
		if len(list) != 0 {
			t.Fatalf("list %d begins with %v", i, list)
		}
		for k := range i % 300 {
			list = append(list, Field{Key: string(rune(i)), Value: string(rune(k))})
		}
		if i%7 == 0 {
			continue // thrown away
		}
		keptLists = append(keptLists, lists.done(list, strings.Repeat("x", i%3*textBlock/4)))
	}
	for i, got := range keptTexts {
		if got != wantTexts[i] {
			t.Fatalf("text %d has changed", i)
		}
	}
	n := 0
	for i := range 3000 {
		if i%7 == 0 {
			continue
		}
		got := keptLists[n]
		n++
		if len(got) != i%300 || (got == nil) != (i%300 == 0) {
			t.Fatalf("list %d has %d fields", i, len(got))
		}
		for k, f := range got {
			if f.Key != string(rune(i)) || f.Value != string(rune(k)) {
				t.Fatalf("list %d, field %d: %v", i, k, f)
			}
		}
		if cap(got) != len(got) {
			t.Fatalf("list %d would be appended to in its block", i)
		}
	}
}

// A long text is not kept by the fields of the records behind it.
func TestBlocksLetGo(t *testing.T) {
	var lists fieldLists
	freed := make(chan bool, 1)
	func() {
		long := new([1 << 20]byte)
		runtime.AddCleanup(long, func(struct{}) { freed <- true }, struct{}{})
		list := append(lists.open(), Field{Key: "k", Value: unsafe.String(&long[0], len(long))})
		lists.done(list, list[0].Value)
	}()
	kept := lists.done(append(lists.open(), Field{Key: "k", Value: "v"}), "k=v")
	for range 10 {
		runtime.GC()
		select {
		case <-freed:
			runtime.KeepAlive(kept)
			return
		case <-time.After(time.Second):
		}
	}
	t.Error("the long text is still there")
}

// A record that is read without signatures gets the same ones later.
func TestClassify(t *testing.T) {
	in := zapSlowApply + klogNoLeader + klogTrace + "\n----\npanic: boom\n\ngoroutine 1 [running]:\nmain.main()\n" + zapLeader
	want := readAll(t, in, Options{Year: 2026})
	got := readAll(t, in, Options{Year: 2026, Unclassified: true})
	some := false
	for i := range got {
		if got[i].Signatures != nil {
			t.Errorf("record %d has %q", i, got[i].Signatures)
		}
		got[i].Classify()
		some = some || got[i].Signatures != nil
	}
	if !reflect.DeepEqual(got, want) || !some {
		t.Errorf("records %+v\nwant %+v", got, want)
	}
}
