package replay

import (
	"bytes"
	"cmp"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// holds says whether a compare holds, and of which key that was found (etcd v3.7
// server/etcdserver/txn/txn.go, applyCompare): all live keys of a range have to
// satisfy it, and where there is none, a key of zeros without a value.
func (m *Machine) holds(c *Compare) (held bool, found KeyState) {
	held, any := true, false
	m.keys.each(c.Key, c.RangeEnd, func(k *KeyState) bool {
		held = m.keyHolds(c, k)
		if !any || !held {
			found, any = *k, true
		}
		return held
	})
	if any {
		return held, found
	}
	return c.Target != pb.Compare_VALUE && m.keyHolds(c, &found), found
}

// keyHolds says whether a compare holds for a live key.
func (m *Machine) keyHolds(c *Compare, k *KeyState) bool {
	switch c.Target {
	case pb.Compare_VALUE:
		value, known := m.value(k)
		return known && c.satisfied(bytes.Compare(value, c.Value))
	case pb.Compare_VERSION, pb.Compare_CREATE, pb.Compare_MOD, pb.Compare_LEASE:
		return c.satisfied(cmp.Compare(k.number(c.Target), c.Number))
	default: // one that this etcd does not know
		return c.satisfied(0)
	}
}

// satisfied says whether an order of what is found and what is asked for is the
// one asked for.
func (c *Compare) satisfied(order int) bool {
	switch c.Result {
	case pb.Compare_EQUAL:
		return order == 0
	case pb.Compare_NOT_EQUAL:
		return order != 0
	case pb.Compare_GREATER:
		return order > 0
	case pb.Compare_LESS:
		return order < 0
	default:
		return true
	}
}

// value asks for the value of a live key. One that is not known puts all that
// follows in doubt.
func (m *Machine) value(k *KeyState) (value []byte, known bool) {
	if m.options.Values != nil {
		value, err := m.options.Values(k.Key, k.Mod)
		if err == nil {
			return value, true
		}
	}
	m.doubts |= DoubtValue
	return nil, false
}
