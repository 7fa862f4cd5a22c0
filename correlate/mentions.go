package correlate

import (
	"regexp"
	"strings"

	"etcd-autopsy/logparse"
)

// mention is an object that a log record names.
type mention struct{ namespace, name string }

// objectFields are the fields of klog messages that hold "namespace/name"
// (k8s.io/klog/v2, KObj).
var objectFields = map[string]bool{
	"pod": true, "object": true, "deployment": true, "replicaSet": true, "statefulSet": true, "daemonSet": true, "job": true,
	"cronJob": true, "service": true, "endpointSlice": true, "lock": true, "key": true, "PVC": true, "lease": true,
}

// objectPaths find objects in keys of the store, paths of the API, and the pods of
// older kubelets: name_namespace(uid).
var objectPaths = []struct {
	mark            string
	re              *regexp.Regexp
	namespace, name int
}{
	{"/registry/", regexp.MustCompile(`/registry/(?:services/(?:specs|endpoints)|[a-z0-9.]+\.[a-z]+/[a-z0-9]+|[a-z]+)/([a-z0-9-]+)/([a-z0-9.-]+)`), 1, 2},
	{"/namespaces/", regexp.MustCompile(`/namespaces/([a-z0-9-]+)/[a-z]+/([a-z0-9.-]+)`), 1, 2},
	{"/namespaces/", regexp.MustCompile(`/namespaces/([a-z0-9-]+)/[a-z]+(?:[?" ]|$)`), 1, 0},
	{"_", regexp.MustCompile(`([a-z0-9.-]+)_([a-z0-9-]+)\([0-9a-f-]{8,36}\)`), 2, 1},
}

// maxMentions bounds the work on a record that lists objects without end.
const maxMentions = 32

// mentionsOf lists the namespaced objects that a record names. A name may be empty:
// a list or a create names only the namespace.
func mentionsOf(rec *logparse.Record) []mention {
	if a := rec.Audit; a != nil {
		if a.Namespace == "" {
			return nil
		}
		return []mention{{a.Namespace, a.Name}}
	}
	var out []mention
	for _, f := range rec.Fields {
		if ns, name, ok := strings.Cut(f.Value, "/"); ok && objectFields[f.Key] && ns != "" && !strings.Contains(name, "/") {
			out = append(out, mention{ns, name})
		}
	}
	if ns := rec.Fields.Get("namespace"); ns != "" {
		out = append(out, mention{ns, rec.Fields.Get("name")})
	}
	out = mentionsIn(out, rec.Message)
	for _, f := range rec.Fields {
		out = mentionsIn(out, f.Value)
	}
	return out
}

func mentionsIn(out []mention, text string) []mention {
	for _, p := range objectPaths {
		if !strings.Contains(text, p.mark) {
			continue
		}
		for _, m := range p.re.FindAllStringSubmatch(text, maxMentions) {
			x := mention{namespace: m[p.namespace]}
			if p.name > 0 {
				x.name = m[p.name]
			}
			out = append(out, x)
		}
	}
	return out
}

// scope is what --namespace and --workload leave of the log records.
type scope struct {
	namespace string
	// objects are those of the workload, by namespace and name; nil without one.
	objects map[mention]bool
	// workload is its name: its pods and ReplicaSets begin with it, also where the
	// store does not hold them.
	workload string
}

// recordScope makes the scope of the options, nil if they ask for everything.
func (c *Case) recordScope() *scope {
	if c.opts.Namespace == "" && c.opts.Workload == "" {
		return nil
	}
	s := &scope{namespace: c.opts.Namespace}
	if c.opts.Workload != "" {
		s.objects = map[mention]bool{}
		s.workload = c.opts.Workload[strings.LastIndexByte(c.opts.Workload, '/')+1:]
		for key := range c.workloadKeys() {
			if r, ok := c.hist.Resource(key); ok {
				s.objects[mention{r.Namespace, r.Name}] = true
			}
		}
	}
	return s
}

// holds says whether a record is about what the options ask for. Records that name
// no object are about the cluster, or about the pod that printed them.
func (s *scope) holds(rec *logparse.Record, by *containerLog) bool {
	if s == nil {
		return true
	}
	mentions := mentionsOf(rec)
	if by != nil && !by.controlPlane() {
		mentions = append(mentions, mention{by.namespace, by.pod})
	}
	for _, m := range mentions {
		if s.about(m) {
			return true
		}
	}
	return len(mentions) == 0
}

func (s *scope) about(m mention) bool {
	if s.namespace != "" && m.namespace != s.namespace {
		return false
	}
	return s.objects == nil || s.objects[m] || m.name == s.workload || madeFor(m.name, s.workload)
}

// podSuffix is what the controllers append to a workload's name: the hash of the
// template, an ordinal, five letters and digits of their alphabet
// (apimachinery/pkg/util/rand).
var podSuffix = regexp.MustCompile(`^-([0-9]+|[bcdfghjklmnpqrstvwxz2456789]{1,10}(-[bcdfghjklmnpqrstvwxz2456789]{5})?)$`)

func madeFor(name, workload string) bool {
	rest, ok := strings.CutPrefix(name, workload)
	return ok && podSuffix.MatchString(rest)
}
