package forecast

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
)

// NoiseOfBits returns the noise of one bit under randomised response, in units of 1.
func NoiseOfBits(f dp.Flips) estimate.Noise {
	span := float64(f.Span())
	return estimate.Noise{Variance: f.Variance() / (span * span), FourthCumulant: f.FourthCumulant() / (span * span * span * span)}
}

// bit returns the noise of one value if it was added before the projection.
func (l Law) bit() estimate.Noise {
	if l.Noise.Sources == 0 {
		return l.Noise
	}
	share := l.Noise.Sources / float64(l.Projection.K)
	return estimate.Noise{Variance: l.Noise.Variance / share, FourthCumulant: l.Noise.FourthCumulant / share}
}

// response returns the variance of the distance of two records of d bits that were randomised with
// noise of variance v and fourth cumulant κ each (Warner 1965):
//
//	d(8v² + 2κ) = d·q(1−q)/(1−2p)⁴,  q = p² + (1−p)²
//
// for any distance, since the third moments of both bits cancel the term 8v|z|². A projection then
// sees w, z with both noises in it, and adds its own variance for E|w|⁴ and EΣw⁴.
func (l Law) response(z Difference) float64 {
	d, b := float64(l.Features), l.bit()
	v, own := b.Variance, d*(8*b.Variance*b.Variance+2*b.FourthCumulant)
	if l.Projection.OrthogonalRows(l.Features) {
		return own
	}
	squared := z.Squared + 2*d*v
	fourth := z.Fourth + 4*v*z.Squared + d*(12*v*v+2*b.FourthCumulant)
	return own + l.Projection.Variance(l.Features).Distance(math.Sqrt(squared*squared+own), fourth)
}
