package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"etcd-autopsy/correlate"
)

// ErrNoReport is returned by ReadJSON for JSON that is no saved report.
var ErrNoReport = errors.New("not a saved etcd-autopsy report: it has no schemaVersion")

// ReadJSON reads a saved JSON report. Fields it does not know are ignored, a
// schema version later than its own is an error.
func ReadJSON(r io.Reader) (*correlate.Analysis, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if err := checkVersion(data); err != nil {
		return nil, err
	}
	a := new(correlate.Analysis)
	if err := json.Unmarshal(data, a); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	fillSlices(reflect.ValueOf(a).Elem())
	return a, nil
}

// checkVersion looks at the version alone, since the rest of a later report
// need not fit the types of this one.
func checkVersion(data []byte) error {
	var head struct {
		SchemaVersion *int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("read report: %w", err)
	}
	switch v := head.SchemaVersion; {
	case v == nil || *v < 1:
		return ErrNoReport
	case *v > correlate.SchemaVersion:
		return fmt.Errorf("report has schema version %d; this version reads up to %d: render it with the etcd-autopsy that wrote it, or a later one",
			*v, correlate.SchemaVersion)
	}
	return nil
}

// canonical returns a copy of the analysis as its JSON form holds it: invalid
// UTF-8 replaced, instants without zone names, empty slices instead of null.
// Every format starts from it, so that a saved report renders to the same bytes.
func canonical(a *correlate.Analysis) (*correlate.Analysis, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode analysis: %w", err)
	}
	c := new(correlate.Analysis)
	if err := json.Unmarshal(data, c); err != nil {
		return nil, fmt.Errorf("encode analysis: %w", err)
	}
	fillSlices(reflect.ValueOf(c).Elem())
	return c, nil
}

// fillSlices replaces every nil slice that v reaches by an empty one.
func fillSlices(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillSlices(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fillSlices(f)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillSlices(v.Index(i))
		}
	}
}

func renderJSON(w io.Writer, a *correlate.Analysis, _ Options) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(a)
}
