package replay

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// alarmed says whether an alarm that is in force forbids a request (etcd v3.7
// server/etcdserver/apply/capped.go and corrupt.go).
func (m *Machine) alarmed(r *Request) Rejection {
	if m.corrupt {
		switch r.Kind {
		case KindPut, KindDeleteRange, KindTxn, KindRange, KindCompaction, KindLeaseGrant, KindLeaseRevoke:
			return Corrupt
		}
	}
	if m.noSpace {
		switch {
		case r.Kind == KindPut, r.Kind == KindLeaseGrant, r.Kind == KindTxn && m.costs(&r.Txn):
			return NoSpace
		}
	}
	return NotRejected
}

// costs says whether a txn might need space: it has a put, be it in the branch
// that is not taken.
func (m *Machine) costs(t *Txn) bool {
	for _, ops := range [][]Op{t.Success, t.Failure} {
		for i := range ops {
			switch op := &ops[i]; {
			case op.Kind == OpPut, op.Kind == OpTxn && !m.options.Rules.NestedPutsFree && m.costs(op.Txn):
				return true
			}
		}
	}
	return false
}

// setAlarm raises or disarms an alarm.
func (m *Machine) setAlarm(r AlarmRequest) {
	before := m.count(r.Type)
	switch {
	case r.Action == pb.AlarmRequest_ACTIVATE && r.Type != pb.AlarmType_NONE:
		m.alarms[r.Alarm] = true
	case r.Action == pb.AlarmRequest_DEACTIVATE:
		delete(m.alarms, r.Alarm)
	}
	after := m.count(r.Type)
	switch {
	case !m.options.Rules.LastAlarmRules:
		m.enforceAll()
	case before == 0 && after > 0:
		m.noSpace, m.corrupt = r.Type == pb.AlarmType_NOSPACE, r.Type == pb.AlarmType_CORRUPT
	case before > 0 && after == 0:
		m.noSpace, m.corrupt = false, false
	}
}

// count returns how many members have raised an alarm of a type.
func (m *Machine) count(t pb.AlarmType) int {
	n := 0
	for a := range m.alarms {
		if a.Type == t {
			n++
		}
	}
	return n
}

// enforceAll puts all alarms in force, as a start of etcd does.
func (m *Machine) enforceAll() {
	m.noSpace, m.corrupt = m.count(pb.AlarmType_NOSPACE) > 0, m.count(pb.AlarmType_CORRUPT) > 0
}
