package replay

// txn applies a transaction (etcd v3.7 server/etcdserver/txn/txn.go, Txn): which
// branches are taken is settled before anything is done, and so is whether all
// their operations can be.
func (m *Machine) txn(o *Outcome) {
	t := &m.request.Txn
	m.path = m.choose(t, m.path[:0])
	o.Succeeded = m.path[0]
	if !o.Succeeded {
		o.Compares = m.explain(t)
	}
	if _, o.Rejected = m.check(t, m.path); o.Rejected != NotRejected {
		return
	}
	m.execute(t, m.path)
	if !o.Succeeded && len(m.changes) == 0 {
		o.Rejected = CompareFailed
	}
}

// choose appends the branch that a txn takes, and those of the txns in it.
func (m *Machine) choose(t *Txn, path []bool) []bool {
	success := true
	for i := range t.Compares {
		if success, _ = m.holds(&t.Compares[i]); !success {
			break
		}
	}
	path = append(path, success)
	for ops := t.branch(success); len(ops) > 0; ops = ops[1:] {
		if ops[0].Kind == OpTxn {
			path = m.choose(ops[0].Txn, path)
		}
	}
	return path
}

// branch returns the operations of a branch.
func (t *Txn) branch(success bool) []Op {
	if success {
		return t.Success
	}
	return t.Failure
}

// explain says what each compare of a failed txn found.
func (m *Machine) explain(t *Txn) []CompareResult {
	m.compares = emptied(m.compares)
	for i := range t.Compares {
		c := &t.Compares[i]
		held, found := m.holds(c)
		m.compares = append(m.compares, CompareResult{Compare: c, Held: held, Found: found})
	}
	return m.compares
}

// check says whether the operations of the path can be done, and returns the
// rest of the path.
func (m *Machine) check(t *Txn, path []bool) ([]bool, Rejection) {
	ops, path := t.branch(path[0]), path[1:]
	for i := range ops {
		var rejected Rejection
		switch op := &ops[i]; op.Kind {
		case OpRange:
			rejected = m.checkRange(op)
		case OpPut:
			rejected = m.checkPut(op)
		case OpTxn:
			path, rejected = m.check(op.Txn, path)
		}
		if rejected != NotRejected {
			return path, rejected
		}
	}
	return path, NotRejected
}

// execute does the operations of the path and returns the rest of it.
func (m *Machine) execute(t *Txn, path []bool) []bool {
	ops, path := t.branch(path[0]), path[1:]
	for i := range ops {
		switch op := &ops[i]; op.Kind {
		case OpPut:
			m.put(op)
		case OpDeleteRange:
			m.deleteRange(op)
		case OpTxn:
			path = m.execute(op.Txn, path)
		}
	}
	return path
}

// checkRange says whether a read in a txn is of a revision that is there.
func (m *Machine) checkRange(o *Op) Rejection {
	switch {
	case o.Revision == 0:
		return NotRejected
	case o.Revision > m.revision:
		return FutureRevision
	case o.Revision < m.compacted:
		return Compacted
	}
	return NotRejected
}
