package main

import "testing"

func TestClosest(t *testing.T) {
	words := []string{"report", "render", "rollouts", "revisions", "image-pull", "o"}
	tests := []struct{ word, want string }{
		{"report", "report"},
		{"reprot", "report"},
		{"rollout", "rollouts"},
		{"revsions", "revisions"},
		{"image-pul", "image-pull"},
		{"imagepull", "image-pull"},
		{"x", ""},
		{"export", "report"},
		{"completely-else", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := closest(tt.word, words); got != tt.want {
			t.Errorf("closest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"für", "fur", 1},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
