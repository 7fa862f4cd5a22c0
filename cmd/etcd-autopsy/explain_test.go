package main

import (
	"slices"
	"testing"
)

func TestWrap(t *testing.T) {
	got := wrap("one two  three a-word-that-is-too-long x", 10)
	if want := []string{"one two", "three", "a-word-that-is-too-long", "x"}; !slices.Equal(got, want) {
		t.Errorf("wrap = %q, want %q", got, want)
	}
}

func TestStagesInWords(t *testing.T) {
	tests := map[string]string{
		"": "nothing", "any": "any stage", "6": "stage 6 (prepare)", "3,4": "stage 3 (update) or 4 (replicaset)",
		"4,8,9": "stage 4 (replicaset), 8 (serve) or 9 (converge)", "3-9": "stages 3 (update) to 9 (converge)",
	}
	for stages, want := range tests {
		if got := stagesInWords(stages); got != want {
			t.Errorf("stagesInWords(%q) = %q, want %q", stages, got, want)
		}
	}
}
