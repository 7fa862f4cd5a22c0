package report

// spanKind is how a piece of text is set.
type spanKind string

const (
	spanText   spanKind = "text"
	spanStrong spanKind = "strong"
	spanCode   spanKind = "code"
	// spanNote is smaller text on a line of its own, in parentheses where a
	// format has no second line.
	spanNote spanKind = "note"
	// spanLink points at an anchor of the document.
	spanLink spanKind = "link"
	// spanCite is a link to a row of evidence, set in brackets.
	spanCite spanKind = "cite"
	// spanMark is a word of a fixed vocabulary, set with its class.
	spanMark spanKind = "mark"
	// spanGap is the space before what follows.
	spanGap spanKind = "gap"
)

// span is a piece of printable text.
type span struct {
	Kind  spanKind
	Text  string
	Href  string
	Title string
	Class string
}

// phrase is a line of text in pieces.
type phrase []span

func text(s string) phrase         { return phrase{{Kind: spanText, Text: prose(s)}} }
func strong(s string) phrase       { return phrase{{Kind: spanStrong, Text: prose(s)}} }
func code(s string) phrase         { return phrase{{Kind: spanCode, Text: verbatim(s)}} }
func codeName(s string) phrase     { return phrase{{Kind: spanCode, Text: name(s)}} }
func note(s string) phrase         { return phrase{{Kind: spanNote, Text: prose(s)}} }
func mark(s, class string) phrase  { return phrase{{Kind: spanMark, Text: prose(s), Class: class}} }
func link(s, anchor string) phrase { return phrase{{Kind: spanLink, Text: name(s), Href: anchor}} }

// join puts phrases one after another with a space between those that say
// something.
func join(parts ...phrase) phrase {
	var out phrase
	for _, p := range parts {
		if len(p) == 0 {
			continue
		}
		if len(out) > 0 && p[0].Kind != spanNote {
			out = append(out, span{Kind: spanGap, Text: " "})
		}
		out = append(out, p...)
	}
	return out
}

// list adds an item to a list with commas.
func list(p, item phrase) phrase {
	if len(p) == 0 {
		return item
	}
	return join(append(p[:len(p):len(p)], span{Kind: spanText, Text: ","}), item)
}

// column is the head of a table column.
type column struct {
	Title string
	// Class sets the column: num for numbers, wide for text that wraps.
	Class string
}

// cell is one place of a table.
type cell struct {
	Text phrase
	// Anchor is the ID by which links reach the row; only in the first cell.
	Anchor string
}

// Class is the column's class, with none for a cell that says nothing.
func (c cell) Class(col column) string {
	blank := len(c.Text) == 0 || (len(c.Text) == 1 && c.Text[0].Text == "–")
	switch {
	case !blank:
		return col.Class
	case col.Class == "":
		return "none"
	}
	return col.Class + " none"
}

// table is a table with a head; every row has as many cells as there are columns.
type table struct {
	// Class sets the table; stack turns rows into blocks on a narrow screen.
	Class string
	Cols  []column
	Rows  []row
	// Empty is the sentence that stands in place of a table without rows.
	Empty phrase
	// Note says below the table what was left out.
	Note phrase
}

// row is a line of a table.
type row struct {
	Class string
	Cells []cell
}

func cells(parts ...phrase) []cell {
	out := make([]cell, len(parts))
	for i, p := range parts {
		out[i] = cell{Text: p}
	}
	return out
}
