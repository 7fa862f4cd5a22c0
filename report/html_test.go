package report

import (
	"fmt"
	"strings"
	"testing"

	"etcd-autopsy/correlate"

	"golang.org/x/net/html"
)

// elements calls visit for every element of a page.
func elements(t *testing.T, page string, visit func(*html.Node)) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			visit(n)
		}
	}
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// knownElements is all that the templates use; anything else came from text.
var knownElements = strings.Fields(`html head meta title style body header main section nav figure figcaption div span p
	h1 h2 h3 h4 ul ol li dl dt dd table thead tbody tr th td a b strong small code details summary
	svg defs pattern symbol path circle rect line text use`)

// knownAttributes likewise.
var knownAttributes = strings.Fields(`lang charset name content id class href title data-label scope open role aria-label
	aria-hidden focusable width height viewbox viewBox patternUnits d x y x1 x2 y1 y2 cx cy r font-size text-anchor overflow`)

func TestHTMLHoldsOnlyWhatTheTemplatesWrite(t *testing.T) {
	elementSet, attributeSet := set(knownElements), set(knownAttributes)
	for _, s := range samples {
		elements(t, rendered(t, s.build(), HTML), func(n *html.Node) {
			if !elementSet[n.Data] {
				t.Errorf("%s: element <%s>", s.name, n.Data)
			}
			for _, a := range n.Attr {
				if !attributeSet[a.Key] {
					t.Errorf("%s: attribute %s of <%s>", s.name, a.Key, n.Data)
				}
			}
		})
	}
}

func set(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w] = true
	}
	return out
}

func TestHTMLLinksStayInside(t *testing.T) {
	for _, s := range samples {
		page := rendered(t, s.build(), HTML)
		ids := map[string]int{}
		elements(t, page, func(n *html.Node) {
			if id := attr(n, "id"); id != "" {
				ids[id]++
			}
		})
		for id, n := range ids {
			if n > 1 {
				t.Errorf("%s: %d elements have the ID %q", s.name, n, id)
			}
		}
		elements(t, page, func(n *html.Node) {
			for _, key := range []string{"href", "src", "action", "srcset", "xlink:href"} {
				to := attr(n, key)
				if to == "" {
					continue
				}
				if !strings.HasPrefix(to, "#") || ids[to[1:]] == 0 {
					t.Errorf("%s: %s %q of <%s> leads nowhere in the page", s.name, key, to, n.Data)
				}
			}
		})
	}
}

func TestHTMLCitationsLeadToTheirEvidence(t *testing.T) {
	a := imagePull()
	cited := 0
	elements(t, rendered(t, a, HTML), func(n *html.Node) {
		if n.Data == "a" && attr(n, "class") == "cite" {
			cited++
			if attr(n, "href") != "#"+n.FirstChild.Data {
				t.Errorf("citation %s leads to %s", n.FirstChild.Data, attr(n, "href"))
			}
		}
	})
	if cited < 20 {
		t.Errorf("only %d citations", cited)
	}
}

func TestHTMLFetchesNothing(t *testing.T) {
	for _, s := range samples {
		elements(t, rendered(t, s.build(), HTML), func(n *html.Node) {
			if n.Data == "style" {
				css := n.FirstChild.Data
				for _, bad := range []string{"@import", "http:", "https:", "//", "url(\"", "url(h"} {
					if strings.Contains(css, bad) {
						t.Errorf("%s: the style sheet has %s", s.name, bad)
					}
				}
			}
		})
	}
}

func TestHTMLTablesAreWhole(t *testing.T) {
	for _, s := range samples {
		elements(t, rendered(t, s.build(), HTML), func(n *html.Node) {
			if n.Data != "table" {
				return
			}
			want := -1
			for r := range n.Descendants() {
				if r.Data != "tr" {
					continue
				}
				got := 0
				for c := range r.ChildNodes() {
					if c.Type == html.ElementNode {
						got++
					}
				}
				if want < 0 {
					want = got
				}
				if got != want {
					t.Errorf("%s: a row of %d cells in a table of %d", s.name, got, want)
				}
			}
		})
	}
}

// TestHTMLSizeBound shows that megabytes of text do not become megabytes of report.
func TestHTMLSizeBound(t *testing.T) {
	for _, f := range []Format{HTML, Markdown} {
		if n := len(rendered(t, hostile(), f)); n > 400_000 {
			t.Errorf("the hostile sample is %d bytes of %s", n, f)
		}
	}
}

func TestNoControlCharacters(t *testing.T) {
	for _, f := range []Format{HTML, Markdown} {
		for i, r := range rendered(t, hostile(), f) {
			if r != '\n' && hidden(r) {
				t.Errorf("%s: %U at %d", f, r, i)
			}
		}
	}
}

// TestPictureTextsDoNotOverlap checks the finished picture of every sample.
func TestPictureTextsDoNotOverlap(t *testing.T) {
	for _, s := range samples {
		a, err := canonical(s.build())
		if err != nil {
			t.Fatal(err)
		}
		var boxes []box
		var texts []string
		for _, p := range newDocument(a, Options{}).Timeline.Texts {
			b := boxOf(t, p)
			for i, o := range boxes {
				if b.meets(o) {
					t.Errorf("%s: %q and %q overlap", s.name, p.Text, texts[i])
				}
			}
			if b.Left < -1 || b.Right > pictureWidth+1 {
				t.Errorf("%s: %q leaves the picture: %v", s.name, p.Text, b)
			}
			boxes, texts = append(boxes, b), append(texts, p.Text)
		}
	}
}

func boxOf(t *testing.T, p pictureText) box {
	t.Helper()
	var x, y, size float64
	if _, err := fmt.Sscan(p.X+" "+p.Y+" "+p.Size, &x, &y, &size); err != nil {
		t.Fatal(err)
	}
	return label{Text: p.Text, Size: size}.boxAt(spot{x, y, anchor(p.Anchor)})
}

func TestManyThingsStayReadable(t *testing.T) {
	a := quorumLoss()
	a.Signals = burstsOf(at("04:12:09"), 5000)
	for i := range 3000 {
		p := a.Points[i%8]
		p.Name = fmt.Sprint("pod-", i)
		a.Points = append(a.Points, p)
		a.Writes = append(a.Writes, a.Writes[0])
		a.Rollouts = append(a.Rollouts, correlate.Rollout{ID: fmt.Sprint("deployment/x/y#", i), Outcome: correlate.Complete, Start: at("04:13:00")})
	}
	page := rendered(t, a, HTML)
	if len(page) > 600_000 {
		t.Errorf("%d bytes", len(page))
	}
	for _, want := range []string{"more failed writes left out", "more rollouts left out", "later writes left out", "less telling rows left out"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing", want)
		}
	}
}
