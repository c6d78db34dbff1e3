package browser

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
)

// heard is a part of a page in the form that a screen reader gets from the browser.
type heard struct {
	Role, Name, Description, URL, Live string
	Level                              int
	Focusable                          bool
	Depth                              int
	Parts                              []*heard
}

// listen reads the page like a screen reader, with all details opened, and reports what its user
// would miss. The text goes to $COSKETCH_SCREENSHOTS.
func (b *tab) listen(name string) {
	b.t.Helper()
	eval[bool](b, "[...document.querySelectorAll('details:not([open])')].forEach(d => { d.open = true; d.dataset.shut = 1 }) || true")
	root := b.tree()
	controls := eval[int](b, reached)
	eval[bool](b, "[...document.querySelectorAll('details[data-shut]')].forEach(d => { d.open = false; delete d.dataset.shut }) || true")
	if dir := os.Getenv("COSKETCH_SCREENSHOTS"); dir != "" {
		var text strings.Builder
		for one := range root.all {
			fmt.Fprintf(&text, "%s%s %q", strings.Repeat("  ", one.Depth), one.Role, one.Name)
			if one.Description != "" {
				fmt.Fprintf(&text, " described as %q", one.Description)
			}
			fmt.Fprintln(&text)
		}
		check(b.t, os.WriteFile(filepath.Join(dir, name+"-heard.txt"), []byte(text.String()), 0o644))
	}
	if eval[bool](b, "!!document.querySelector('main[data-poll]')") && !root.polite() {
		b.t.Errorf("%s, heard: the page changes by itself, and says so in no status region", name)
	}
	for _, problem := range root.problems(controls) {
		b.t.Errorf("%s, heard: %s", name, problem)
	}
}

// reached counts the stops of the Tab key.
const reached = `[...document.querySelectorAll("a[href],button,input:not([type=hidden]),summary,[tabindex]")].filter(e => e.checkVisibility()).length`

// tree is the browser's accessibility tree without ignored nodes.
func (b *tab) tree() *heard {
	b.t.Helper()
	answer, err := chromedp.Call(b.ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	check(b.t, err)
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range answer.Nodes {
		nodes[n.NodeID] = n
	}
	var read func(n *accessibility.Node, to *heard)
	read = func(n *accessibility.Node, to *heard) {
		if n == nil {
			return
		}
		if !n.Ignored {
			one := newHeard(n, to.Depth+1)
			to.Parts = append(to.Parts, one)
			to = one
		}
		for _, id := range n.ChildIDs {
			read(nodes[id], to)
		}
	}
	above := &heard{Depth: -1}
	read(answer.Nodes[0], above)
	if len(above.Parts) != 1 || above.Parts[0].Role != "RootWebArea" {
		b.t.Fatalf("the page has no accessibility tree: %+v", above)
	}
	return above.Parts[0]
}

func newHeard(n *accessibility.Node, depth int) *heard {
	out := &heard{Depth: depth}
	for _, field := range []struct {
		from *accessibility.Value
		to   any
	}{{n.Role, &out.Role}, {n.Name, &out.Name}, {n.Description, &out.Description}} {
		if field.from != nil {
			json.Unmarshal(field.from.Value, field.to) // a value of another type stays empty, which is noticed
		}
	}
	for _, p := range n.Properties {
		switch p.Name {
		case accessibility.PropertyNameLevel:
			json.Unmarshal(p.Value.Value, &out.Level)
		case accessibility.PropertyNameFocusable:
			json.Unmarshal(p.Value.Value, &out.Focusable)
		case accessibility.PropertyNameURL:
			json.Unmarshal(p.Value.Value, &out.URL)
		case accessibility.PropertyNameLive:
			json.Unmarshal(p.Value.Value, &out.Live)
		}
	}
	out.Name, out.Description = strings.TrimSpace(out.Name), strings.TrimSpace(out.Description)
	return out
}

// all iterates over a part and its contents, in reading order.
func (h *heard) all(yield func(*heard) bool) {
	var visit func(*heard) bool
	visit = func(one *heard) bool {
		return yield(one) && !slices.ContainsFunc(one.Parts, func(part *heard) bool { return !visit(part) })
	}
	visit(h)
}

// count returns the number of parts with one of these roles.
func (h *heard) count(roles ...string) (n int) {
	for one := range h.all {
		if slices.Contains(roles, one.Role) {
			n++
		}
	}
	return n
}

// bare are the roles that need no name of their own: text and containers. Every other part must
// have a name.
var bare = []string{"RootWebArea", "banner", "main", "contentinfo", "generic", "none", "paragraph", "list", "listitem", "ListMarker", "StaticText", "InlineTextBox", "LineBreak",
	"strong", "emphasis", "code", "time", "superscript", "subscript", "DescriptionList", "DescriptionListTerm", "DescriptionListDetail", "term", "definition", "Pre", "Details", "Section", "LabelText",
	"group", "rowgroup", "row", "cell", "caption", "Figcaption", "Legend", "Abbr", "status", "alert", "form"}

// polite reports whether there is a status region, whose changes are announced in a pause.
func (h *heard) polite() bool {
	for one := range h.all {
		if one.Role == "status" && one.Live == "polite" {
			return true
		}
	}
	return false
}

// problems lists what a listener would miss; controls is the number of controls to be reached.
func (h *heard) problems(controls int) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, landmark := range []string{"banner", "main", "contentinfo"} {
		if n := h.count(landmark); n != 1 {
			say("%d landmarks %q", n, landmark)
		}
	}
	level, leads := 0, map[string]string{}
	for one := range h.all {
		if one.Name == "" && (!slices.Contains(bare, one.Role) || one.Focusable && one.Role != "RootWebArea") {
			say("a %s has no name", one.Role)
		}
		if one.Focusable {
			controls--
		}
		switch one.Role {
		case "RootWebArea":
			if one.Name == "" {
				say("the page has no title")
			}
		case "heading":
			if one.Level > level+1 || one.Level == 1 && level != 0 {
				say("heading %q of level %d follows one of level %d", one.Name, one.Level, level)
			}
			level = one.Level
		case "link":
			if to, ok := leads[one.Name]; ok && to != one.URL {
				say("two links are called %q, to %s and %s", one.Name, to, one.URL)
			}
			leads[one.Name] = one.URL
		case "table":
			if one.count("columnheader", "rowheader") == 0 || one.count("row") == 0 {
				say("table %q has no headers", one.Name)
			}
		case "image", "img":
			if len(strings.Fields(one.Name)) < 8 {
				say("figure %q does not say what it shows", one.Name)
			}
		}
	}
	if level == 0 {
		say("there is no heading")
	}
	if controls != -1 { // the page itself can have the focus
		say("%d more controls than are heard", controls+1)
	}
	return out
}

// A page that has everything wrong: every problem is noticed.
func TestListening(t *testing.T) {
	b := newTab(t, "")
	path := filepath.Join(t.TempDir(), "wrong.html")
	check(t, os.WriteFile(path, []byte(`<!doctype html><html lang="en"><title></title><main><h1>One</h1><h3>Three</h3>
<a href="/a">here</a> <a href="/b">here</a> <a href="/c"></a> <button></button> <div aria-hidden="true"><button>unheard</button></div>
<div tabindex="0" role="region">no name</div>
<table><caption>a table</caption><tr><td>1<td>2<tr><td>3<td>4</table> <figure><svg role="img" width="9" height="9"><title>A figure</title></svg></figure>
</main></html>`), 0o600))
	b.do(chromedp.Navigate("file://" + path))
	said := strings.Join(b.tree().problems(eval[int](b, reached)), "\n")
	for _, want := range []string{
		`0 landmarks "banner"`, `0 landmarks "contentinfo"`, `heading "Three" of level 3 follows one of level 1`, `two links are called "here"`, "a link has no name",
		"a button has no name", "a generic has no name", "a figure has no name", `table "a table" has no headers`, `figure "A figure" does not say what it shows`, "1 more controls than are heard",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not noticed:\n%s", want, said)
		}
	}
}
