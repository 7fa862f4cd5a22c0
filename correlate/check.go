package correlate

import (
	"context"

	"etcd-autopsy/internal/source"
	"etcd-autopsy/snapshot"
)

// CheckRow is a line of `check`: one thing that was looked at.
type CheckRow struct {
	// Input and Source name the file; both are empty for what concerns several.
	Input  string `json:"input"`
	Source string `json:"source"`
	Check  string `json:"check"`
	// Status is ok, fault or could-not-check.
	Status string `json:"status"`
	Text   string `json:"text"`
	// Where is the place of a fault, empty if it has none.
	Where string `json:"where"`
}

// Fault says whether the check found something wrong.
func (r CheckRow) Fault() bool { return r.Status == snapshot.CheckFault.String() }

// Check checks every store by itself, what there is of WALs, every manifest line,
// and the members against each other. want maps the paths of a manifest to their
// SHA-256 in hex; it may be nil. The error is only ever that of a cancelled context.
func (c *Case) Check(ctx context.Context, want []ManifestLine) ([]CheckRow, error) {
	var out []CheckRow
	for i, f := range c.set.Files {
		in := &c.inputs[i]
		switch in.Kind {
		case kindSnapshot, kindMember:
			if f.Kind == source.KindSnap {
				continue
			}
			for _, l := range snapshot.Check(ctx, snapshot.File{Input: f.Input, Path: f.Path, OSPath: f.OSPath}, c.storeOptions()) {
				out = append(out, CheckRow{Input: f.Input, Source: f.Path, Check: l.Name, Status: l.Status.String(), Text: l.Text, Where: l.Where})
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for i, w := range c.hist.WALs() {
		for _, l := range snapshot.CheckWAL(c.hist, i) {
			out = append(out, CheckRow{Input: w.Input, Source: w.Path, Check: l.Name, Status: l.Status.String(), Text: l.Text, Where: l.Where})
		}
	}
	hashes, err := c.checkHashes(ctx)
	if err != nil {
		return nil, err
	}
	out = append(out, hashes...)
	for _, l := range snapshot.CheckMembers(c.hist) {
		out = append(out, CheckRow{Check: l.Name, Status: l.Status.String(), Text: l.Text, Where: l.Where})
	}
	return append(out, c.checkManifest(want)...), nil
}

// ManifestLine is a file that a manifest lists.
type ManifestLine struct{ Path, SHA256 string }

// checkManifest compares the digests of the inputs with a manifest, as `sha256sum`
// writes it. A path matches the file that it ends with, or that ends with it.
func (c *Case) checkManifest(want []ManifestLine) []CheckRow {
	var out []CheckRow
	listed := make([]bool, len(c.inputs))
	for _, w := range want {
		row := CheckRow{Source: w.Path, Check: "manifest", Status: snapshot.CheckUnknown.String(), Text: "the manifest lists it, and no such file was given"}
		for i := range c.inputs {
			in := &c.inputs[i]
			if !samePath(join(in.Label, in.Path), w.Path) {
				continue
			}
			row.Input, row.Source, listed[i] = in.Label, in.Path, true
			if in.SHA256 == w.SHA256 {
				row.Status, row.Text = snapshot.CheckOK.String(), "its SHA-256 is that of the manifest"
			} else {
				row.Status, row.Text = snapshot.CheckFault.String(), "its SHA-256 is "+in.SHA256+", the manifest has "+w.SHA256
			}
			break
		}
		out = append(out, row)
	}
	for i := range c.inputs {
		if in := &c.inputs[i]; len(want) > 0 && !listed[i] {
			out = append(out, CheckRow{Input: in.Label, Source: in.Path, Check: "manifest", Status: snapshot.CheckUnknown.String(), Text: "the manifest does not list it"})
		}
	}
	return out
}

// samePath says whether one of two paths is the other's end, at a folder's border.
func samePath(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || len(b) > 0 && len(a) > len(b) && a[len(a)-len(b):] == b && a[len(a)-len(b)-1] == '/'
}
