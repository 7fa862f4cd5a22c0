package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"etcd-autopsy/correlate"
)

// A manifest is what sha256sum writes and checks, with a remark before each line
// that says how long the file is and what it was taken for:
//
//	# 81920 snapshot
//	0123…cdef  incident/after.db
//
// sha256sum passes over the remarks.

// writeManifest writes a line for every input and entry whose bytes were read.
func writeManifest(w io.Writer, inputs []correlate.Input) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# SHA-256 of what was read; before each the bytes and the kind. Check it with: %s check INPUT... --manifest FILE\n", program)
	for _, in := range inputs {
		name := inputName(in)
		if in.SHA256 == "" {
			fmt.Fprintf(b, "# could not be read: %s\n", printable(name))
			continue
		}
		fmt.Fprintf(b, "# %d %s\n%s%s  %s\n", in.Bytes, in.Kind, escapeMark(name), in.SHA256, escapedName.Replace(name))
	}
	return b.Flush()
}

// escapedName writes a name as GNU sha256sum does if it holds a backslash or a line
// end; the line then begins with a backslash.
var escapedName = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)

func escapeMark(name string) string {
	if strings.ContainsAny(name, "\\\n\r") {
		return `\`
	}
	return ""
}

var plainName = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r")

// readManifest reads lines of a SHA-256 in hex, two characters, and a path, and
// passes over remarks.
func readManifest(file string) ([]correlate.ManifestLine, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("", "--manifest %s: %v", file, bare(err))
	}
	var out []correlate.ManifestLine
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, path, ok := strings.Cut(strings.TrimPrefix(line, `\`), " ")
		if raw, err := hex.DecodeString(sum); !ok || err != nil || len(raw) != 32 || len(path) < 2 {
			return nil, usagef("write it with: "+program+" inputs INPUT... --manifest FILE, or with: sha256sum FILE... > manifest",
				"--manifest %s: %q is no line of a SHA-256 and a path", file, line)
		}
		path = path[1:]
		if strings.HasPrefix(line, `\`) {
			path = plainName.Replace(path)
		}
		out = append(out, correlate.ManifestLine{Path: strings.TrimPrefix(path, "./"), SHA256: strings.ToLower(sum)})
	}
	return out, nil
}
