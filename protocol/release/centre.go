package release

import "github.com/cosketch/cosketch/protocol/study"

// Centres returns what is subtracted from each value before it is clipped and projected, in encoded
// units; zeros if the sketch is not centred. A missing value counts as its centre. So does, in
// joined sketches, a record that a party lacks: its row is zeros.
func (p Plan) Centres() []float64 {
	out := make([]float64, p.Values)
	for i, c := range p.centres() {
		out[i] = float64(c) / float64(p.span())
		if p.Own != nil && p.Own.takes != nil {
			out[i] = float64(p.Own.takes[i].Centre) / float64(16*p.span())
		}
	}
	return out
}

// centres returns the centres as integers, in units of the span.
func (p Plan) centres() []int64 {
	out := make([]int64, p.Values)
	for i, f := range p.Features[:p.Values] {
		out[i] = p.Centre(f)
	}
	return out
}

// Scales returns what each value is divided by once its centre is subtracted: 1, unless the party
// scales it by its own spread.
func (p Plan) Scales() []float64 {
	out := make([]float64, p.Values)
	for i := range out {
		out[i] = 1
		if p.Own != nil && p.Own.takes != nil {
			out[i] = float64(p.Own.takes[i].Spread) / float64(16*p.Study.Bits.One())
		}
	}
	return out
}

// Centre returns what is subtracted from a feature's value, in units of the span.
func (p Plan) Centre(f study.Feature) int64 {
	if !p.Study.Centred(p.Index) {
		return 0
	}
	return p.Study.CentreOf(f, p.span())
}
