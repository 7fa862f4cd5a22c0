package logparse

import (
	"strconv"
	"strings"
	"time"
)

// etcd writes one JSON object per line, level first, by zap's production
// encoder (client/pkg/logutil/zap.go): level, ts, logger, caller, msg, then the
// fields of the call. The etcd client inside an API server writes the same, as
// logger "etcd-client".

func claimsZap(text string) bool { return strings.HasPrefix(text, `{"level":`) }

func readZap(s *stream, text string, rec *Record) {
	o := openJSON(text)
	var stamp string
	rec.Fields = make(Fields, 0, 8)
	for {
		key, value, ok := o.member()
		if !ok {
			break
		}
		switch key {
		case "level":
			rec.Level = zapLevel(jsonText(value))
		case "ts":
			stamp = value
		case "caller":
			rec.Caller = jsonText(value)
		case "msg":
			rec.Message = jsonText(value)
		default:
			rec.Fields = append(rec.Fields, Field{key, jsonText(value)})
		}
	}
	if len(rec.Fields) == 0 {
		rec.Fields = nil
	}
	rec.Component = zapComponent(s.component, rec)
	var ok bool
	rec.Time, ok = zapTime(stamp, rec.Fields)
	switch {
	case o.err != nil:
		rec.problem(o.err.Error())
	case o.rest() != "":
		rec.problem("text after the json object")
	case !ok:
		rec.problem("no readable ts")
	}
	if !rec.Time.IsZero() {
		s.clock.saw(rec.Time)
	}
}

func zapLevel(s string) Level {
	switch s {
	case "debug", "DEBUG":
		return LevelDebug
	case "info", "INFO":
		return LevelInfo
	case "warn", "WARN", "warning":
		return LevelWarn
	case "error", "ERROR":
		return LevelError
	case "dpanic", "panic", "fatal", "DPANIC", "PANIC", "FATAL":
		return LevelFatal
	}
	return LevelUnknown
}

// zapTime reads ts as text, or as epoch seconds (zap's own default encoder, used
// by etcd's grpc-proxy and by operators); loggers of the same shape say time.
func zapTime(value string, fields Fields) (time.Time, bool) {
	if value == "" {
		return parseStamp(fields.Get("time"))
	}
	if value[0] == '"' {
		return parseStamp(jsonText(value))
	}
	sec, err := strconv.ParseFloat(value, 64)
	if err != nil || sec < 0 || sec > 1e11 {
		return time.Time{}, false
	}
	return time.UnixMicro(int64(sec * 1e6)).UTC(), true
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
