package dp

import (
	"errors"
	"fmt"
)

// leastShared is the least variance of one party's part of shared noise. It keeps the factors of
// the lemma on sums (see the package comment) negligible.
const leastShared = 16

// Shared returns one party's part of the noise, for releases that reveal only sums over at least
// this many parties' parts, drawn independently. The part is a discrete Gaussian of variance
// max(16, ⌈s²/parties⌉), s² being the variance of the noise. The sum keeps the noise's guarantee
// (see the package comment). With one party, or without noise, the part is the noise itself.
// Discrete Laplace noise is an error: a sum of it has another distribution, whose tails fall off
// like those of each part.
func (n Noise) Shared(parties int) (Noise, error) {
	switch {
	case parties < 1:
		return Noise{}, fmt.Errorf("sharing noise between %d parties: want at least one", parties)
	case n.guarantee.mechanism == None || parties == 1:
		return n, nil
	case n.guarantee.mechanism != Gaussian:
		return Noise{}, errors.New("sharing noise: only gaussian noise can be shared between parties: choose the gaussian mechanism")
	}
	part := (n.gaussian.variance-1)/uint64(parties) + 1
	n.gaussian.variance = max(part, leastShared)
	return n, nil
}
