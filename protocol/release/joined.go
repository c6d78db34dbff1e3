package release

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Joined reports whether the sketch's rows are about the same records as other parties'
// rows, and are joined to them by pseudonym: the records side of a vertical study. Each
// party projects its own columns by their own rows of R, so that adding the parties' rows
// gives the projection of all columns; the family identity keeps them beside each other.
func (p Plan) Joined() bool { return p.Study.Merge(p.Index) == study.Join }

// Spanned counts the features that R has rows for: in a joined sketch all parties'.
func (p Plan) Spanned() int {
	if p.Joined() {
		return len(p.Study.AllFeatures(p.Index))
	}
	return len(p.Features)
}

// cols is how many integers a record becomes on the records side.
func (p Plan) cols() int {
	if p.Joined() && p.Spec().Family == projection.Identity {
		return len(p.Features)
	}
	return p.Spec().K
}

// fixed returns the rows of R that a party's part of a records-side sketch is made with,
// and which of them are those of its own features. Where rows do not depend on others, these
// alone are there; the identity's are of as many coordinates.
func (p Plan) fixed(root seed.Keys) (f *projection.Fixed, places []int, err error) {
	features, spec := p.Features, p.Spec()
	places = make([]int, len(features))
	for i := range places {
		places[i] = i
	}
	switch {
	case p.Joined() && spec.Family == projection.Identity:
		spec.K = len(features)
	case p.Joined() && spec.Family == projection.Hadamard:
		features, places = p.Study.AllFeatures(p.Index), p.Study.Places(p.Party, p.Index)
	}
	f, err = fix(spec, root, p.Study.RowLabels(features))
	return f, places, err
}

// place returns records' values about their centres, at their places among R's rows.
func (b *Builder) place(values []int64) []int64 {
	n := b.plan.Values
	size := len(values) / n * b.wide
	b.placed = slices.Grow(b.placed[:0], size)[:size]
	clear(b.placed)
	record := b.placed
	for own := range slices.Chunk(values, n) {
		for j, v := range own {
			record[b.places[j]] = v - b.centres[j]
		}
		record = record[b.wide:]
	}
	return b.placed
}

// Coordinates returns which coordinate of a merged record each integer of a row is, on
// the records side.
func (p Plan) Coordinates() []int {
	if p.Joined() && p.Spec().Family == projection.Identity {
		return p.Study.Places(p.Party, p.Index)
	}
	out := make([]int, p.Spec().K)
	for i := range out {
		out[i] = i
	}
	return out
}
