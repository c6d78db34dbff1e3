package forecast

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
)

// ResponseDistance is the variance of the distance of two records of d binary values,
// each of which was kept with probability 1/(1+e^−ε) and flipped otherwise (randomised
// response, Warner 1965; MECHANISMS 2b):
//
//	d·q(1−q)/(1−2p)⁴,  p = 1/(1+e^ε),  q = p² + (1−p)²
//
// whatever the distance is.
func ResponseDistance(d int, epsilon dp.Epsilon) float64 {
	p := 1 / (1 + math.Exp(float64(epsilon)))
	q := p*p + (1-p)*(1-p)
	return float64(d) * q * (1 - q) / math.Pow(1-2*p, 4)
}
