package logparse

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// brief is a record in a line.
func brief(r Record) string {
	at := "-"
	if !r.Time.IsZero() {
		at = r.Time.Format("15:04:05.999")
	}
	s := fmt.Sprintf("%d+%d %s %s %s", r.Line, r.Lines, r.Format, at, r.Message)
	if r.Shared {
		s = "=" + s
	}
	if r.Problem != "" {
		s += " !" + r.Problem
	}
	return s
}

func checkBrief(t *testing.T, in string, opts Options, want ...string) []Record {
	t.Helper()
	recs := readAll(t, in, opts)
	var got []string
	for _, r := range recs {
		if r.Format != FormatNoise {
			got = append(got, brief(r))
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("records\n%s\nwant\n%s", g, w)
	}
	return recs
}

// A line that a terminal has wrapped is one again, wherever it was cut.
func TestTorn(t *testing.T) {
	whole := strings.TrimSuffix(zapSlowApply, "\n")
	for cut := len(`{"level":`); cut < len(whole)-1; cut++ {
		if rest := whole[cut:]; formatOf(rest) != nil {
			continue
		}
		recs := readAll(t, zapLeader+whole[:cut]+"\n"+whole[cut:]+"\n"+zapLeader, Options{})
		if len(recs) != 3 || recs[1].Lines != 2 || recs[1].Problem != "" || recs[1].Fields.Get("response") != "size:16" {
			t.Fatalf("cut at %d: %d records, %+v", cut, len(recs), recs[1])
		}
	}
	checkBrief(t, zapLeader[:60]+"\n"+zapLeader, Options{},
		"1+1 zap-json 21:48:28.1  !json ends early", "2+1 zap-json 21:48:28.1 5c76a90ae78bcee7 became leader at term 4")
	checkBrief(t, zapLeader[:60]+"\nno rest\n"+zapLeader, Options{},
		"1+1 zap-json 21:48:28.1  !json ends early", "2+1 plain - no rest", "3+1 zap-json 21:48:28.1 5c76a90ae78bcee7 became leader at term 4")
}

// Two threads that write at once leave two records in a line.
func TestInterleaved(t *testing.T) {
	opts := Options{Year: 2026}
	zap := strings.TrimSuffix(zapLeader, "\n")
	klog := strings.TrimSuffix(klogNoLeader, "\n")
	const leader, noLeader = "zap-json 21:48:28.1 5c76a90ae78bcee7 became leader at term 4", "klog 21:08:30.524 watch chan error: etcdserver: no leader"
	checkBrief(t, zap+klog+"\n"+zap, opts, "1+1 "+leader, "=1+1 "+noLeader, "2+1 "+leader)
	checkBrief(t, zap[:110]+klog+"\n"+zap[110:]+"\n"+zap, opts, "1+2 "+leader, "=1+1 "+noLeader, "3+1 "+leader)
	checkBrief(t, zap+zap+zap, opts, "1+1 "+leader, "=1+1 "+leader, "=1+1 "+leader)
}

func TestStackDump(t *testing.T) {
	dump := "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n" + zapLeader + "\t/src/main.go:12 +0x1d\n" + klogNoLeader +
		"created by x\n\t/src/main.go:13 +0x1d\n\ngoroutine 2 [select]:\n"
	recs := checkBrief(t, dump+zapLeader+"more text\n", Options{Year: 2026},
		"1+9 go-panic - panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:12 +0x1d\ncreated by x\n\t/src/main.go:13 +0x1d\n\ngoroutine 2 [select]:",
		"5+1 zap-json 21:48:28.1 5c76a90ae78bcee7 became leader at term 4", "7+1 klog 21:08:30.524 watch chan error: etcdserver: no leader",
		"12+1 zap-json 21:48:28.1 5c76a90ae78bcee7 became leader at term 4", "13+1 plain - more text")
	checkRecords(t, []byte(dump+zapLeader+"more text\n"), recs)
	long := dump + strings.Repeat(zapLeader, 3*maxBehind)
	recs = readAll(t, long, Options{})
	checkRecords(t, []byte(long), recs)
}

// A value of several lines may quote records of its own.
func TestOpenValue(t *testing.T) {
	in := `I1130 21:08:30.000000       1 prober.go:107] "Probe failed" output=<` + "\n\t" + klogNoLeader + "\t" + zapLeader + " > next=1\n" + klogNoLeader
	for _, pre := range []string{"", "2026-11-30T21:08:30Z stderr F ", "Nov 30 21:08:30 n kubelet[1]: "} {
		text := ""
		for l := range strings.Lines(in) {
			text += pre + l
		}
		recs := readAll(t, text, Options{Year: 2026})
		if len(recs) != 2 || recs[0].Lines != 4 || recs[0].Fields.Get("next") != "1" {
			t.Errorf("behind %q: %d records, %+v", pre, len(recs), recs[0])
		}
	}
}

func TestUTF16(t *testing.T) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + strings.ReplaceAll(zapLeader+klogNoLeader, "\n", "\r\n") + "é\n")) {
			b = order.AppendUint16(b, u)
		}
		checkBrief(t, string(b), Options{},
			"1+1 zap-json 21:48:28.1 5c76a90ae78bcee7 became leader at term 4", "2+2 klog 21:08:30.524 watch chan error: etcdserver: no leader\né")
		if id := Identify("", b); id.Format != FormatZapJSON && id.Format != FormatKlog {
			t.Errorf("format %q", id.Format)
		}
	}
}

func TestExport(t *testing.T) {
	binaryField := func(name, value string) string {
		return name + "\n" + string(binary.LittleEndian.AppendUint64(nil, uint64(len(value)))) + value + "\n"
	}
	in := "__CURSOR=s=1\n__REALTIME_TIMESTAMP=1796075462600000\n_HOSTNAME=cp-1\nSYSLOG_IDENTIFIER=kubelet\n_PID=7\nMESSAGE=" + klogNoLeader + "\n" +
		"__CURSOR=s=2\n__REALTIME_TIMESTAMP=1796075463600000\n" + binaryField("MESSAGE", "two\nlines\x01") + "_HOSTNAME=cp-1\n\n" +
		"__CURSOR=s=3\n__REALTIME_TIMESTAMP=1796075464600000\nMESSAGE=last"
	recs := checkBrief(t, in, Options{},
		"1+7 klog 21:08:30.524 watch chan error: etcdserver: no leader", "8+8 plain 21:51:03.6 two\nlines\x01", "16+3 plain 21:51:04.6 last")
	checkRecords(t, []byte(in), recs)
	if recs[0].Host != "cp-1" || recs[0].Component != ComponentKubelet || strings.Join(recs[0].Framing, " ") != "journald-export" {
		t.Errorf("%+v", recs[0])
	}
	giant := "__CURSOR=s=1\nMESSAGE\n\xff\xff\xff\xff\xff\xff\xff\x7fx\n\n" // a length of a lie
	checkRecords(t, []byte(giant), readAll(t, giant, Options{}))
}

func TestEventList(t *testing.T) {
	item := func(s string) string {
		return strings.Replace(strings.TrimSuffix(s, "\n"), `"kind":"Event","apiVersion":"audit.k8s.io/v1",`, "", 1)
	}
	head := `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[`
	for name, in := range map[string]string{
		"one line":   head + item(auditUpdate) + "," + item(auditCreate) + "]}\n",
		"many lines": head + "\n" + strings.ReplaceAll(item(auditUpdate), `,"`, ",\n\"") + ",\n" + item(auditCreate) + "\n]}\n",
		"two lists":  head + item(auditUpdate) + "]}\n" + head + item(auditCreate) + "]}\n",
	} {
		recs := readAll(t, in, Options{})
		checkRecords(t, []byte(in), recs)
		var uris []string
		for _, r := range recs {
			if r.Audit != nil {
				uris = append(uris, r.Audit.Verb+" "+r.Audit.Name)
			}
			if r.Problem != "" {
				t.Errorf("%s: problem %q", name, r.Problem)
			}
		}
		if got := strings.Join(uris, ", "); got != "update web, create web-x2x2p" {
			t.Errorf("%s: %s", name, got)
		}
		for cut := len(head); cut < len(in); cut += 37 {
			checkRecords(t, []byte(in[:cut]), readAll(t, in[:cut], Options{}))
		}
	}
}

// A wrapper that knows the zone teaches it to what it wraps.
func TestZoneOfWrapper(t *testing.T) {
	const klog, caps = "I1130 22:51:02.000000       1 a.go:1] x\n", "2026-11-30 22:51:02.000000 W | etcdserver: x\n"
	for _, in := range []string{
		"2026-11-30T21:51:02.6Z stderr F " + klog, "2026-11-30T22:51:02.6+01:00 stderr F " + caps,
		"Mon 2026-11-30 21:51:02 UTC h p[1]: " + klog, "2026-11-30T17:51:02.6-04:00 " + caps,
	} {
		rec := readOne(t, in, Options{})
		if !rec.Time.Equal(at("2026-11-30T21:51:02Z")) || rec.Inferred&InferredZone == 0 {
			t.Errorf("%q: time %v, inferred %v", in, rec.Time, rec.Inferred.Names())
		}
	}
	// A line that came late does not.
	rec := readOne(t, "2026-11-30T21:58:02.6Z stderr F "+klog, Options{})
	if !rec.Time.Equal(at("2026-11-30T22:51:02Z")) {
		t.Errorf("time %v", rec.Time)
	}
	// The turn of a year lies between the two clocks.
	rec = readOne(t, "2026-12-31T23:51:02.6Z stderr F I0101 07:51:02.000000       1 a.go:1] x\n", Options{})
	if !rec.Time.Equal(at("2026-12-31T23:51:02Z")) {
		t.Errorf("time %v", rec.Time)
	}
}

// Without anything else, the year is the last one before the file was written.
func TestYearOfFile(t *testing.T) {
	before := at("2027-01-02T10:00:00Z")
	for in, want := range map[string]string{
		"1231 23:59:59": "2026-12-31T23:59:59Z", "0102 09:00:00": "2027-01-02T09:00:00Z", "0301 00:00:00": "2026-03-01T00:00:00Z",
		"0103 05:00:00": "2027-01-03T05:00:00Z", "0229 00:00:00": "2024-02-29T00:00:00Z",
	} {
		rec := readOne(t, klogAt(in), Options{Before: before})
		if rec.Time.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, want %s", in, rec.Time, want)
		}
	}
	recs := readAll(t, klogAt("1231 23:59:59")+klogAt("0101 00:00:01"), Options{Before: before})
	if !recs[1].Time.Equal(at("2027-01-01T00:00:01Z")) {
		t.Errorf("past the turn of the year: %v", recs[1].Time)
	}
	recs = readAll(t, "Dec 31 23:59:59 h p: x\nJan  1 00:00:01 h p: y\n", Options{Before: before})
	if !recs[0].Time.Equal(at("2026-12-31T23:59:59Z")) || !recs[1].Time.Equal(at("2027-01-01T00:00:01Z")) {
		t.Errorf("syslog: %v %v", recs[0].Time, recs[1].Time)
	}
}

func TestRepeats(t *testing.T) {
	for in, want := range map[string]int{
		"2017-01-11 14:19:14.704753 E | etcdhttp: x [merged 7 repeated lines in 1.37s]": 6,
		"2017-01-11 14:19:14.704753 E | etcdhttp: x [merged y lines]":                   0,
		"Jan 11 14:19:14 h rsyslogd: message repeated 3 times: [ x]":                    2,
	} {
		rec := readOne(t, in, Options{Year: 2017})
		if rec.Repeats != want || want > 0 && rec.Message != "x" {
			t.Errorf("%q: %d repeats of %q, want %d", in, rec.Repeats, rec.Message, want)
		}
	}
}
