package replay

import (
	"strconv"
	"strings"
)

// Rules are what etcd's releases do not agree on. The zero value is etcd 3.7.1
// and newer, and 3.6.14 and newer.
type Rules struct {
	// NestedPutsFree: while NOSPACE is raised, a txn is refused only for puts
	// that are not in a nested txn (etcd before 3.6.14 and 3.7.0; costTxn in
	// server/storage/quota.go).
	NestedPutsFree bool
	// LastAlarmRules: only the alarm that was raised last is in force, and none
	// is once the last one of its type is disarmed (etcd 3.5 and older;
	// applierV3backend.Alarm in server/etcdserver/apply.go). What a member forgot
	// that way it remembers after a restart, which the log does not tell.
	LastAlarmRules bool
	// MinLeaseTTL is the shortest life of a lease in seconds; 0 is 2, which
	// follows from etcd's default election timeout (1.5 times that, rounded up).
	MinLeaseTTL int64
}

// RulesFor returns the rules of an etcd version as etcd writes it ("3.5.21"). One
// that cannot be read is taken for the newest.
func RulesFor(version string) Rules {
	minor, patch, ok := parseVersion(version)
	if !ok {
		return Rules{}
	}
	return Rules{
		NestedPutsFree: minor < 6 || minor == 6 && patch < 14 || minor == 7 && patch < 1,
		LastAlarmRules: minor < 6,
	}
}

// parseVersion returns the second and third number of a version 3.
func parseVersion(version string) (minor, patch int, ok bool) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(version, ".")
	if len(parts) < 2 || parts[0] != "3" {
		return 0, 0, false
	}
	minor, err := strconv.Atoi(parts[1])
	if err == nil && len(parts) > 2 {
		patch, err = strconv.Atoi(parts[2])
	}
	return minor, patch, err == nil
}

// minTTL is the shortest life of a lease in seconds.
func (r Rules) minTTL() int64 {
	if r.MinLeaseTTL == 0 {
		return 2
	}
	return r.MinLeaseTTL
}
