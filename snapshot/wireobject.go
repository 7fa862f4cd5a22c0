package snapshot

// WireObject is a stored protobuf object of whose fields only numbers are known.
type WireObject struct {
	// APIVersion and Kind are what the value says of itself.
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Fields are those of the object; field 1 is its ObjectMeta (apimachinery
	// pkg/apis/meta/v1/generated.proto), which Object decodes.
	Fields []WireField `json:"fields"`
}

// Wire decodes the object that revision i stored without knowing its kind: for
// those of which Object has only the metadata. Errors are those of Plain,
// ErrTombstone, and a *DecodeError for what is not protobuf or damaged.
func (h *History) Wire(i int) (*WireObject, error) {
	if h.revisions[i].tombstone() {
		return nil, ErrTombstone
	}
	value, err := h.Plain(i)
	if err != nil {
		return nil, err
	}
	return DecodeWire(value)
}

// DecodeWire is History.Wire of a value. With more fields than DumpFields dumps,
// there are the first ones and an error.
func DecodeWire(value []byte) (*WireObject, error) {
	if e := encrypted(value); e != nil {
		return nil, e
	}
	o := &WireObject{}
	err := guard(func() error {
		u, err := envelope(value)
		if err != nil {
			return err
		}
		o.APIVersion, o.Kind = u.APIVersion, u.Kind
		o.Fields, err = DumpFields(u.Raw)
		return err
	})
	if err == nil {
		return o, nil
	}
	wrong := &DecodeError{Encoding: "protobuf", APIVersion: o.APIVersion, Kind: o.Kind, Reason: err.Error()}
	if err == errWireFields {
		return o, wrong
	}
	return nil, wrong
}
