package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"etcd-autopsy/correlate"
)

// barMeter draws one bar for all files: files, bytes, rate, time left.
type barMeter struct {
	pool  *mpb.Progress
	bar   *mpb.Bar
	start time.Time
	state atomic.Pointer[correlate.Progress]
}

func newBarMeter(w *os.File) *barMeter {
	m := &barMeter{
		pool:  mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(100*time.Millisecond), mpb.WithAutoRefresh()),
		start: time.Now(),
	}
	m.state.Store(&correlate.Progress{})
	m.bar = m.pool.New(0, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(m.files)),
		mpb.AppendDecorators(decor.Any(m.bytes)))
	return m
}

func (m *barMeter) files(decor.Statistics) string {
	p := m.state.Load()
	return fmt.Sprintf("%d of %d files ", p.FilesDone, p.Files)
}

func (m *barMeter) bytes(decor.Statistics) string {
	p := m.state.Load()
	return fmt.Sprintf(" %s of %s%s", size(p.Done), size(p.Total), pace(*p, time.Since(m.start)))
}

func (m *barMeter) update(p correlate.Progress) {
	m.state.Store(&p)
	m.bar.SetTotal(p.Total, false)
	m.bar.SetCurrent(min(p.Done, p.Total))
}

func (m *barMeter) done() {
	m.bar.Abort(true)
	m.pool.Wait()
}
