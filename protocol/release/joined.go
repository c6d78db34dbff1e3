package release

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Joined reports whether the sketch's rows are about the same records as other parties' rows and
// are joined to them by pseudonym: the records side of a vertical study. Each party projects its
// own columns by their own rows of R, so the sum of the parties' rows is the projection of all
// columns. The identity family instead keeps the parties' columns side by side.
func (p Plan) Joined() bool { return p.Study.Merge(p.Index) == study.Join }

// Spanned returns the number of features that R has rows for: in a joined sketch those of all
// parties.
func (p Plan) Spanned() int {
	if p.Joined() {
		return len(p.Study.AllFeatures(p.Index))
	}
	return len(p.Features)
}

// cols returns the number of integers per record on the records side.
func (p Plan) cols() int {
	if p.Joined() && p.Spec().Family == projection.Identity {
		return len(p.Features)
	}
	return p.Spec().K
}

// fixed returns the rows of R for a party's part of a records-side sketch, and the indices of its
// own features among them. If rows do not depend on others, it returns only the party's own; those
// of the identity have as many coordinates.
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
		features, places = p.Study.AllFeatures(p.Index), p.Study.FeatureIndices(p.Party, p.Index)
	}
	f, err = fix(spec, root, p.Study.RowLabels(features))
	return f, places, err
}

// place returns the centred values of records, at their indices among R's rows.
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

// Coordinates returns, for each integer of a row on the records side, its coordinate in a merged
// record.
func (p Plan) Coordinates() []int {
	if p.Joined() && p.Spec().Family == projection.Identity {
		return p.Study.FeatureIndices(p.Party, p.Index)
	}
	out := make([]int, p.Spec().K)
	for i := range out {
		out[i] = i
	}
	return out
}
