package papers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// Player plays studies between real parties and a real aggregator.
type Player interface {
	Play(ctx context.Context, s Study) (Outcome, error)
}

// Drawn is a number from one study on running nodes. The nodes agree on a fresh seed and draw fresh
// noise, so every play gives another number.
type Drawn struct {
	What  string   `json:"what"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"` // ends of the study's own interval, if it has one
	High  *float64 `json:"high,omitempty"`
}

// Played compares one study on running nodes with draws in this process.
type Played struct {
	Study string       `json:"study"` // description
	Lines []PlayedLine `json:"lines"`
}

// PlayedLine compares a number from the nodes with draws of it in this process. Value may differ
// from Mean by at most farthest standard deviations.
type PlayedLine struct {
	Drawn
	Truth     *float64 `json:"truth,omitempty"` // the expected value of an unbiased estimate
	Mean      float64  `json:"mean"`            // of draws in this process
	Deviation float64  `json:"deviation"`       // standard deviation of a single draw
	Unit      string   `json:"unit,omitempty"`
	Holds     bool     `json:"holds"`
}

// farthest is how many standard deviations a number of one play may lie from the mean of draws. A
// normal variable is farther off with probability 6e-7.
const farthest = 5

// play returns the recorded result of a study, or plays it. Without a record and a player it
// returns nil.
func (o Options) play(ctx context.Context, s Study, read func(Outcome) ([]Drawn, error)) ([]Drawn, error) {
	if given, ok := o.Drawn[s.Name]; ok {
		return given, nil
	}
	if o.Player == nil {
		return nil, nil
	}
	out, err := o.Player.Play(ctx, s)
	if err != nil {
		return nil, err
	}
	drawn, err := read(out)
	if err != nil {
		return nil, fmt.Errorf("reading what came of study %s: %w", s.Name, err)
	}
	if o.Drawn != nil {
		o.Drawn[s.Name] = drawn
	}
	return drawn, nil
}

// reference describes a number by draws in this process.
type reference struct {
	mean, deviation float64
	truth           *float64
	unit            string
}

// spread returns the reference of drawn values.
func spread(values []float64) reference {
	return reference{mean: mean(values), deviation: math.Sqrt(variance(values))}
}

func (r reference) of(truth float64) reference { r.truth = &truth; return r }
func (r reference) in(unit string) reference   { r.unit = unit; return r }

// compare adds a comparison of a play's numbers with references, in the same order.
func (t *Table) compare(setting string, drawn []Drawn, refs ...reference) {
	if drawn == nil {
		return
	}
	played := Played{Study: setting}
	for i, d := range drawn[:min(len(drawn), len(refs))] {
		r := refs[i]
		played.Lines = append(played.Lines, PlayedLine{
			Drawn: d, Truth: r.truth, Mean: r.mean, Deviation: r.deviation, Unit: r.unit,
			Holds: math.Abs(d.Value-r.mean) <= farthest*r.deviation,
		})
	}
	t.Played = append(t.Played, played)
}

// number converts an estimate of a result.
func number(what string, n analysis.Number, scale float64) (Drawn, error) {
	if n.Estimate == nil {
		return Drawn{}, fmt.Errorf("%s is undefined: %s", what, n.Undefined)
	}
	d := Drawn{What: what, Value: *n.Estimate * scale}
	if n.Low != nil && n.High != nil {
		low, high := *n.Low*scale, *n.High*scale
		d.Low, d.High = &low, &high
	}
	return d, nil
}

// less subtracts x from a number and its interval.
func (d Drawn) less(x float64) Drawn {
	d.Value -= x
	if d.Low != nil {
		low, high := *d.Low-x, *d.High-x
		d.Low, d.High = &low, &high
	}
	return d
}

// answer returns the first analysis of a kind.
func answer(r analysis.Result, kind string) (analysis.Analysis, error) {
	for _, a := range r.Analyses {
		if string(a.Kind) == kind {
			if a.Undefined != "" {
				return a, errors.New(a.Undefined)
			}
			return a, nil
		}
	}
	return analysis.Analysis{}, fmt.Errorf("there is no %s in the result", kind)
}

// pairOf returns the number for two features, given by column, or by party if features have no
// column.
func pairOf(a analysis.Analysis, x, y string) (analysis.Number, error) {
	name := func(i int) string {
		if f := a.Features[i]; f.Column != "" {
			return f.Column
		}
		return a.Features[i].Party
	}
	for _, p := range a.Pairs {
		if i, j := name(p.I), name(p.J); i == x && j == y || i == y && j == x {
			return p.Number, nil
		}
	}
	return analysis.Number{}, fmt.Errorf("there is no pair of %s and %s", x, y)
}

// dealt gives each party consecutive records. Their ids are their indices.
func dealt(names []string, rows [][]float64) (out [parties]Records) {
	for p := range out {
		out[p].Columns = names
		for i := p * len(rows) / len(out); i < (p+1)*len(rows)/len(out); i++ {
			out[p].IDs = append(out[p].IDs, strconv.Itoa(i))
			out[p].Values = append(out[p].Values, rows[i])
		}
	}
	return out
}

// columns returns entries of a study file's columns that differ only in name.
func columns(names []string, rest string) (out []string) {
	for _, name := range names {
		out = append(out, fmt.Sprintf("name: %s, %s, source: public data", name, rest))
	}
	return out
}

// numbered returns n column names.
func numbered(n int) (out []string) {
	for j := range n {
		out = append(out, fmt.Sprintf("x%d", j+1))
	}
	return out
}

// clustersOf returns the clusters that the parties received for their own records, in the order of
// dealt's ids.
func clustersOf(out Outcome, n int) ([]int, error) {
	labels := make([]int, n)
	for _, own := range out.Own {
		for _, record := range own {
			at, err := strconv.Atoi(record[idColumn])
			if err != nil || at < 0 || at >= n {
				return nil, fmt.Errorf("a record has the id %q", record[idColumn])
			}
			if labels[at], err = strconv.Atoi(record["cluster"]); err != nil {
				return nil, fmt.Errorf("record %d has the cluster %q", at, record["cluster"])
			}
		}
	}
	return labels, nil
}
