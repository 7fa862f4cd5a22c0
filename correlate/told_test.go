package correlate

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// What those who had to act say about the objects that waited stands beside what the
// objects say; what is about others, by others, or at another time does not.
func TestSupport(t *testing.T) {
	const sync = `"Error syncing pod, skipping" err="failed to \"StartContainer\"" pod="shop/cart-new-60" podUID="1"`
	for _, x := range []struct {
		name, component, level, text string
		at                           time.Duration
		cited                        bool
	}{
		{"the kubelet", "kubelet", "E", sync, at(15 * sec), true},
		{"before the stall", "kubelet", "E", sync, at(-20 * sec), false},
		{"about another pod", "kubelet", "E", strings.ReplaceAll(sync, "cart-new-60", "cart-old-0"), at(15 * sec), false},
		{"of another namespace", "kubelet", "E", strings.ReplaceAll(sync, "shop/", "other/"), at(15 * sec), false},
		{"no error", "kubelet", "I", sync, at(15 * sec), false},
		{"by one who need not act", "kube-scheduler", "E", sync, at(15 * sec), false},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newScene(t)
			crashed(s)
			s.w.Klog(x.at, x.component, x.level, map[string]string{"kubelet": "pod_workers.go:1301", "kube-scheduler": "schedule_one.go:100"}[x.component], x.text)
			a := s.analyze()
			f := last(t, a).Findings[0]
			cited := slices.ContainsFunc(a.Evidence, func(e Evidence) bool {
				return strings.Contains(e.Text, "Error syncing pod") && slices.Contains(f.Evidence, e.ID)
			})
			if f.Cause != "crash-loop" || cited != x.cited {
				t.Errorf("%s, cited: %v", f.Cause, cited)
			}
		})
	}
}
