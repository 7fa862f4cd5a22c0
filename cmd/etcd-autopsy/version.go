package main

import (
	"fmt"
	"io"
	"runtime/debug"
)

// version is set by the Makefile; empty in a plain go build or go install.
var version string

// programVersion is the version for --version and for reports.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s %s\n", program, programVersion())
	return err
}
