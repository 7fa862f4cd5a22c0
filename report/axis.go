package report

import "time"

// axis maps times to places along a picture.
type axis struct {
	from, to    time.Time
	left, right float64
}

// x is the place of a time, clamped to the picture's ends.
func (a axis) x(t time.Time) float64 {
	switch {
	case t.Before(a.from):
		return a.left
	case t.After(a.to):
		return a.right
	}
	return a.left + (a.right-a.left)*float64(t.Sub(a.from))/float64(a.to.Sub(a.from))
}

// side says where a time is: before the window (-1), in it (0) or after it (1).
func (a axis) side(t time.Time) int {
	switch {
	case t.Before(a.from):
		return -1
	case t.After(a.to):
		return 1
	}
	return 0
}

// tick is a mark of the time axis.
type tick struct {
	At    time.Time
	Label string
}

// tickStep is a distance between marks and how their times are written.
type tickStep struct {
	every time.Duration
	form  string
}

var tickSteps = []tickStep{
	{10 * time.Millisecond, "15:04:05.00"}, {50 * time.Millisecond, "15:04:05.00"},
	{100 * time.Millisecond, "15:04:05.0"}, {500 * time.Millisecond, "15:04:05.0"},
	{time.Second, time.TimeOnly}, {2 * time.Second, time.TimeOnly}, {5 * time.Second, time.TimeOnly},
	{10 * time.Second, time.TimeOnly}, {15 * time.Second, time.TimeOnly}, {30 * time.Second, time.TimeOnly},
	{time.Minute, "15:04"}, {2 * time.Minute, "15:04"}, {5 * time.Minute, "15:04"}, {10 * time.Minute, "15:04"},
	{15 * time.Minute, "15:04"}, {30 * time.Minute, "15:04"}, {time.Hour, "15:04"},
	{2 * time.Hour, "01-02 15:04"}, {6 * time.Hour, "01-02 15:04"}, {12 * time.Hour, "01-02 15:04"},
	{24 * time.Hour, dayForm}, {7 * 24 * time.Hour, dayForm}, {30 * 24 * time.Hour, dayForm}, {365 * 24 * time.Hour, dayForm},
	{3650 * 24 * time.Hour, dayForm}, {36500 * 24 * time.Hour, dayForm},
}

// maxTicks is how many marks an axis has room for.
const maxTicks = 9

// ticks are the marks of the window at round local times.
func (a axis) ticks(loc *time.Location) []tick {
	span := a.to.Sub(a.from)
	step := tickSteps[len(tickSteps)-1]
	for _, s := range tickSteps {
		if span/s.every <= maxTicks {
			step = s
			break
		}
	}
	_, offset := a.from.In(loc).Zone()
	shift := time.Duration(offset) * time.Second
	var out []tick
	for t := a.from.Add(shift).Truncate(step.every).Add(-shift); !t.After(a.to) && len(out) <= 2*maxTicks; t = t.Add(step.every) {
		if !t.Before(a.from) {
			out = append(out, tick{t, t.In(loc).Format(step.form)})
		}
	}
	return out
}
