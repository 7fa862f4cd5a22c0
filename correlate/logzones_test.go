package correlate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"etcd-autopsy/fixtures"
	"etcd-autopsy/internal/source"
)

var (
	klogStamp  = regexp.MustCompile(`(?m)^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d{6})`)
	traceStamp = regexp.MustCompile(`\(\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d\.\d{3}\)`)
	monoStamp  = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000 UTC( m=)`)
)

// inZone rewrites a klog file of the recordings' year as a machine of another zone
// would have written it.
func inZone(text string, zone time.Duration) string {
	loc := time.FixedZone("XST", int(zone/time.Second))
	text = klogStamp.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse("2006 0102 15:04:05.000000", "2026 "+s[1:])
		if err != nil {
			return s
		}
		return s[:1] + at.In(loc).Format("0102 15:04:05.000000")
	})
	text = traceStamp.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse("(02-Jan-2006 15:04:05.000)", s)
		if err != nil {
			return s
		}
		return at.In(loc).Format("(02-Jan-2006 15:04:05.000)")
	})
	return monoStamp.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse("2006-01-02 15:04:05 -0700 MST", strings.TrimSuffix(s, " m="))
		if err != nil {
			return s
		}
		return at.In(loc).Format("2006-01-02 15:04:05.999999999 -0700 MST") + " m="
	})
}

// TestZonesOfRecordings: logs of other zones give the same analysis and the same
// timeline, and the zones are found.
func TestZonesOfRecordings(t *testing.T) {
	zones := map[string]time.Duration{
		"kubelet.log": 2 * time.Hour, "kube-controller-manager.log": 5*time.Hour + 30*time.Minute, "kube-scheduler.log": -7 * time.Hour,
		"kube-apiserver-1.log": -7 * time.Hour, "kube-apiserver-2.log": 2 * time.Hour,
	}
	for _, name := range fixtures.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := fixtures.Unpack(t, name)
			want, wantRows := withoutStamps(t, loadDir(t, rec.Dir))
			for log, zone := range zones {
				p := filepath.Join(rec.Dir, "logs", log)
				b, err := os.ReadFile(p)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(inZone(string(b), zone)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := loadDir(t, rec.Dir)
			for _, in := range c.Inputs() {
				zone, shifted := zones[filepath.Base(in.Path)]
				if shifted && (in.Zone != zoneName(zone) || !strings.HasPrefix(in.ZoneWhy, "shown by ")) {
					t.Errorf("%s: zone %q (%s), want %s", in.Path, in.Zone, in.ZoneWhy, zoneName(zone))
				}
				if len(in.Steps) > 0 {
					t.Errorf("%s: steps %v", in.Path, in.Steps)
				}
			}
			got, gotRows := withoutStamps(t, c)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("other zones change the analysis (-UTC +others):\n%s", d)
			}
			if d := cmp.Diff(wantRows, gotRows); d != "" {
				t.Errorf("other zones change the timeline (-UTC +others):\n%s", d)
			}
		})
	}
}

// TestZoneByStore: where no line shows more, the store dates what a log mentions; a
// log of another cluster it does not.
func TestZoneByStore(t *testing.T) {
	rec := fixtures.Unpack(t, "bad-image")
	other := fixtures.Unpack(t, "update-landed-late")
	plain := func(dir, log string) string {
		b, err := os.ReadFile(filepath.Join(dir, "logs", log))
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for l := range strings.Lines(string(b)) {
			if klogStamp.MatchString(l) && !strings.Contains(l, "(now=") && !strings.Contains(l, " m=+") {
				out.WriteString(l)
			}
		}
		return inZone(out.String(), 5*time.Hour+30*time.Minute)
	}
	tests := []struct{ name, log, dir, zone, by string }{
		{"bindings", "kube-scheduler.log", rec.Dir, "+05:30", howBound.what},
		{"containers", "kubelet.log", rec.Dir, "+05:30", howContainer.what},
		{"nothing", "kube-controller-manager.log", rec.Dir, zoneUnknown, "too little"},
		{"another cluster", "kube-scheduler.log", other.Dir, zoneUnknown, "too little"},
		{"another cluster's kubelet", "kubelet.log", other.Dir, zoneUnknown, "too little"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "it.log")
			if err := os.WriteFile(p, []byte(plain(tt.dir, tt.log)), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, in := range loadDir(t, filepath.Join(rec.Dir, "after.db"), p).Inputs() {
				if in.Kind == kindLog && (in.Zone != tt.zone || !strings.Contains(in.ZoneWhy, tt.by)) {
					t.Errorf("zone %q (%s), want %q by %s", in.Zone, in.ZoneWhy, tt.zone, tt.by)
				}
			}
		})
	}
}

// withoutStamps is an analysis and the times of a timeline, without what the zones
// of logs do change: the files, what is said of zones, the lines' own stamps.
func withoutStamps(t *testing.T, c *Case) (analysis, rows string) {
	t.Helper()
	a, err := c.Analyze(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a.Inputs, a.Coverage.Notes = nil, nil
	text := string(marshal(t, a))
	text = regexp.MustCompile(`[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6}`).ReplaceAllString(text, "STAMP")
	text = traceStamp.ReplaceAllString(text, "STAMP")
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4} \S+ m=`).ReplaceAllString(text, "STAMP")
	var b strings.Builder
	for row := range c.Timeline(context.Background(), false) {
		if row.Kind == "record" && row.Time != nil {
			fmt.Fprintln(&b, row.Time.Format(time.RFC3339Nano), row.Source, row.Line, row.Inferred)
		}
	}
	return text, b.String()
}

// openWith reads files as one input.
func openWith(t *testing.T, files map[string]string, opts Options) map[string]Input {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Open(context.Background(), []string{dir}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(context.Background(), set, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	out := map[string]Input{}
	for _, in := range c.Inputs() {
		out[in.Path] = in
	}
	return out
}

// Lines of logs whose clock is east of UTC, printed at a moment of the day.
func klogAt(east time.Duration, at, rest string) string {
	return "I" + moment(at).Add(east).Format("0102 15:04:05.000000") + "       1 " + rest + "\n"
}

func moment(at string) time.Time {
	t, err := time.Parse(time.DateTime, "2026-"+at)
	if err != nil {
		panic(err)
	}
	return t
}

// plainAt is a line that shows nothing; startedAt one of the kubelet that quotes
// when a pod was created and how long ago that is.
func plainAt(east time.Duration, at string) string {
	return klogAt(east, at, `kubelet.go:1] "Starting kubelet main sync loop"`)
}

func startedAt(east time.Duration, at string) string {
	created := moment(at).Add(-2 * time.Second).Format(time.DateTime)
	return klogAt(east, at, `pod_startup_latency_tracker.go:104] "Observed pod startup duration" pod="a/b" podStartE2EDuration="2.01s" podCreationTimestamp="`+created+` +0000 UTC"`)
}

func answeredAt(east time.Duration, at, id string) string {
	return klogAt(east, at, `httplog.go:134] "HTTP" verb="PATCH" URI="/api/v1/x" latency="1.2ms" audit-ID="`+id+`" resp=200`)
}

func auditAt(at, id string) string {
	stamp := moment(at).Format("2006-01-02T15:04:05.000000Z")
	return `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"` + id + `","stage":"ResponseComplete","requestURI":"/api/v1/x","verb":"patch","user":{"username":"u"},"objectRef":{"resource":"pods","namespace":"a","name":"b","apiVersion":"v1"},"responseStatus":{"code":200},"requestReceivedTimestamp":"` + stamp + `","stageTimestamp":"` + stamp + `"}` + "\n"
}

func zapAt(at, msg string) string {
	return `{"level":"info","ts":"` + moment(at).Format("2006-01-02T15:04:05.000000Z") + `","caller":"raft/raft.go:1","msg":"` + msg + `"}` + "\n"
}

func capnslogAt(east time.Duration, at, rest string) string {
	return moment(at).Add(east).Format("2006-01-02 15:04:05.000000") + " I | raft: " + rest + "\n"
}

const (
	hour     = time.Hour
	elected5 = "raft.node: 5c76a90ae78bcee7 elected leader 6c76a90ae78bcee7 at term 5"
	elected6 = "raft.node: 5c76a90ae78bcee7 elected leader 7c76a90ae78bcee7 at term 6"
)

func TestZoneFound(t *testing.T) {
	audit := auditAt("06-01 10:00:00", "id-1") + auditAt("06-01 10:05:00", "id-2") + strings.Replace(auditAt("06-01 10:10:00", "id-3"), `"code":200`, `"code":504`, 1)
	zap := zapAt("06-01 09:00:00", elected5) + zapAt("06-01 09:30:00", elected6)
	tests := []struct {
		name string
		log  string
		zone string
		// first is the time of the log's first record.
		first string
	}{
		{"quoted", plainAt(2*hour, "06-01 10:00:00") + startedAt(2*hour, "06-01 10:00:05") + startedAt(2*hour, "06-01 10:01:05"), "+02:00", "06-01 10:00:00"},
		{"one is too little", plainAt(2*hour, "06-01 10:00:00") + startedAt(2*hour, "06-01 10:00:05"), "unknown", "06-01 12:00:00"},
		{"nothing", plainAt(2*hour, "06-01 10:00:00") + plainAt(2*hour, "06-01 10:01:00"), "unknown", "06-01 12:00:00"},
		{"they disagree", startedAt(2*hour, "06-01 10:00:05") + startedAt(2*hour, "06-01 10:01:05") + startedAt(5*hour, "06-01 10:02:05"), "unknown", "06-01 12:00:05"},
		{"no zone of any clock", startedAt(40*time.Minute, "06-01 10:00:05") + startedAt(40*time.Minute, "06-01 10:01:05"), "unknown", "06-01 10:40:05"},
		{"audited", answeredAt(-7*hour, "06-01 10:00:00", "id-1") + answeredAt(-7*hour, "06-01 10:05:00", "id-2"), "-07:00", "06-01 10:00:00"},
		{"audited, and one given up before", answeredAt(-7*hour, "06-01 10:00:00", "id-1") + answeredAt(-7*hour, "06-01 10:05:00", "id-2") + answeredAt(-7*hour, "06-01 10:20:00", "id-3"), "-07:00", "06-01 10:00:00"},
		{"the same request twice", answeredAt(-7*hour, "06-01 10:00:00", "id-1") + answeredAt(-7*hour, "06-01 10:00:00", "id-1"), "unknown", "06-01 03:00:00"},
		{"audited by a clock that is 90 s ahead", answeredAt(90*time.Second, "06-01 10:00:00", "id-1") + answeredAt(90*time.Second, "06-01 10:05:00", "id-2"), "UTC", "06-01 10:01:30"},
		{"audited by a clock that is 10 min ahead", answeredAt(10*time.Minute, "06-01 10:00:00", "id-1") + answeredAt(10*time.Minute, "06-01 10:05:00", "id-2"), "unknown", "06-01 10:10:00"},
		{"of another cluster", answeredAt(2*hour, "06-01 10:00:00", "x-1") + answeredAt(2*hour, "06-01 10:05:00", "x-2"), "unknown", "06-01 12:00:00"},
		{"leaders", capnslogAt(5*hour+30*time.Minute, "06-01 09:00:00", elected5) + capnslogAt(5*hour+30*time.Minute, "06-01 09:30:01", elected6), "+05:30", "06-01 09:00:00"},
		{"one leader, heard of an hour later", capnslogAt(hour, "06-01 09:30:00", elected6), "unknown", "06-01 10:30:00"},
		{"lines around", zapAt("06-01 10:00:00", "a") + plainAt(hour, "06-01 10:00:01") + plainAt(hour, "06-01 10:00:02") + zapAt("06-01 10:00:03", "b"), "+01:00", "06-01 10:00:00"},
		{"lines around, far away", zapAt("06-01 10:00:00", "a") + plainAt(hour, "06-01 10:00:01") + plainAt(hour, "06-01 10:00:02") + zapAt("06-01 10:30:03", "b"), "unknown", "06-01 10:00:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := openWith(t, map[string]string{"it.log": tt.log, "audit.log": audit, "etcd-1.log": zap}, Options{})["it.log"]
			if in.Zone != tt.zone || in.ZoneWhy == "" {
				t.Errorf("zone %q (%s), want %q", in.Zone, in.ZoneWhy, tt.zone)
			}
			if in.First == nil || !in.First.Equal(moment(tt.first)) {
				t.Errorf("begins at %v, want %s", in.First, tt.first)
			}
		})
	}
}

// Clocks change in the middle of a log: an hour comes twice, or not at all.
func TestZoneChanges(t *testing.T) {
	pairs := func(east time.Duration, day, first, second string) string {
		return startedAt(east, day+first) + startedAt(east, day+second)
	}
	autumn := pairs(2*hour, "10-25 ", "00:10:00", "00:20:00") + plainAt(2*hour, "10-25 00:59:00") + plainAt(hour, "10-25 01:01:00") + pairs(hour, "10-25 ", "01:30:00", "01:40:00")
	spring := pairs(hour, "03-29 ", "00:10:00", "00:20:00") + plainAt(hour, "03-29 00:59:00") + plainAt(2*hour, "03-29 01:01:00") + pairs(2*hour, "03-29 ", "01:10:00", "01:40:00")
	tests := []struct {
		name, log, zone string
		first, last     string
		steps           int
	}{
		{"autumn", autumn, "+02:00, +01:00 from line 4", "10-25 00:10:00", "10-25 01:40:00", 0},
		{"spring", spring, "+01:00, +02:00 from line 4", "03-29 00:10:00", "03-29 01:40:00", 0},
		{"shown on one side only", pairs(2*hour, "10-25 ", "00:10:00", "00:20:00") + plainAt(2*hour, "10-25 00:59:00") + plainAt(hour, "10-25 01:01:00"), "+02:00", "10-25 00:01:00", "10-25 00:59:00", 1},
		{"one pair behind", pairs(2*hour, "10-25 ", "00:10:00", "00:20:00") + plainAt(2*hour, "10-25 00:59:00") + plainAt(hour, "10-25 01:01:00") + startedAt(hour, "10-25 01:10:00"), "unknown", "10-25 02:02:00", "10-25 02:59:00", 1},
		{"no place for it", pairs(hour, "03-29 ", "00:10:00", "00:20:00") + pairs(2*hour, "03-29 ", "04:10:00", "04:40:00"), "unknown", "03-29 01:10:00", "03-29 06:40:00", 0},
		{"two places for it", pairs(hour, "03-29 ", "00:10:00", "00:20:00") + plainAt(2*hour, "03-29 00:21:00") + plainAt(3*hour, "03-29 00:22:00") + pairs(2*hour, "03-29 ", "01:40:00", "01:50:00"), "unknown", "03-29 01:10:00", "03-29 03:50:00", 0},
		{"two hours", pairs(2*hour, "10-25 ", "00:10:00", "00:20:00") + pairs(0, "10-25 ", "00:30:00", "00:40:00"), "unknown", "10-25 00:30:00", "10-25 02:20:00", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			etcd := zapAt(tt.first, "x")
			in := openWith(t, map[string]string{"it.log": tt.log, "etcd.log": etcd}, Options{})["it.log"]
			if in.Zone != tt.zone {
				t.Errorf("zone %q (%s), want %q", in.Zone, in.ZoneWhy, tt.zone)
			}
			if tt.name != "one pair behind" && (in.First == nil || !in.First.Equal(moment(tt.first)) || !in.Last.Equal(moment(tt.last))) {
				t.Errorf("from %v to %v, want %s to %s", in.First, in.Last, tt.first, tt.last)
			}
			if len(in.Steps) != tt.steps {
				t.Errorf("%d steps: %v, want %d", len(in.Steps), in.Steps, tt.steps)
			}
		})
	}
}

// What is given is not asked for, and marked.
func TestZoneGiven(t *testing.T) {
	log := startedAt(2*hour, "06-01 10:00:05") + startedAt(2*hour, "06-01 10:01:05")
	in := openWith(t, map[string]string{"it.log": log}, Options{LogLocation: time.FixedZone("-03:00", -3*3600), LogYear: 2025})["it.log"]
	if in.Zone != "-03:00" || in.ZoneWhy != "given by --log-timezone" {
		t.Errorf("zone %q (%s)", in.Zone, in.ZoneWhy)
	}
	if want := time.Date(2025, 6, 1, 15, 0, 5, 0, time.UTC); in.First == nil || !in.First.Equal(want) {
		t.Errorf("begins at %v, want %v", in.First, want)
	}
}

// A rotated file that shows too little is of the zone of its program's others.
func TestZoneOfRotated(t *testing.T) {
	ins := openWith(t, map[string]string{
		"kubelet.log.1": plainAt(2*hour, "06-01 08:00:00") + plainAt(2*hour, "06-01 08:01:00"),
		"kubelet.log":   startedAt(2*hour, "06-01 10:00:05") + startedAt(2*hour, "06-01 10:01:05"),
	}, Options{})
	if in := ins["kubelet.log.1"]; in.Zone != "+02:00" || !strings.Contains(in.ZoneWhy, "kubelet.log") || !in.First.Equal(moment("06-01 08:00:00")) {
		t.Errorf("zone %q (%s), begins at %v", in.Zone, in.ZoneWhy, in.First)
	}
}

func TestClockSteps(t *testing.T) {
	first := lines(0, 5)
	tests := []struct {
		name, log string
		steps     []int
		problems  int
	}{
		{"in order", lines(0, 20), nil, 0},
		{"threads", slowLine(3) + slowLine(2) + slowLine(4), nil, 0},
		{"set back", first + lines(2, 3) + lines(6, 9), []int{6}, 0},
		{"out of order", lines(10, 20) + lines(0, 10), []int{11}, 0},
		{"set back, other lines", lines(10, 14) + zapAt("11-30 21:00:02", "x") + zapAt("11-30 21:00:03", "y"), []int{5}, 0},
		{"the same twice", lines(0, 10) + lines(0, 10), nil, 1},
		{"overlapping", lines(0, 10) + lines(5, 15), nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := openWith(t, map[string]string{"etcd.log": tt.log}, Options{})["etcd.log"]
			var got []int
			for _, s := range in.Steps {
				got = append(got, s.Line)
			}
			if d := cmp.Diff(tt.steps, got); d != "" || len(in.Problems) != tt.problems {
				t.Errorf("steps at %v, want %v; problems %q", got, tt.steps, in.Problems)
			}
		})
	}
}
