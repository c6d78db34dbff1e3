package part

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/seed"
)

// Pass says what a reading of the records is for: sketches or, before them, first looks.
type Pass struct {
	Plans []release.Plan // one per sketch of the study; with the look, for sketches that take one
	Looks bool           // the pass is for first looks, of the sketches that take one
}

// Adder receives batches of records, like release.Builder.
type Adder interface {
	AddRead(ids [][]byte, values []int64) error
	Exact() release.Exact
	Clipped() int64
}

// looking makes a look an Adder.
type looking struct{ *release.Look }

func (l looking) AddRead(_ [][]byte, values []int64) error { return l.Add(values) }
func (l looking) Exact() release.Exact                     { return release.Exact{Sketch: l.Sketch()} }
func (l looking) Clipped() int64                           { return 0 }

// adder returns what receives the records of a sketch in this pass; nil for nothing.
func (p Pass) adder(i int, keys seed.Keys, workers int) (Adder, error) {
	if !p.Looks {
		return p.Plans[i].NewBuilder(keys, workers)
	}
	if !p.Plans[i].Looks() {
		return nil, nil
	}
	return looking{p.Plans[i].NewLook()}, nil
}

// rows reports whether a sketch has a row for each record.
func (p Pass) rows(i int) bool { return !p.Looks && !IsSum(p.Plans[i]) }

// Sum returns the side and shape of what is summed for a sketch; ok is false if nothing is.
func (p Pass) Sum(i int) (side sketch.Side, rows, cols int64, ok bool) {
	plan := p.Plans[i]
	if p.Looks {
		if !plan.Looks() {
			return "", 0, 0, false
		}
		s := plan.NewLook().Sketch()
		return s.Side, int64(s.Rows), int64(s.Cols), true
	}
	rows, cols = plan.ExactShape(0)
	return plan.Sketch().Side, rows, cols, IsSum(plan)
}

// hasRows reports whether any sketch has rows.
func (p Pass) hasRows() bool {
	for i := range p.Plans {
		if p.rows(i) {
			return true
		}
	}
	return false
}

// Adders converts builders to Adders.
func Adders(of []*release.Builder) []Adder {
	out := make([]Adder, len(of))
	for i, b := range of {
		out[i] = b
	}
	return out
}
