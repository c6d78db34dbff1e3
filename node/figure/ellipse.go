package figure

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Ellipse covers two standard deviations of a cluster of points.
type Ellipse struct{ X, Y, RX, RY, Angle float64 } // centre and semi-axes in pixels, degrees

// NewEllipse returns the ellipse of points; the zero Ellipse for fewer than three.
func NewEllipse(x, y []float64) Ellipse {
	if len(x) < 3 {
		return Ellipse{}
	}
	a, b, c := stat.Variance(x, nil), stat.Covariance(x, y, nil), stat.Variance(y, nil)
	middle, spread := (a+c)/2, math.Hypot((a-c)/2, b)
	return Ellipse{
		X: Tenth(stat.Mean(x, nil)), Y: Tenth(stat.Mean(y, nil)),
		RX: Tenth(2 * math.Sqrt(middle+spread)), RY: Tenth(2 * math.Sqrt(math.Max(0, middle-spread))),
		Angle: Tenth(math.Atan2(b, (a-c)/2+spread) * 180 / math.Pi),
	}
}
