package fate

import (
	"testing"
	"time"

	"etcd-autopsy/fixtures/world"
)

// TestManyOfOneKey judges many requests for one object, of which every other one
// failed. Work that grows with the square of their number would take minutes.
func TestManyOfOneKey(t *testing.T) {
	for _, every := range []time.Duration{sec, 100 * ms, 0} {
		t.Run(every.String(), func(t *testing.T) { manyOfOneKey(t, every) })
	}
}

func manyOfOneKey(t *testing.T, every time.Duration) {
	const writes, requests = 10_000, 100_000
	s := &story{w: world.New()}
	for i := range writes {
		s.put(time.Duration(i)*every, s.cm("kubectl", time.Duration(i)*every))
	}
	for i := range requests {
		at := time.Duration(i) * every * writes / requests
		switch i % 5 {
		case 0:
			s.patch("kubectl", at, at+7*sec, 500, timedOutText)
		case 1:
			s.patch("", at, at+7*sec, 504, "Timeout: request did not complete")
		case 2:
			s.patch("other", at, at+5*ms, 409, "the object has been modified")
		case 3:
			s.patch("nobody", at, at+7*sec, 500, timedOutText)
		default:
			s.patch("kubectl", at, at+5*ms, 200, "")
		}
	}
	h := load(t, s.w, false, 1)
	for i, v := range Judge(h, s.times, s.requests) {
		if want := [...]Fate{Unknown, Unknown, Rejected, Unknown, Landed}[i%5]; v.Fate != want {
			t.Fatalf("request %d: %s (%s), want %s", i, v.Fate, v.Why, want)
		}
	}
}
