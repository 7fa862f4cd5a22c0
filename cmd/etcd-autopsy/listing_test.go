package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

type fruit struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

var fruits = listing[fruit]{
	name: func(f fruit) string { return "fruit/" + f.Name },
	columns: []column[fruit]{
		{head: "NAME", cell: func(f fruit) string { return f.Name }},
		{head: "COLOR", wide: true, cell: func(fruit) string { return "" }},
		{head: "COUNT", cell: func(f fruit) string { return strings.Repeat("I", f.Count) }},
	},
}

func TestListingFormats(t *testing.T) {
	rows := []fruit{{"apple", 3}, {"a\tb\x1b[31m <é>", 0}}
	tests := []struct{ format, want, none string }{
		{"table", "NAME                COUNT\napple               III\na\\x09b\\x1b[31m <é>  -\n", "NAME  COUNT\n"},
		{"wide", "NAME                COLOR  COUNT\napple               -      III\na\\x09b\\x1b[31m <é>  -      -\n", "NAME  COLOR  COUNT\n"},
		{"name", "fruit/apple\nfruit/a\\x09b\\x1b[31m <é>\n", ""},
		{"json", "[\n {\n  \"name\": \"apple\",\n  \"count\": 3\n },\n {\n  \"name\": \"a\\tb\\u001b[31m <é>\",\n  \"count\": 0\n }\n]\n", "[]\n"},
		{"jsonl", "{\"name\":\"apple\",\"count\":3}\n{\"name\":\"a\\tb\\u001b[31m <é>\",\"count\":0}\n", ""},
		{"yaml", "- count: 3\n  name: apple\n- count: 0\n  name: \"a\\tb\\e[31m <é>\"\n", "[]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			for want, list := range map[string][]fruit{tt.want: rows, tt.none: nil} {
				var out bytes.Buffer
				if err := fruits.print(&out, tt.format, slices.Values(list)); err != nil {
					t.Fatal(err)
				}
				if out.String() != want {
					t.Errorf("got\n%q\nwant\n%q", out.String(), want)
				}
				if tt.format == "json" && !json.Valid(out.Bytes()) {
					t.Error("invalid JSON")
				}
			}
		})
	}
}

func TestListingHasOnlyItsFormats(t *testing.T) {
	if got := fruits.formats(); !slices.Equal(got, listFormats) {
		t.Errorf("formats %v", got)
	}
	plain := listing[fruit]{columns: fruits.columns[:1]}
	if got := strings.Join(plain.formats(), " "); got != "table json jsonl yaml" {
		t.Errorf("formats %v", got)
	}
	f := listFlags{output: "wide"}
	if err := f.check(plain.formats()); !isUsage(err) {
		t.Errorf("check: %v, want a usage error", err)
	}
}

func TestTableBlocks(t *testing.T) {
	rows := slices.Repeat([]fruit{{"apple", 1}}, 2*tableBlock+1)
	var out bytes.Buffer
	if err := fruits.print(&out, "table", slices.Values(rows)); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "apple  I\n"); n != len(rows) {
		t.Errorf("%d rows, want %d", n, len(rows))
	}
}

func TestSpan(t *testing.T) {
	tests := map[time.Duration]string{
		0: "0s", 340*time.Millisecond + 200*time.Microsecond: "340ms", 6234 * time.Millisecond: "6.2s",
		61*time.Second + 300*time.Millisecond: "1m1s", 3*time.Hour + 5*time.Minute + 10*time.Second: "3h5m",
	}
	for d, want := range tests {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}
