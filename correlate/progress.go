package correlate

import (
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

func newProgress(set *source.Set, tell func(Progress)) *progress {
	p := &progress{tell: tell}
	for _, f := range set.Files {
		p.now.Files++
		p.now.Total += f.Size
	}
	return p
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
