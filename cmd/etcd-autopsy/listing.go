package main

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"sigs.k8s.io/yaml"
)

// listing is how the rows of a list command are printed, after kubectl's -o.
type listing[T any] struct {
	columns []column[T]
	// name is the row's name for -o name; nil if rows have none.
	name func(T) string
}

// listFormats are the values of -o that a listing may have.
var listFormats = []string{"table", "wide", "name", "json", "jsonl", "yaml"}

// formats lists the values of -o that this listing has.
func (l listing[T]) formats() []string {
	wide := slices.ContainsFunc(l.columns, func(c column[T]) bool { return c.wide })
	return slices.DeleteFunc(slices.Clone(listFormats), func(f string) bool {
		return f == "wide" && !wide || f == "name" && l.name == nil
	})
}

// listFlags say in which format a list is printed.
type listFlags struct{ output string }

func (f *listFlags) flag(formats []string) cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Destination: &f.output, Value: formats[0],
		Usage: "`" + strings.Join(formats, "|") + "` format of the list; " + formats[0] + " by default"}
}

// check refuses a format that the command does not have.
func (f *listFlags) check(formats []string) error {
	if slices.Contains(formats, f.output) {
		return nil
	}
	hint := "formats are " + strings.Join(formats, ", ")
	if strings.ContainsAny(f.output, "./") {
		hint += fmt.Sprintf("; to write a file, redirect stdout: > %s", f.output)
	}
	return usagef(hint, "-o %q: unknown format", f.output)
}

// print writes the rows in a format that check has allowed.
func (l listing[T]) print(w io.Writer, format string, rows iter.Seq[T]) error {
	switch format {
	case "name":
		return l.printNames(w, rows)
	case "json":
		return printArray(w, rows)
	case "jsonl":
		return printLines(w, rows)
	case "yaml":
		return printYAML(w, rows)
	}
	return printTable(w, l.columns, format == "wide", rows)
}

func (l listing[T]) printNames(w io.Writer, rows iter.Seq[T]) error {
	for row := range rows {
		if _, err := fmt.Fprintln(w, printable(l.name(row))); err != nil {
			return err
		}
	}
	return nil
}

// printLines writes one JSON object a line.
func printLines[T any](w io.Writer, rows iter.Seq[T]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for row := range rows {
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// printArray writes a JSON array, a row at a time so that none need be held.
func printArray[T any](w io.Writer, rows iter.Seq[T]) error {
	before := "[\n "
	for row := range rows {
		b, err := encode(row, " ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, b); err != nil {
			return err
		}
		before = ",\n "
	}
	end := "\n]\n"
	if strings.HasPrefix(before, "[") {
		end = "[]\n"
	}
	_, err := io.WriteString(w, end)
	return err
}

// printYAML writes a YAML list, a row at a time.
func printYAML[T any](w io.Writer, rows iter.Seq[T]) error {
	some := false
	for row := range rows {
		some = true
		b, err := yaml.Marshal([]T{row})
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if some {
		return nil
	}
	_, err := io.WriteString(w, "[]\n")
	return err
}

// encode is indented JSON without HTML escapes and without a line end.
func encode(v any, prefix string) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, " ")
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
