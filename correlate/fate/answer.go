package fate

import (
	"fmt"
	"strings"
)

// proposes is what a request can have become, as far as its answer says.
type proposes uint8

const (
	// anything: it may have landed.
	anything proposes = iota
	// refusable: it has not landed, but may be an entry that was rejected.
	refusable
	// nothing: etcd did not propose it.
	nothing
)

// answer is what an answer says of the fate by itself.
type answer struct {
	fate     Fate // Unknown if it leaves that open
	why      string
	proposes proposes
}

// refusals are answers that say by themselves that etcd did not take the write on
// (etcd v3.6 server/etcdserver/errors): the first that the message contains counts.
// The first write above the quota is stored although it is refused
// (server/etcdserver/apply/quota.go).
var refusals = []struct {
	text string
	answer
}{
	{"etcdserver: no leader", answer{NotProposed, "etcd had no leader and refused to propose it", nothing}},
	{"etcdserver: too many requests", answer{NotProposed, "etcd had too many proposals waiting and refused to propose it", nothing}},
	{"etcdserver: request is too large", answer{Rejected, "etcd refused it as too large", nothing}},
	{"etcdserver: mvcc: database space exceeded", answer{Rejected, "etcd refused it for lack of space", anything}},
}

// answerOf says what the answer to a request tells.
func answerOf(r *Request) answer {
	for _, x := range refusals {
		if strings.Contains(r.Message, x.text) {
			return x.answer
		}
	}
	if !Ambiguous(r.Code, r.Message) {
		return answer{Rejected, fmt.Sprintf("the API server refused it with %d", r.Code), refusable}
	}
	return answer{fate: Unknown}
}

// Ambiguous says whether an answer leaves open what became of a write: a time-out,
// a changed leader, a broken connection. A refusal by rule does not.
func Ambiguous(code int32, message string) bool {
	if code == 408 || code == 504 {
		return true
	}
	for _, x := range refusals {
		if strings.Contains(message, x.text) {
			return false
		}
	}
	return (code == 0 || code >= 500) && !strings.Contains(message, "failed calling webhook")
}
