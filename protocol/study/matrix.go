package study

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/seed"
)

// A sketch of the records side may publish its matrix R. Then each party releases the row key of
// that side with its sketches, and the aggregator can project vectors of its own. Every guarantee
// assumes that R is known, so the noise is the same either way.

// MatrixWord returns the value of the key matrix in the study file.
func (sk Sketch) MatrixWord() string {
	if sk.Public {
		return "public"
	}
	return "secret"
}

// The directions of cells are always public: the aggregator needs the position of a cell to assign
// it to a cluster, and no guarantee assumes that the directions are secret.

// Published returns the labels of the row keys that leave with every release, in the order of the
// release; nil if no matrix is public and no sketch is of cells.
func (s *Study) Published() []seed.Label {
	var out []seed.Label
	if slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Public }) {
		out = append(out, seed.ColumnRows)
	}
	if slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Public && sk.Projection.Family == projection.Hadamard }) {
		out = append(out, seed.HadamardPermutation)
	}
	for _, row := range additives() {
		if s.Has(row.side) {
			out = append(out, row.publishes...)
		}
	}
	return out
}

// publishedOf returns the number of row keys released for the sketches of a side.
func (s *Study) publishedOf(side sketch.Side) int {
	projecting := len(s.Published())
	for _, row := range additives() {
		of := 0
		if s.Has(row.side) {
			of = len(row.publishes)
		}
		if row.side == side {
			return of
		}
		projecting -= of
	}
	return projecting
}

// cells reports whether a sketch is of cells.
func (s *Study) cells() bool {
	return slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Cells })
}

// Projectable reports whether the aggregator can project vectors as a sketch does: its R is public,
// or it has none.
func (s *Study) Projectable(index int) bool {
	sk := s.Sketches[index]
	return sk.Side == sketch.Records && (sk.Public || sk.Projection.Family == projection.Identity)
}

// publicSketches lists the sketches whose matrix is public, for people, from 1.
func (s *Study) publicSketches() string {
	var out []string
	for i, sk := range s.Sketches {
		if sk.Public {
			out = append(out, fmt.Sprint(i+1))
		}
	}
	if len(out) == 0 {
		return ""
	}
	if len(out) == 1 {
		return "sketch " + out[0]
	}
	return "sketches " + strings.Join(out, " and ")
}

// explainMatrix says who knows R, and what a public R reveals.
func (s *Study) explainMatrix(p *page) {
	if of := s.publicSketches(); of != "" {
		p.text(fmt.Sprintf("THE MATRIX R OF %s IS PUBLIC: its key leaves with your release. With it the aggregator projects vectors of its own, in the columns' units, and asks which released records are near them; it needs no party's help for what it could find out before with any one party's. The key makes neither the seed nor any other key known%s.",
			strings.ToUpper(of), map[bool]string{true: ", and not the one that pseudonyms are made by, so that it helps nobody to try out ids"}[s.Joins()]))
		if s.Privacy.Mechanism == dp.None {
			p.text("Without noise that is much: THE AGGREGATOR BY ITSELF can compute values of single records from what leaves.")
		}
		return
	}
	p.text("The matrix R that mixes the values is secret from outsiders, and yet nothing here counts on that: the aggregator together with any one party knows it.")
}
