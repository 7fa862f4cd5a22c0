package logparse

// format is one way to write a line.
type format struct {
	name Format
	// claims says from its start whether a line is written so, however broken
	// its end may be.
	claims func(text string) bool
	// read fills a record from its first line.
	read func(s *stream, text string, rec *Record)
	// finish completes a record whose message may span lines; nil if a line is a
	// record.
	finish func(rec *Record)
}

// formats are asked in this order; a line that none claims is plain.
var formats = []format{
	{FormatKlog, claimsKlog, readKlog, finishKlog},
	{FormatZapJSON, claimsZap, readZap, nil},
	{FormatAudit, claimsAudit, readAudit, nil},
}

// formatOf returns the format that claims a line, nil for plain text.
func formatOf(text string) *format {
	for i := range formats {
		if formats[i].claims(text) {
			return &formats[i]
		}
	}
	return nil
}

func formatNamed(name Format) *format {
	for i := range formats {
		if formats[i].name == name {
			return &formats[i]
		}
	}
	return nil
}
