package logparse

import (
	"encoding/json"
	"testing"
)

func TestJSONObject(t *testing.T) {
	tests := []struct {
		name, in string
		want     [][2]string
		err      error
		rest     string
	}{
		{"empty object", `{}`, nil, nil, ""},
		{"values keep their text", `{"a":"x","b":1.50,"c":null,"d":{"e":["}"]},"f":[1, 2] }`,
			[][2]string{{"a", `"x"`}, {"b", "1.50"}, {"c", "null"}, {"d", `{"e":["}"]}`}, {"f", "[1, 2]"}}, nil, ""},
		{"blanks", " { \"a\" : 1 , \"b\":2}", [][2]string{{"a", "1"}, {"b", "2"}}, nil, ""},
		{"escaped quotes", `{"a\"b":"c\\","d":"\\\""}`, [][2]string{{`a"b`, `"c\\"`}, {"d", `"\\\""`}}, nil, ""},
		{"text behind", `{"a":1} x`, [][2]string{{"a", "1"}}, nil, "x"},
		{"cut in a key", `{"a":1,"b`, [][2]string{{"a", "1"}}, errJSONCut, ""},
		{"cut in a string", `{"a":1,"b":"x`, [][2]string{{"a", "1"}}, errJSONCut, ""},
		{"cut in a number", `{"a":1`, nil, errJSONCut, ""},
		{"cut after a value", `{"a":"x"`, [][2]string{{"a", `"x"`}}, errJSONCut, ""},
		{"cut in an object", `{"a":{"b":1`, nil, errJSONCut, ""},
		{"no value", `{"a":}`, nil, errJSONSyntax, ""},
		{"no colon", `{"a" 1}`, nil, errJSONSyntax, ""},
		{"no comma", `{"a":"x" "b":1}`, [][2]string{{"a", `"x"`}}, errJSONSyntax, ""},
		{"no object", `[1]`, nil, errJSONSyntax, ""},
		{"nothing", ``, nil, errJSONCut, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := openJSON(tt.in)
			var got [][2]string
			for {
				k, v, ok := o.member()
				if !ok {
					break
				}
				got = append(got, [2]string{k, v})
			}
			if o.err != tt.err {
				t.Errorf("err = %v, want %v", o.err, tt.err)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("members = %q, want %q", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("member %d = %q, want %q", i, got[i], tt.want[i])
				}
			}
			if o.err == nil && o.rest() != tt.rest {
				t.Errorf("rest = %q, want %q", o.rest(), tt.rest)
			}
		})
	}
}

func TestJSONString(t *testing.T) {
	for _, quoted := range []string{
		`""`, `"plain"`, `"a\"b\\c\/d"`, `"\b\f\n\r\t"`, `"\u0026 \u00e9 \u4e2d"`,
		`"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00\ud83d"`, `"中文"`,
	} {
		var want string
		if err := json.Unmarshal([]byte(quoted), &want); err != nil {
			t.Fatal(err)
		}
		if got := jsonString(quoted); got != want {
			t.Errorf("jsonString(%s) = %q, want %q", quoted, got, want)
		}
	}
	for quoted, want := range map[string]string{`"\x"`: `\x`, `"\u12"`: `\u12`, `"\uzzzz"`: `\uzzzz`} {
		if got := jsonString(quoted); got != want {
			t.Errorf("jsonString(%s) = %q, want %q", quoted, got, want)
		}
	}
}

// FuzzJSONObject holds the scanner against encoding/json: what that accepts, the
// scanner reads in full and to the same strings.
func FuzzJSONObject(f *testing.F) {
	for _, s := range []string{zapSlowApply, auditUpdate, auditCreate, `{"a":{"b":[1,"]"]},"c":"\ud83d\ude00"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o := openJSON(s)
		members := map[string]string{}
		for {
			k, v, ok := o.member()
			if !ok {
				break
			}
			members[k] = v
		}
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(s), &want) != nil || want == nil {
			return
		}
		if o.err != nil || o.rest() != "" {
			t.Fatalf("good json refused: %v, rest %q", o.err, o.rest())
		}
		for k, raw := range want {
			v, ok := members[k]
			var text string
			if json.Unmarshal(raw, &text) == nil && raw[0] == '"' {
				if (&stream{}).text([]byte(s)) == s && jsonText(v) != text {
					t.Errorf("%q: %q, want %q", k, jsonText(v), text)
				}
			} else if ok && v != string(raw) {
				t.Errorf("%q: %s, want %s", k, v, raw)
			}
		}
	})
}
