// Package source opens what was named on the command line (files, folders,
// standard input) as a flat, ordered list of labelled, re-openable streams. It
// says what each one looks like by content and knows nothing of what they hold.
package source
