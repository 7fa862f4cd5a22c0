package snapshot

import "sync"

// progress adds up what is done of all files.
type progress struct {
	mu     sync.Mutex
	done   int64
	report func(done int64)
}

func (p *progress) add(n int64) {
	if p.report == nil || n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	p.report(p.done)
}

// meterStep is how many bytes of a file are done between two reports.
const meterStep = 1 << 20

// meter counts what is done of one file, never more than its size.
type meter struct {
	mu          sync.Mutex
	total       *progress
	size        int64
	counted     int64
	notReported int64
}

// add counts n bytes that were read.
func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n = min(n, m.size-m.counted)
	m.counted += n
	m.notReported += n
	if m.notReported >= meterStep {
		m.flush()
	}
}

// finish counts the rest of the file, which is not going to be read.
func (m *meter) finish() {
	m.add(m.size)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flush()
}

func (m *meter) flush() {
	m.total.add(m.notReported)
	m.notReported = 0
}
