package logparse

import (
	"strconv"
	"strings"
)

// capnslog is etcd's logger up to 3.4 (github.com/coreos/pkg/capnslog):
//
//	2006-01-02 15:04:05.000000 W | etcdserver: message
//
// in local time. Under journald it prints the message alone: no stamp, no level,
// no package.

const capnslogHead = "2006-01-02 15:04:05.000000 W | "

func claimsCapnslog(text string) bool {
	if len(text) < len(capnslogHead)-1 || text[4] != '-' || text[10] != ' ' || text[19] != '.' || text[26] != ' ' ||
		text[28:30] != " |" {
		return false
	}
	_, rest, ok := cutDateTime(text)
	return ok && len(rest) == len(text)-len("2006-01-02 15:04:05.000000")
}

func readCapnslog(s *stream, r *row, rec *Record) {
	m, rest, _ := cutDateTime(r.text)
	rec.Time, rec.Inferred = s.clock.at(m, r.outer)
	rec.Level = levelNamed(rest[1:2])
	rest = strings.TrimPrefix(rest[len(" W |"):], " ")
	if pkg, message, ok := strings.Cut(rest, ": "); ok && isWord(pkg, "/_-.") {
		rec.Caller, rest = pkg, message
	}
	rec.Message, rec.Repeats = cutMerged(rest)
	if rec.Component = s.componentOf(r); rec.Component == ComponentUnknown && etcdPackages[rec.Caller] {
		rec.Component = ComponentEtcd
	}
}

// etcdPackages are the names that etcd's packages log under (2.0 to 3.4,
// capnslog.NewPackageLogger).
var etcdPackages = map[string]bool{
	"auth": true, "compactor": true, "discovery": true, "embed": true, "etcdmain": true, "etcdserver": true,
	"etcdserver/api": true, "etcdserver/api/etcdhttp": true, "etcdserver/api/v3rpc": true, "etcdserver/auth": true,
	"etcdserver/membership": true, "etcdserver/stats": true, "etcdhttp": true, "fileutil": true, "flags": true,
	"httputil": true, "lease": true, "mvcc": true, "mvcc/backend": true, "netutil": true, "osutil": true, "raft": true,
	"rafthttp": true, "snap": true, "storage": true, "store": true, "v3rpc": true, "v3rpc/grpc": true, "wal": true,
	"pkg/flags": true, "pkg/fileutil": true, "pkg/netutil": true, "pkg/osutil": true, "transport": true,
	"etcdserver/api/snap": true, "etcdserver/api/rafthttp": true, "etcdserver/api/membership": true,
	"etcdserver/api/v2http": true, "etcdserver/api/v3compactor": true, "etcdserver/api/v2discovery": true,
}

// cutMerged takes off what etcd's merging logger adds (pkg/logutil, 3.0 to 3.3):
// " [merged 7 repeated lines in 1.37s]" stands for seven lines, one of them this.
func cutMerged(message string) (rest string, repeats int) {
	const mark = " [merged "
	i := strings.LastIndex(message, mark)
	if i < 0 || !strings.HasSuffix(message, "]") {
		return message, 0
	}
	count, after, ok := strings.Cut(message[i+len(mark):], " ")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || !strings.HasPrefix(after, "repeated lines in ") {
		return message, 0
	}
	return message[:i], n - 1
}
