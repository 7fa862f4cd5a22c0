package logparse

import "time"

// Duration reads a field as etcd and klog print durations: a Go duration such as
// "1.5ms" ("took", "time spent", "exceeded-duration", "expected-duration",
// "timeElapsed"). False if the field is missing or no duration.
func (f Fields) Duration(key string) (time.Duration, bool) {
	d, err := time.ParseDuration(f.Get(key))
	return d, err == nil
}
