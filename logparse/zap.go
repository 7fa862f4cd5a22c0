package logparse

import "strings"

// etcd writes one JSON object per line, level first, by zap's production
// encoder (client/pkg/logutil/zap.go): level, ts, logger, caller, msg, then the
// fields of the call. The etcd client inside an API server writes the same, as
// logger "etcd-client".

func claimsZap(text string) bool { return strings.HasPrefix(text, `{"level":`) }

func readZap(s *stream, r *row, rec *Record) {
	readJSON(s, r, rec)
	rec.Component = zapComponent(s.componentOf(r), rec)
}

// zapComponent says whose line it is: the etcd client library logs in the
// process that uses it; a line from etcd's source files is etcd's own, also where
// etcd is embedded (k3s).
func zapComponent(stream Component, rec *Record) Component {
	switch {
	case isEtcdClient(rec):
		return stream
	case isEtcdCaller(rec.Caller):
		return ComponentEtcd
	case stream == ComponentAudit:
		return ComponentUnknown
	}
	return stream
}

// isEtcdClient tells lines of the client library (client/v3): named so since
// 3.5, known by the file before.
func isEtcdClient(rec *Record) bool {
	return rec.Fields.Get("logger") == "etcd-client" || strings.Contains(rec.Caller, "retry_interceptor.go")
}
