package correlate

import (
	"io"
	"sync"

	"etcd-autopsy/internal/source"
)

// progress adds up the bytes of all files; every file counts once for its digest
// and once for its contents if they are read as text.
type progress struct {
	mu   sync.Mutex
	now  Progress
	tell func(Progress)
}

func newProgress(set *source.Set, logs []*logFile, tell func(Progress)) *progress {
	p := &progress{tell: tell}
	for i, f := range set.Files {
		p.now.Files++
		p.now.Total += f.Size
		if logs[i] != nil {
			p.now.Total += f.Size
		}
	}
	return p
}

// counted counts what is read through it.
type counted struct {
	io.Reader
	p    *progress
	file string
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.p.add(c.file, int64(n))
	return n, err
}

// add counts n more bytes of a file.
func (p *progress) add(file string, n int64) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.File = file
	p.now.Done += n
	p.tell(p.now)
}

// finish counts a file as done.
func (p *progress) finish(file string) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.File = file
	p.now.FilesDone++
	p.tell(p.now)
}
