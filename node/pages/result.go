package pages

import (
	"html/template"
	"math"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/show"
	"github.com/cosketch/cosketch/protocol/study"
)

type resultView struct {
	page
	Document, Size string
	Count          int
	Files          []fileRow
	Report         template.HTML
}

// fileRow is a table or a matrix with its formats.
type fileRow struct {
	Name    string
	Rows    int
	Formats []crumbs
}

type crumbs struct{ Path, Name string }

func (p *pages) result(w http.ResponseWriter, r *http.Request) error {
	s, d, err := p.server.LookupResult(r)
	if err != nil {
		return err
	}
	of := show.Document{Result: d.Result, Board: stored.BoardShown(s.File, s.Taken())}
	name := d.Statement.Document.Hash.String()
	of.Signed = &show.Signature{Aggregator: s.File.Aggregator.ID.String(), Document: name, Message: d.Statement.Message.String()}
	if d.Statement.Further {
		of.Signed.Message, of.Signed.At = "", d.Statement.At.String()
	}
	here := "Result"
	if d.Statement.Further {
		here = "Further result"
	}
	v := resultView{page: p.ofStudy(r, s, here), Document: "/api/v1" + studyPath(s) + "/results/" + name, Size: block.Bytes(d.Statement.Document.Size)}
	v.Script = "heat.js"
	v.Headline = show.Headline(d.Result)
	if v.Report, err = present.Main(of.Blocks()); err != nil {
		return err
	}
	files := table.Files(d.Result)
	v.Count = len(files)
	for _, f := range files {
		extension := path.Ext(f.Name)
		base := strings.TrimSuffix(f.Name, extension)
		link := crumbs{v.Document + "/files/" + f.Name, strings.TrimPrefix(extension, ".")}
		if n := len(v.Files); n > 0 && v.Files[n-1].Name == base {
			v.Files[n-1].Formats = append(v.Files[n-1].Formats, link)
		} else {
			v.Files = append(v.Files, fileRow{base, f.Rows, []crumbs{link}})
		}
	}
	return p.show(w, r, "result", v)
}

type privacyView struct {
	page
	ID        string
	Numbers   []numberRow
	Explained template.HTML
}

type numberRow struct{ Name, Text string }

func (p *pages) privacy(w http.ResponseWriter, r *http.Request) error {
	s, err := p.server.Lookup(r)
	if err != nil {
		return err
	}
	v := privacyView{page: p.ofStudy(r, s, "Privacy"), ID: s.File.ID.String()}
	explained := s.File.Explain(study.Everyone)
	first := slices.IndexFunc(explained, func(b block.Block) bool { _, ok := b.(block.Heading); return ok })
	if v.Explained, err = present.Main(explained[first:]); err != nil { // the page already shows the name and the id
		return err
	}

	of, person := promise(s.File)
	v.Headline = strings.TrimSpace(of + " " + person)
	v.Numbers = numbers(s.File)
	return p.show(w, r, "privacy", v)
}

func numbers(f *study.Study) []numberRow {
	if f.Privacy.Mechanism == dp.None {
		return []numberRow{{"noise", "none"}, {"guarantee", "none"}}
	}
	out := []numberRow{
		{"unit", string(f.Privacy.Unit)},
		{"noise", string(f.Privacy.Mechanism)},
		{"ε", dp.AtMost(float64(f.Privacy.Epsilon), 4)},
		{"δ", dp.AtMost(float64(f.Privacy.Delta), 4)},
	}
	if b, err := f.PerPerson(); err == nil {
		text := bounded(b)
		if text == "" {
			text = "unbounded"
		}
		out = append(out, numberRow{"per person", text})
	}
	return out
}

// bounded describes a bounded loss; it is empty if there is no bound.
func bounded(b dp.Budget) string {
	if math.IsInf(float64(b.Epsilon), 0) {
		return ""
	}
	return unbroken(b)
}

// unbroken formats a budget with no-break spaces.
func unbroken(b dp.Budget) string { return strings.ReplaceAll(b.String(), " = ", "\u00a0=\u00a0") }
