package logparse

import "time"

// Duration reads a field as etcd and klog print durations: a Go duration such as
// "1.5ms" ("took", "time spent", "exceeded-duration", "expected-duration",
// "timeElapsed"). False if the field is missing or no duration.
func (f Fields) Duration(key string) (time.Duration, bool) {
	value := f.Get(key)
	if value == "" {
		return 0, false // an error costs more than the search
	}
	d, err := time.ParseDuration(value)
	return d, err == nil
}
