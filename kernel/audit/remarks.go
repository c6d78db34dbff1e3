package audit

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// Design describes a sketch with correct noise, to find remarks about its design.
type Design struct {
	Unit           dp.Unit         // required
	Side           sketch.Side     // required
	Projection     projection.Spec // required
	Columns        int             // required: number of values of a record in the sketch, d
	Distance       float64         // records side: the squared distance of two dissimilar records, in encoded units
	Variance       float64         // of the noise on a coordinate, in encoded units
	FourthCumulant float64         // of this noise
}

// Remarks lists what a steward or a study's author may want to change.
func (d Design) Remarks() []string {
	var out []string
	if d.Unit == dp.Attribute {
		out = append(out, "attribute-level only: values are protected one at a time, and whose record it is may be found out from values that are known elsewhere")
	}
	if d.Side != sketch.Records || d.Projection.Family == projection.Identity {
		return out
	}
	if d.Projection.K >= d.Columns {
		return append(out, fmt.Sprintf("k = %d is at least the number of values of a record, %d: the family identity has smaller errors and reveals no more", d.Projection.K, d.Columns))
	}
	if best := d.bestK(); float64(d.Columns) <= best {
		out = append(out, fmt.Sprintf("with so little noise the best k is about %.0f, and a record has only %d values: the family identity has smaller errors", math.Min(best, 1e9), d.Columns))
	}
	return out
}

// bestK returns the k that minimises the variance of a squared distance, if the noise on a
// coordinate does not depend on k: 2r⁴/k falls, k(8v²+2κ) rises.
func (d Design) bestK() float64 {
	rising := 8*d.Variance*d.Variance + 2*d.FourthCumulant
	if !(rising > 0) {
		return math.Inf(1)
	}
	return d.Distance * math.Sqrt(2/rising)
}
