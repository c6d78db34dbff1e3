package codebook

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// Tolerances within which two codebooks are equivalent for every use. Another order of the same
// sums changes last bits, which may turn one eigenvector of several with nearly equal eigenvalues
// into another, change a sign, or make k-means converge elsewhere. In each case the quantities
// compared here hardly change.
const (
	sameCentre = whole // in sixteenths: one step. A real may be rounded to either side, by one sixteenth
	sameRadius = 1e-6  // relative, plus one step, as it is rounded up
	sameAxes   = 1e-3  // relative. Entries are rounded by 2^-15, which changes lengths and variances by some 2^-14
	sameCodes  = 1.02  // relative to our own mean squared distance: results of k-means from other starts differ by less
)

// Part is the part of a codebook that deviates.
type Part int

// Parts of a codebook.
const (
	PartShape  Part = iota // numbers of columns, axes or code points, or an integer that is out of range
	PartCentre             // the centre
	PartRadius             // the radius
	PartAxes               // axes that are not orthonormal, or along which the records have other variances
	PartCodes              // code points that are further from the records
)

func (p Part) String() string {
	switch p {
	case PartShape:
		return "shape"
	case PartCentre:
		return "centre"
	case PartRadius:
		return "radius"
	case PartAxes:
		return "axes"
	case PartCodes:
		return "code points"
	}
	return fmt.Sprintf("part %d", int(p))
}

// Mismatch reports that a codebook does not follow from the moments.
type Mismatch struct {
	Part       Part
	Own, Given float64 // the compared values; both 0 for PartShape
}

func (e *Mismatch) Error() string {
	if e.Part == PartShape {
		return "the codebook does not follow from the moments: its shape differs"
	}
	return fmt.Sprintf("the codebook does not follow from the moments: %s %g, want about %g", e.Part, e.Given, e.Own)
}

// Agrees returns nil if another party's codebook is as good as our own, which was made from the
// same moments and public points. Otherwise it returns a *Deviation. An identical codebook always
// agrees.
func (d *Draft) Agrees(given sketch.Codebook) error {
	own := d.Codebook
	if len(given.Centre) != len(own.Centre) || len(given.Axes) != len(own.Axes) || len(given.Codes) != len(own.Codes) || given.Validate(len(own.Centre), maxBits) != nil {
		return &Mismatch{Part: PartShape}
	}
	for j, c := range own.Centre {
		if off := given.Centre[j] - c; off > sameCentre || off < -sameCentre {
			return &Mismatch{Part: PartCentre, Own: float64(c) / whole, Given: float64(given.Centre[j]) / whole}
		}
	}
	if off := math.Abs(float64(given.Radius - own.Radius)); off > 1+sameRadius*float64(own.Radius) {
		return &Mismatch{Part: PartRadius, Own: float64(own.Radius), Given: float64(given.Radius)}
	}
	if err := d.sameAxes(given.Axes); err != nil {
		return err
	}
	if miss := distortion(d.points, given.Codes); miss > sameCodes*d.distortion+1 { // codes are rounded to steps
		return &Mismatch{Part: PartCodes, Own: d.distortion, Given: miss}
	}
	return nil
}

// sameAxes checks that the axes are orthonormal and compares the variance of the records along
// each. If all of these are the leading eigenvalues, the axes are their eigenvectors: a symmetric
// matrix whose diagonal is its eigenvalues is diagonal.
func (d *Draft) sameAxes(given [][]int64) error {
	for a, axis := range given {
		for b := range a + 1 {
			product, want := 0.0, 0.0
			for j, v := range axis {
				product += float64(v) * float64(given[b][j]) / (sketch.AxisOne * sketch.AxisOne)
			}
			if a == b {
				want = 1
			}
			if !(math.Abs(product-want) <= sameAxes) {
				return &Mismatch{Part: PartAxes, Own: want, Given: product}
			}
		}
		if own, other := d.along(d.Codebook.Axes[a]), d.along(axis); !(math.Abs(other-own) <= sameAxes*math.Abs(own)+1) {
			return &Mismatch{Part: PartAxes, Own: own, Given: other}
		}
	}
	return nil
}

// along returns the variance of the records along an axis.
func (d *Draft) along(axis []int64) (variance float64) {
	for i, v := range axis {
		for j, w := range axis {
			variance += float64(v) * float64(w) / (sketch.AxisOne * sketch.AxisOne) * d.covariance.At(i, j)
		}
	}
	return variance
}
