package release

import (
	"slices"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/study"
)

// Joined reports whether the sketch's rows are about the same records as other parties'
// rows, and are joined to them by pseudonym: the records side of a vertical study. Each
// party projects its own columns by their own rows of R, so that adding the parties' rows
// gives the projection of all columns; the family identity keeps them beside each other.
func (p Plan) Joined() bool { return p.Study.Merge(p.Index) == study.Join }

// spanned counts the features that R has rows for: in a joined sketch all parties'.
func (p Plan) spanned() int {
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

// openJoined says by which spec a party's part of a joined sketch is made, and of the rows
// of which features. Where rows do not depend on others, its own alone are needed.
func (b *Builder) openJoined(spec projection.Spec) (projection.Spec, []study.Feature) {
	features := b.plan.Features
	b.places = make([]int, len(features))
	for i := range b.places {
		b.places[i] = i
	}
	switch spec.Family {
	case projection.Identity:
		spec.K = len(features)
	case projection.Hadamard:
		features, b.places = b.plan.Study.AllFeatures(b.plan.Index), b.plan.Study.Places(b.plan.Party, b.plan.Index)
	}
	for _, f := range b.plan.Features {
		b.centres = append(b.centres, b.plan.centre(f))
	}
	b.wide = len(features)
	return spec, features
}

// centre is what is taken off a feature's values in a joined sketch, so that zero, which
// is what a record has from a party that lacks it, is the public centre: the middle of
// bounds. One-hot entries stay, all zero standing for no category.
func (p Plan) centre(f study.Feature) int64 {
	_, _, bounds := p.Study.Columns[f.Column].Scale.Bounds()
	if f.Kind != study.Value || !bounds {
		return 0
	}
	return p.span() / 2
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
