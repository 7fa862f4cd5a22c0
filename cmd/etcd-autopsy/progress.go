package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"etcd-autopsy/correlate"
)

// meter shows how far reading has come. Calls to update come one at a time.
type meter interface {
	update(correlate.Progress)
	// done removes what is drawn, or prints the last line.
	done()
}

// progressModes makes the meter of each --progress mode.
var progressModes = map[string]func(w io.Writer) meter{
	"auto":  autoMeter,
	"plain": func(w io.Writer) meter { return &lineMeter{w: w, now: time.Now, format: plainLine} },
	"json":  func(w io.Writer) meter { return &lineMeter{w: w, now: time.Now, format: jsonLine} },
	"none":  func(io.Writer) meter { return noMeter{} },
}

// autoMeter draws a bar if stderr is a terminal that can move its cursor.
func autoMeter(w io.Writer) meter {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return noMeter{}
	}
	if width, _, err := term.GetSize(int(f.Fd())); err != nil || width <= 0 {
		return noMeter{}
	}
	return newBarMeter(f)
}

type noMeter struct{}

func (noMeter) update(correlate.Progress) {}
func (noMeter) done()                     {}

// lineMeter prints a line at most once a second, and one at the end.
type lineMeter struct {
	w           io.Writer
	now         func() time.Time
	format      func(p correlate.Progress, since time.Duration) string
	start, last time.Time
	// pending is the newest state that was not printed.
	pending *correlate.Progress
}

func (m *lineMeter) update(p correlate.Progress) {
	now := m.now()
	if m.start.IsZero() {
		m.start = now
	}
	m.pending = &p
	if m.last.IsZero() || now.Sub(m.last) >= time.Second {
		m.print(now)
	}
}

func (m *lineMeter) done() {
	if m.pending != nil {
		m.print(m.now())
	}
}

func (m *lineMeter) print(now time.Time) {
	fmt.Fprintln(m.w, m.format(*m.pending, now.Sub(m.start)))
	m.last, m.pending = now, nil
}

func plainLine(p correlate.Progress, since time.Duration) string {
	return fmt.Sprintf("reading: %d of %d files, %s of %s%s: %s",
		p.FilesDone, p.Files, size(p.Done), size(p.Total), pace(p, since), printable(p.File))
}

// pace is the rate so far and the time that is left at this rate; nothing in the
// first second, nor when all bytes are in.
func pace(p correlate.Progress, since time.Duration) string {
	if since < time.Second || p.Done <= 0 || p.Done >= p.Total {
		return ""
	}
	rate := float64(p.Done) / since.Seconds()
	left := time.Duration(float64(p.Total-p.Done) / rate * float64(time.Second))
	return fmt.Sprintf(", %s/s, %s left", size(int64(rate)), left.Round(time.Second))
}

func jsonLine(p correlate.Progress, since time.Duration) string {
	b, err := json.Marshal(struct {
		Type      string  `json:"type"`
		File      string  `json:"file"`
		Done      int64   `json:"done"`
		Total     int64   `json:"total"`
		FilesDone int     `json:"filesDone"`
		Files     int     `json:"files"`
		Seconds   float64 `json:"seconds"`
	}{"progress", p.File, p.Done, p.Total, p.FilesDone, p.Files, since.Round(time.Millisecond).Seconds()})
	if err != nil {
		return "{}" // numbers and a string always encode
	}
	return string(b)
}

// size writes a number of bytes as people do: 1.5 MB.
func size(n int64) string {
	f := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if f < 1000 {
			if unit == "B" {
				return fmt.Sprintf("%d B", n)
			}
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		f /= 1000
	}
	return fmt.Sprintf("%.1f TB", f)
}
