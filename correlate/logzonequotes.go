package correlate

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"etcd-autopsy/logparse"
)

// goTime is Go's time.Time as text.
const goTime = "2006-01-02 15:04:05 -0700 MST"

// ownStamp is a time that a Go program has just taken from its clock: only those
// have a monotonic reading (time.Time.String), and their zone is the program's,
// for a change of zone drops it.
var ownStamp = regexp.MustCompile(`(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,9})?) ([+-]\d{4}) \S{1,6} m=[+-]`)

// nowMark is before the current time, in UTC, at the end of what a server prints of
// a certificate that it loads (apiserver/pkg/server/dynamiccertificates/tlsconfig.go
// and cert_key.go; since Kubernetes 1.14).
const nowMark = "(now="

// quotedInstant is the instant at which a record was printed, if it quotes it with
// a zone.
func quotedInstant(rec *logparse.Record) (at time.Time, key string, ok bool) {
	if rec.Format != logparse.FormatKlog {
		return time.Time{}, "", false
	}
	if rec.Message == "Observed pod startup duration" {
		at, ok = podStarted(rec)
	}
	switch {
	case ok:
	case strings.HasPrefix(rec.Message, "Loaded ") || strings.HasPrefix(rec.Message, "loaded "):
		at, ok = certificateNow(rec)
	case strings.Contains(rec.Text, " m=+"):
		at, ok = ownClock(rec)
	}
	if !ok {
		return time.Time{}, "", false
	}
	return at, strconv.Itoa(rec.Line), true
}

// podStarted reads what the kubelet says of a pod that runs: how long after its
// creation that was noticed, which is when the line is printed
// (pkg/kubelet/util/pod_startup_latency_tracker.go, since Kubernetes 1.26).
func podStarted(rec *logparse.Record) (time.Time, bool) {
	created, err := time.Parse(goTime, rec.Fields.Get("podCreationTimestamp"))
	if err != nil {
		return time.Time{}, false
	}
	took, err := time.ParseDuration(rec.Fields.Get("podStartE2EDuration"))
	if err != nil {
		return time.Time{}, false
	}
	return created.UTC().Add(took), true
}

func certificateNow(rec *logparse.Record) (time.Time, bool) {
	for _, text := range []string{rec.Fields.Get("certDetail"), rec.Message} {
		if _, now, ok := strings.Cut(text, nowMark); ok {
			now, _, _ = strings.Cut(now, ")")
			at, err := time.Parse(goTime, now)
			return at.UTC(), err == nil
		}
	}
	return time.Time{}, false
}

// ownClock reads a time of the program's own clock that is a few seconds old by the
// stamp of its line. The two are of one zone, so it can be told without knowing
// which.
func ownClock(rec *logparse.Record) (time.Time, bool) {
	for _, m := range ownStamp.FindAllStringSubmatch(rec.Text, -1) {
		wall, err := time.Parse(time.DateTime, m[1])
		if err != nil {
			continue
		}
		zone, err := time.Parse("-0700", m[2])
		if err != nil {
			continue
		}
		if age := rec.Time.Sub(wall); age >= -time.Second && age <= sameClock {
			_, east := zone.Zone()
			return wall.Add(-time.Duration(east) * time.Second), true
		}
	}
	return time.Time{}, false
}
