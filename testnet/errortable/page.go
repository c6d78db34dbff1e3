package errortable

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Study is the report on a study that was run, for people and programs.
type Study struct {
	Name     string `json:"name"` // name of the network
	Title    string `json:"title"`
	Question string `json:"question"`
	Study    string `json:"study"` // its id

	Partition study.Partition `json:"partition"`
	Unit      dp.Unit         `json:"unit,omitempty"`    // unit of protection; empty: none
	Promise   string          `json:"promise,omitempty"` // short, such as "every whole record at ε = 1"
	Privacy   string          `json:"privacy"`
	Exposure  string          `json:"exposure,omitempty"` // what sketches without noise reveal
	Attacked  *Attacked       `json:"attacked,omitempty"` // what an attack on sketches without noise recovers, measured

	Split    string    `json:"split"`
	Parties  []Holder  `json:"parties"`
	Bytes    int64     `json:"bytes_shipped"`
	Raw      int64     `json:"bytes_raw"`
	Seconds  float64   `json:"seconds"`
	Verdicts []Verdict `json:"verdicts"`
	Checks   []Check   `json:"checks,omitempty"`
	Table    Table     `json:"table"`
}

// Holder is a party and the size of its data.
type Holder struct {
	Name    string `json:"name"`
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes_shipped"`
}

//go:embed page.html.tmpl
var pageSource string

// Page writes studies as one self-contained page: style and figures are inline, without scripts and
// without requests.
func Page(w io.Writer, studies []Study) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"style": figure.Style, "digits": digits, "percent": block.Percent, "chart": chart, "rule": func() string { return Rule },
		"kB":     block.Bytes,
		"checks": func() []Check { return Checks(studies) },
		"seen":   func() []string { return Seen(studies) },
	}).Parse(pageSource)
	if err == nil {
		err = page.Execute(w, studies)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// chart plots estimates against the truth; nil if there are fewer than two.
func chart(of string, at int, n Numbers) *figure.Figure {
	low, high := math.Inf(1), math.Inf(-1)
	held, missed := block.Curve{Name: "the interval holds the truth", Look: block.Marks}, block.Curve{Name: "it does not", Look: block.Marks}
	for _, e := range n.Each {
		if e.Undefined != "" {
			continue
		}
		low, high = min(low, e.Truth), max(high, e.Truth)
		point := block.Point{X: e.Truth, Y: e.Estimate, Low: e.Low, High: e.High,
			Title: fmt.Sprintf("%s: %s [%s, %s], truth %s", e.Name, e.Digits(e.Estimate), e.Digits(e.Low), e.Digits(e.High), e.Digits(e.Truth))}
		if e.Covered() {
			held.Points = append(held.Points, point)
		} else {
			missed.Points = append(missed.Points, point)
		}
	}
	if len(held.Points)+len(missed.Points) < 2 {
		return nil
	}
	curves := []block.Curve{held}
	if len(missed.Points) > 0 {
		curves = append(curves, missed)
	}
	drawn := figure.Chart{
		ID:          fmt.Sprintf("%s-%d", of, at),
		Title:       fmt.Sprintf("%s: estimates over the truth", n.Kind),
		Description: fmt.Sprintf("%d estimates, each with its interval, over what the pooled data say. Right ones lie on the line.", len(held.Points)+len(missed.Points)),
		Chart: block.Chart{
			X:      block.Dimension{Label: "truth, from the pooled data"},
			Y:      block.Dimension{Label: "estimate"},
			Curves: append(curves, block.Curve{Name: "estimate = truth", Look: block.Smooth, Points: []block.Point{{X: low, Y: low}, {X: high, Y: high}}}),
		},
	}.Figure()
	return &drawn
}
