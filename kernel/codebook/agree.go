package codebook

import (
	"fmt"
	"math"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// Tolerances within which two codebooks are the same for every use. Another order of the same sums
// moves last bits, which may turn one eigenvector of several with nearly the same value into another, change
// a sign, or send a k-means to another end. Each leaves nearly as it was what is compared here.
const (
	sameCentre = whole // sixteenths: one step. A real may be rounded to either side, by one of these
	sameRadius = 1e-6  // relative, and one step, as it is rounded up
	sameAxes   = 1e-3  // relative. Entries are rounded by 2^-15, which moves lengths and variances by some 2^-14
	sameCodes  = 1.02  // times our own mean squared distance: ends of k-means from other starts differ by less
)

// Part is what of a codebook deviates.
type Part int

// Parts of a codebook.
const (
	PartShape  Part = iota // numbers of columns, axes or code points, or an integer that is out of range
	PartCentre             // the centre
	PartRadius             // the radius
	PartAxes               // axes that are not orthonormal, or along which the records vary otherwise
	PartCodes              // code points that are further from where records are
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

// Deviation reports that a codebook is not what follows from the moments.
type Deviation struct {
	Part       Part
	Own, Given float64 // what was compared; 0 and 0 of a shape
}

func (e *Deviation) Error() string {
	if e.Part == PartShape {
		return "the codebook has another shape than the one that follows from the moments"
	}
	return fmt.Sprintf("the codebook's %s deviate from what follows from the moments: %g, want about %g", e.Part, e.Given, e.Own)
}

// Agrees reports whether somebody else's codebook is as good as our own, drawn up from the same
// moments and public points; a *Deviation says in what it is not. The same codebook always agrees.
func (d *Draft) Agrees(given sketch.Codebook) error {
	own := d.Codebook
	if len(given.Centre) != len(own.Centre) || len(given.Axes) != len(own.Axes) || len(given.Codes) != len(own.Codes) || given.Validate(len(own.Centre), maxBits) != nil {
		return &Deviation{Part: PartShape}
	}
	for j, c := range own.Centre {
		if off := given.Centre[j] - c; off > sameCentre || off < -sameCentre {
			return &Deviation{Part: PartCentre, Own: float64(c) / whole, Given: float64(given.Centre[j]) / whole}
		}
	}
	if off := math.Abs(float64(given.Radius - own.Radius)); off > 1+sameRadius*float64(own.Radius) {
		return &Deviation{Part: PartRadius, Own: float64(own.Radius), Given: float64(given.Radius)}
	}
	if err := d.sameAxes(given.Axes); err != nil {
		return err
	}
	if miss := missed(d.points, given.Codes); miss > sameCodes*d.miss+1 { // codes are whole steps
		return &Deviation{Part: PartCodes, Own: d.miss, Given: miss}
	}
	return nil
}

// sameAxes compares along each axis the variance of the records, after orthonormality. Where all of
// these are the first eigenvalues, the axes are eigenvectors of them: a symmetric matrix whose
// diagonal is its eigenvalues is diagonal.
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
				return &Deviation{Part: PartAxes, Own: want, Given: product}
			}
		}
		if own, other := d.along(d.Codebook.Axes[a]), d.along(axis); !(math.Abs(other-own) <= sameAxes*math.Abs(own)+1) {
			return &Deviation{Part: PartAxes, Own: own, Given: other}
		}
	}
	return nil
}

// along is the variance of the records along an axis.
func (d *Draft) along(axis []int64) (variance float64) {
	for i, v := range axis {
		for j, w := range axis {
			variance += float64(v) * float64(w) / (sketch.AxisOne * sketch.AxisOne) * d.covariance.At(i, j)
		}
	}
	return variance
}
