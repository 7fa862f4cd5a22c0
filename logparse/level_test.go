package logparse

import (
	"slices"
	"testing"
)

func TestLevels(t *testing.T) {
	for in, want := range map[string]Level{
		"debug": LevelDebug, "info": LevelInfo, "warn": LevelWarn, "error": LevelError,
		"dpanic": LevelFatal, "panic": LevelFatal, "fatal": LevelFatal, "loud": LevelUnknown,
	} {
		rec := readOne(t, `{"level":"`+in+`","ts":"2026-11-30T21:02:46Z","msg":"a"}`, Options{})
		if rec.Level != want {
			t.Errorf("zap %s: level %q, want %q", in, rec.Level, want)
		}
	}
	for in, want := range map[string]Level{"I": LevelInfo, "W": LevelWarn, "E": LevelError, "F": LevelFatal} {
		if rec := readOne(t, in+"1130 21:02:47.721669       1 a.go:5] x", Options{}); rec.Level != want {
			t.Errorf("klog %s: level %q, want %q", in, rec.Level, want)
		}
	}
	if got := []string{LevelUnknown.String(), LevelFatal.String()}; !slices.Equal(got, []string{"", "fatal"}) {
		t.Errorf("names %q", got)
	}
	if got := (InferredYear | InferredZone).Names(); !slices.Equal(got, []string{"year", "zone"}) || Inferred(0).Names() != nil {
		t.Errorf("inferred %q", got)
	}
}
