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
	files atomic.Pointer[correlate.Progress]
}

func newBarMeter(w *os.File) *barMeter {
	m := &barMeter{pool: mpb.New(mpb.WithOutput(w), mpb.WithRefreshRate(100*time.Millisecond), mpb.WithAutoRefresh())}
	m.files.Store(&correlate.Progress{})
	m.bar = m.pool.New(0, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(
			decor.Any(func(decor.Statistics) string {
				p := m.files.Load()
				return fmt.Sprintf("%d of %d files ", p.FilesDone, p.Files)
			}),
		),
		mpb.AppendDecorators(
			decor.CountersKiloByte("% .1f / % .1f"),
			decor.Name(", "),
			decor.AverageSpeed(decor.SizeB1000(0), "% .1f"),
			decor.Name(", "),
			decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), "0s"),
			decor.Name(" left"),
		))
	return m
}

func (m *barMeter) update(p correlate.Progress) {
	m.files.Store(&p)
	m.bar.SetTotal(p.Total, false)
	m.bar.SetCurrent(min(p.Done, p.Total))
}

func (m *barMeter) done() {
	m.bar.Abort(true)
	m.pool.Wait()
}
