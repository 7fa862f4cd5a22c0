package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// salvage reads a file that is not sound: first what its tree still reaches,
// then every other page. If nothing is found, why is the error; it is nil for a
// sound file that another process has locked.
func (s *store) salvage(ctx context.Context, l layout, why, locked error) error {
	tree := l.pageSize != 0
	if !tree {
		size, ok := guessPageSize(s.file, l.size)
		if !ok {
			return damaged(why)
		}
		l.pageSize = size
	}
	s.info.PageSize = int(l.pageSize)
	told := len(s.info.Problems)
	v, err := s.walkTrees(ctx, l, tree)
	if err != nil {
		return err
	}
	changed := tree && s.committed(l)
	s.partial = s.partial || changed
	if err := s.carve(ctx, l, v.seen); err != nil {
		return err
	}
	if len(s.records)+len(s.carved) == 0 && why != nil {
		return damaged(why)
	}
	s.info.Salvaged = reason(why, locked, changed)
	s.info.Problems = slices.Insert(s.info.Problems, told, fmt.Sprintf("%s; %s", s.info.Salvaged, s.harvest(tree)))
	if v.found != nil {
		v.found.tell()
	}
	return nil
}

// walkTrees reads what the tree reaches. If the bucket meta is not among it, the
// tree of the transaction before is tried, which has most pages in common with
// it. Without a meta page there is no tree.
func (s *store) walkTrees(ctx context.Context, l layout, tree bool) (*verifier, error) {
	if !tree {
		s.partial = true
		s.info.Lost = []Range{{From: 1, Why: "no valid meta page: there is no tree to follow"}}
		return &verifier{}, nil
	}
	before := s.info
	v, err := s.walkTree(ctx, l)
	if err != nil || v.found.whole {
		return v, err
	}
	older := l
	older.meta, err = readMeta(s.file, (1-l.meta.page)*l.pageSize, 1-l.meta.page)
	if err != nil || older.meta.root == l.meta.root || older.meta.pageSize != l.pageSize {
		return v, nil
	}
	if err := s.startAnew(before); err != nil {
		return nil, err
	}
	if v, err = s.walkTree(ctx, older); err == nil && v.found.whole {
		s.info.TxID = older.meta.txid
		s.problem("the tree of transaction %d is damaged where it begins; that of transaction %d is used", l.meta.txid, older.meta.txid)
		return v, nil
	}
	if err := s.startAnew(before); err != nil {
		return nil, err
	}
	return s.walkTree(ctx, l)
}

// walkTree reads what the tree of one transaction reaches.
func (s *store) walkTree(ctx context.Context, l layout) (*verifier, error) {
	v := newVerifier(s.file, l, &s.meter)
	v.found = newFindings(ctx, s)
	if err := guard(func() error { return v.walk(ctx) }); err != nil {
		return nil, err
	}
	f := v.found
	f.scan.tell()
	s.settle()
	s.sortPlaces()
	s.info.Lost = f.ranges()
	f.whole = f.whole && f.keys
	s.partial = !f.whole
	return v, nil
}

// committed says whether a transaction was finished while the tree was read:
// pages of the one that was read are written over from the next on.
func (s *store) committed(l layout) bool {
	meta, _, err := chooseMeta(s.file, s.info.Size)
	return err != nil || meta.txid != l.meta.txid || meta.root != l.meta.root
}

// damaged calls a damage by its name.
func damaged(err error) error {
	if _, ok := errors.AsType[*damage](err); !ok {
		return err
	}
	return fmt.Errorf("damaged: %w", err)
}

// reason puts into words why a store is salvaged.
func reason(why, locked error, changed bool) string {
	var text string
	switch {
	case locked == nil:
		return damaged(why).Error()
	case errors.Is(locked, errNoLock):
		text = fmt.Sprintf("%s: it was read all the same", locked)
	case changed:
		text = fmt.Sprintf("%s: read while another process had it open and wrote to it, so the copy may be torn", locked)
	default:
		text = fmt.Sprintf("%s: read while another process had it open: the copy may be torn, though no transaction was finished meanwhile", locked)
	}
	if why == nil {
		return text
	}
	return fmt.Sprintf("%s; %s", text, damaged(why))
}

// harvest says what was read of the store.
func (s *store) harvest(tree bool) string {
	if !tree {
		return fmt.Sprintf("salvaged: %d revisions from its pages, which no tree connects any more", len(s.carved))
	}
	return fmt.Sprintf("salvaged: %d revisions of its tree and %d from pages outside it", len(s.records), len(s.carved))
}
