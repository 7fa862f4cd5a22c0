package logparse

import "sync"

// format is one way to write a line.
type format struct {
	name Format
	// first are the bytes that such a line begins with, as in framing.
	first string
	// claims says from its start whether a line is written so, however broken
	// its end may be.
	claims func(text string) bool
	// read fills a record from its first line.
	read func(s *stream, r *row, rec *Record)
	// finish completes a record whose message may span lines; nil if a line is a
	// record.
	finish func(s *stream, rec *Record)
	// distinct says that no other text begins so: it is known behind a prefix too.
	distinct bool
	// late says that some wrappers look the same, which are asked first.
	late bool
	// object says that a line is one JSON object, so that it shows whether it ends.
	object bool
}

// formats are asked in this order; a line that none claims is plain.
var formats = []format{
	{name: FormatKlog, first: "IWEF", claims: claimsKlog, read: readKlog, finish: finishKlog, distinct: true},
	{name: FormatZapJSON, first: "{", claims: claimsZap, read: readZap, distinct: true, object: true},
	{name: FormatAudit, first: "{", claims: claimsAudit, read: readAudit, distinct: true, object: true},
	{name: FormatKlogJSON, first: "{", claims: claimsKlogJSON, read: readKlogJSON, distinct: true, object: true},
	{name: FormatJSON, first: "{", claims: claimsJSON, read: readJSON, object: true, late: true},
	{name: FormatCapnslog, first: "d", claims: claimsCapnslog, read: readCapnslog, distinct: true},
	{name: FormatZapConsole, first: "d", claims: claimsConsole, read: readConsole, distinct: true},
	{name: FormatGoLog, first: "dar", claims: claimsGoLog, read: readGoLog},
	{name: FormatLogrus, first: "t", claims: claimsLogrus, read: readLogrus, distinct: true, late: true},
	{name: FormatLogrus, first: "TDIWEFP", claims: claimsLogrusTTY, read: readLogrusTTY},
	{name: FormatPanic, first: "pfgSP", claims: claimsPanic, read: readPanic, finish: finishPanic},
	{name: FormatKlog, first: "a", claims: claimsKlogBare, read: readKlogBare, finish: finishKlog},
}

// formatsBy lists the formats by the first byte of a line.
var formatsBy = sync.OnceValue(func() *[256][]*format {
	var by [256][]*format
	for i := range formats {
		for c := range 256 {
			if beginsSo(formats[i].first, byte(c)) {
				by[c] = append(by[c], &formats[i])
			}
		}
	}
	return &by
})

// formatOf returns the format that claims a line, nil for plain text.
func formatOf(text string) *format {
	if text == "" {
		return nil
	}
	for _, f := range formatsBy()[text[0]] {
		if f.claims(text) {
			return f
		}
	}
	return nil
}
