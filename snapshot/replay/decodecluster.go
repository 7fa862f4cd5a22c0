package replay

// Field numbers in this file are those of etcd v3.7 api/membershippb/membership.proto.

// clusterVersion decodes a ClusterVersionSetRequest.
func (d *decoder) clusterVersion(r *Request, w wire) {
	for w.next() {
		if w.isBytes(1) {
			r.ClusterVersion = string(w.bytes())
		}
	}
	d.done(&w)
}

// memberAttributes decodes a ClusterMemberAttrSetRequest.
func (d *decoder) memberAttributes(m *MemberAttributes, w wire) {
	for w.next() {
		switch {
		case w.isNumber(1):
			m.ID = w.varint
		case w.isBytes(2):
			d.attributes(m, w.message())
		}
	}
	d.done(&w)
}

// attributes decodes membershippb.Attributes.
func (d *decoder) attributes(m *MemberAttributes, w wire) {
	for w.next() {
		switch {
		case w.isBytes(1):
			m.Name = string(w.bytes())
		case w.isBytes(2) && d.count():
			m.ClientURLs = append(m.ClientURLs, string(w.bytes()))
		}
	}
	d.done(&w)
}

// downgrade decodes a DowngradeInfoSetRequest.
func (d *decoder) downgrade(g *Downgrade, w wire) {
	for w.next() {
		switch {
		case w.isNumber(1):
			g.Enabled = w.varint != 0
		case w.isBytes(2):
			g.Version = string(w.bytes())
		}
	}
	d.done(&w)
}
