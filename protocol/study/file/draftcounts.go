package file

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// withCounts adds choices with a counts sketch if analyses ask for tables: alone, or beside the
// sums of a horizontal draft. The analyses' kinds determine the tables.
func (d Draft) withCounts(choices []sketching) []sketching {
	tables, kind := d.tables()
	if len(tables) == 0 {
		return choices
	}
	written := "{side: counts, tables: [" + strings.Join(tables, ", ") + "]"
	const alone = "noisy numbers of records add up over the parties and protect whole records"
	out := []sketching{{why: alone, sketches: []string{written + "}"}, unit: "record", answers: kind, apart: true}}
	for _, c := range choices {
		if !c.moments() {
			continue
		}
		c.why = "the analyses need noisy sums and noisy numbers of records, which share the budget. Both add up over the parties and protect whole records"
		c.sketches = append(c.sketches[:len(c.sketches):len(c.sketches)], fmt.Sprintf("%s, share: %d}", written, sharesOf(c.sketches)))
		out = append(out, c)
	}
	return append(out, choices...)
}

// sharesOf returns the sum of the shares of sketches; the default share is 1.
func sharesOf(sketches []string) (sum int) {
	for _, text := range sketches {
		own := struct {
			Share int `yaml:"share"`
		}{1}
		if n, err := schema.Load([]byte(text)); err != nil || n.Decode(&own) != nil {
			own.Share = 1
		}
		sum += own.Share
	}
	return sum
}

// tables returns the tables of a counts sketch that answers the analyses, as in the study file,
// each once; and a kind that needs some of them.
func (d Draft) tables() (out []string, kind study.AnalysisKind) {
	var columns []study.Column
	for _, c := range d.columns() {
		columns = append(columns, study.Column{Name: c.Name, Kind: c.Kind})
	}
	had := map[string]bool{}
	for _, text := range d.Analyses {
		a := askedBy(text)
		k, ok := study.KindOf(a.Kind)
		if !ok || k.Counts == nil {
			continue
		}
		kind = a.Kind
		for _, t := range k.Counts(a.Options, columns) {
			if text := tableText(t); !had[text] {
				had[text] = true
				out = append(out, text)
			}
		}
	}
	return out, kind
}

// askedBy parses an analysis of a draft. A bad one is refused when the draft is tried.
func askedBy(text string) study.Analysis {
	n, err := schema.Load([]byte(text))
	switch {
	case err != nil:
		return study.Analysis{}
	case n.Kind != yaml.MappingNode:
		return study.Analysis{Kind: study.AnalysisKind(text)}
	}
	r := &schema.Reader{}
	if !r.Survey(n, "") {
		return study.Analysis{}
	}
	return readAnalysis(r, schema.Item{Node: n})
}

// tableText returns a table as in the study file.
func tableText(t study.Table) string {
	var of []string
	for _, a := range t.Of {
		text := "{column: " + quoted(a.Column)
		if a.Bins > 0 {
			text += fmt.Sprintf(", bins: %d", a.Bins)
		}
		of = append(of, text+"}")
	}
	out := "{of: [" + strings.Join(of, ", ") + "]"
	if t.Depth > 0 {
		out += fmt.Sprintf(", depth: %d", t.Depth)
	}
	return out + "}"
}
