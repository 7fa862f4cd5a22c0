package correlate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPlaceOf(t *testing.T) {
	id := strings.Repeat("ab", 32)
	for path, want := range map[string]*podPlace{
		"var/log/pods/shop_web-7d9c-x2x2p_3f6e8e0a-0b1c-4d2e-8f3a-112233445566/main/3.log": {namespace: "shop", pod: "web-7d9c-x2x2p", uid: "3f6e8e0a-0b1c-4d2e-8f3a-112233445566", container: "main", run: 3},
		"pods/shop_web.x_0123456789abcdef0123456789abcdef/main/0.log.20261130-210000.gz":   {namespace: "shop", pod: "web.x", uid: "0123456789abcdef0123456789abcdef", container: "main", run: 0},
		"var/log/containers/web-1_shop_main-" + id + ".log":                                {namespace: "shop", pod: "web-1", container: "main", id: id, run: -1},
		"mg/namespaces/shop/pods/web-1/main/main/logs/current.log":                         {namespace: "shop", pod: "web-1", container: "main", run: -1},
		"mg/namespaces/shop/pods/web-1/main/main/logs/previous.insecure.log":               {namespace: "shop", pod: "web-1", container: "main", run: -1, previous: true},
		"bundle/cluster-resources/pods/logs/shop/web-1/main.log":                           {namespace: "shop", pod: "web-1", container: "main", run: -1},
		"bundle/cluster-resources/pods/logs/shop/web-1/main-previous.log":                  {namespace: "shop", pod: "web-1", container: "main", run: -1, previous: true},
		"dump/shop/web-1/logs.txt":                                                         {namespace: "shop", pod: "web-1", run: -1},
		"logs/etcd-1.log":                                                                  nil,
		"logs/kubelet_node_1.log":                                                          nil,
		"var/log/containers/notes.log":                                                     nil,
	} {
		if got := placeOf(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", path, got, want)
		}
	}
}

// crashed is the scene of a container that ended for the fourth time, 20 s after the
// update.
func crashed(s *scene) {
	pulling(s)
	crash(s, "Error", 1, 4)
	st := &s.pod.Status.ContainerStatuses[0]
	st.LastTerminationState.Terminated.FinishedAt = metav1.NewTime(s.w.Time(at(20 * sec)).Truncate(time.Second))
	st.LastTerminationState.Terminated.ContainerID = "containerd://" + strings.Repeat("cd", 32)
	s.put(at(20*sec+500*ms), s.pod)
}

// say writes a line of a container as the runtime does.
func (s *scene) say(file string, when time.Duration, text string) {
	s.w.Log(when, file, s.w.Time(when).Format("2006-01-02T15:04:05.000000000Z07:00")+" stderr F "+text)
}

func TestLastWords(t *testing.T) {
	pod := "cart-new-60"
	file := func(uid string, run int) string { return fmt.Sprintf("pods/shop_%s_%s/main/%d.log", pod, uid, run) }
	const words = "cannot open /etc/cart.yaml"
	tests := []struct {
		name  string
		logs  func(*scene)
		quote string // in the finding
		none  string // and not
	}{
		{"the run that ended", func(s *scene) {
			s.say(file(pod+"-uid", 3), at(19*sec), "starting")
			s.say(file(pod+"-uid", 3), at(20*sec), words)
		}, words, "starting up again"},
		{"the panic before its end", func(s *scene) {
			s.say(file(pod+"-uid", 3), at(19*sec), "starting")
			s.say(file(pod+"-uid", 3), at(20*sec), "panic: no carts left")
			s.say(file(pod+"-uid", 3), at(20*sec), "")
			s.say(file(pod+"-uid", 3), at(20*sec), "goroutine 1 [running]:")
			s.say(file(pod+"-uid", 3), at(20*sec), "main.main()")
		}, "panic: no carts left", ""},
		{"several runs in one log", func(s *scene) {
			f := "namespaces/shop/pods/" + pod + "/main/main/logs/current.log"
			s.w.Log(at(20*sec), f, s.w.Time(at(20*sec)).Format(time.RFC3339Nano)+" "+words)
			s.w.Log(at(50*sec), f, s.w.Time(at(50*sec)).Format(time.RFC3339Nano)+" starting up again")
		}, words, "starting up again"},
		{"another run", func(s *scene) { s.say(file(pod+"-uid", 2), at(10*sec), words) }, "do not reach to its exit", words},
		{"a later run", func(s *scene) { s.say(file(pod+"-uid", 4), at(50*sec), words) }, "do not reach to its exit", words},
		{"an older pod of the name", func(s *scene) { s.say(file("other-uid", 3), at(20*sec), words) }, "no log of this container", words},
		{"another pod", func(s *scene) { s.say("pods/shop_cart-old-0_cart-old-0-uid/main/3.log", at(20*sec), words) }, "no log of this container", words},
		{"another container", func(s *scene) { s.say(fmt.Sprintf("pods/shop_%s_%s-uid/proxy/3.log", pod, pod), at(20*sec), words) }, "no log of this container", words},
		{"another container of the pod's name, by its ID", func(s *scene) {
			s.say("containers/"+pod+"_shop_main-"+strings.Repeat("ef", 32)+".log", at(20*sec), words)
		}, "do not reach to its exit", words},
		{"the container by its ID", func(s *scene) {
			s.say("containers/"+pod+"_shop_main-"+strings.Repeat("cd", 32)+".log", at(20*sec), words)
		}, words, ""},
		{"none", func(*scene) {}, "no log of this container", ""},
		{"a secret", func(s *scene) {
			s.say(file(pod+"-uid", 3), at(20*sec), "login failed: Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789ABCD")
		}, "Bearer secret#", "abcdefghijklmnop"},
		{"a long line", func(s *scene) { s.say(file(pod+"-uid", 3), at(20*sec), "long "+strings.Repeat("x", 1<<20)) }, "long xxxx", strings.Repeat("x", 500)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			crashed(s)
			if s.pod.Name != pod {
				t.Fatalf("the pod is %s", s.pod.Name)
			}
			tt.logs(s)
			a := s.analyze()
			f := last(t, a).Findings[0]
			if f.Cause != "crash-loop" || !strings.Contains(f.Text, tt.quote) || tt.none != "" && strings.Contains(f.Text, tt.none) {
				t.Errorf("%s: %.600s", f.Cause, f.Text)
			}
			cited := false
			for _, e := range a.Evidence {
				of := slices.Contains(f.Evidence, e.ID)
				cited = cited || of && e.Line > 0
				if of && tt.none != "" && strings.Contains(e.Text, tt.none) {
					t.Errorf("evidence %.600s", e.Text)
				}
			}
			if said := strings.Contains(f.Text, "printed:"); cited != said {
				t.Errorf("cites a line: %v; %s", cited, f.Text)
			}
		})
	}
}

// An application that says what etcd says tells nothing of this cluster's etcd.
func TestApplicationIsNoEvidence(t *testing.T) {
	for _, x := range []struct {
		file     string
		episodes bool
	}{
		{"etcd-1.log", true},
		{"pods/shop_cart-old-0_cart-old-0-uid/main/0.log", false},
		{"pods/kube-system_etcd-cp1_0123456789abcdef0123456789abcdef/etcd/0.log", true},
	} {
		s := newScene(t)
		s.update()
		s.newSet(at(100 * ms))
		s.converge(at(200 * ms))
		for i := range 3 {
			for _, text := range []string{
				`{"level":"warn","ts":"%s","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"4.2s","expected-duration":"1s"}`,
				`{"level":"info","ts":"%s","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"5c76a90ae78bcee7 lost leader 5c76a90ae78bcee7 at term 3"}`,
			} {
				when := at(time.Duration(10+i) * sec)
				line := fmt.Sprintf(text, s.w.Time(when).Format("2006-01-02T15:04:05.000000Z07:00"))
				if strings.HasPrefix(x.file, "pods/") {
					s.say(x.file, when, line)
				} else {
					s.w.Log(when, x.file, line)
				}
			}
		}
		a := s.analyze()
		if got := len(a.Episodes) > 0; got != x.episodes {
			t.Errorf("%s: episodes %+v", x.file, a.Episodes)
		}
	}
}
