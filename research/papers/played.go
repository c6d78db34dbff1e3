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

// Drawn is a number that one study on running nodes gave. The nodes agree on a fresh seed
// and draw fresh noise, so that another play gives another one.
type Drawn struct {
	What  string   `json:"what"`
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"` // ends of the study's own interval, where it states one
	High  *float64 `json:"high,omitempty"`
}

// Played is one study on running nodes beside draws in this process.
type Played struct {
	Study string       `json:"study"` // what it was
	Lines []PlayedLine `json:"lines"`
}

// PlayedLine holds a number that the nodes gave against the same one of draws in this
// process, of which Value must not be further away than farthest deviations.
type PlayedLine struct {
	Drawn
	Truth     *float64 `json:"truth,omitempty"` // what an unbiased estimate aims at
	Mean      float64  `json:"mean"`            // of draws in this process
	Deviation float64  `json:"deviation"`       // of single ones
	Unit      string   `json:"unit,omitempty"`
	Holds     bool     `json:"holds"`
}

// farthest is how many deviations a number of one play may lie from the mean of draws: a
// normal one lies beyond with a probability of 6e-7.
const farthest = 5

// play returns what a study on nodes gave: as it was recorded, or anew. Without either it
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

// reference is what draws in this process say of a number.
type reference struct {
	mean, deviation float64
	truth           *float64
	unit            string
}

// spread is the reference of values that were drawn.
func spread(values []float64) reference {
	return reference{mean: mean(values), deviation: math.Sqrt(variance(values))}
}

func (r reference) of(truth float64) reference { r.truth = &truth; return r }
func (r reference) in(unit string) reference   { r.unit = unit; return r }

// compare sets the numbers of a play beside references, in the same order.
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

// number reads an estimate of a result.
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

// less takes something off a number and its interval.
func (d Drawn) less(x float64) Drawn {
	d.Value -= x
	if d.Low != nil {
		low, high := *d.Low-x, *d.High-x
		d.Low, d.High = &low, &high
	}
	return d
}

// answer is the first analysis of a kind.
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

// pairOf is the number for two features, by their columns, or by their parties where
// features have no column.
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

// dealt gives each party a run of the records, in their order, with ids that say which:
// those of integer gives back.
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

// columns are entries of a study file's columns, all alike but for the name.
func columns(names []string, rest string) (out []string) {
	for _, name := range names {
		out = append(out, fmt.Sprintf("name: %s, %s, source: public data", name, rest))
	}
	return out
}

// numbered names so many columns.
func numbered(n int) (out []string) {
	for j := range n {
		out = append(out, fmt.Sprintf("x%d", j+1))
	}
	return out
}

// clustersOf are the clusters that the parties were told of their own records, in the order
// of the ids that dealt gave.
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
