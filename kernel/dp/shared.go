package dp

import (
	"errors"
	"fmt"
)

// leastShared is the least variance of one party's part of shared noise: what sumLemma's
// factors need to be far below everything else.
const leastShared = 16

// Shared returns one party's part of the noise, where nobody sees less than the sum over at
// least this many parties' parts, drawn independently: a discrete Gaussian of variance
// max(16, ⌈s²/parties⌉), s² being that of the noise. The sum keeps the noise's guarantee
// (see the package comment). One party's part is the noise itself. Discrete Laplace
// noise is refused: a sum of it has another distribution, whose tails fall off like those of
// each part. Without noise there is nothing to share.
func (n Noise) Shared(parties int) (Noise, error) {
	switch {
	case parties < 1:
		return Noise{}, fmt.Errorf("sharing noise between %d parties: want at least one", parties)
	case n.guarantee.mechanism == None || parties == 1:
		return n, nil
	case n.guarantee.mechanism != Gaussian:
		return Noise{}, errors.New("sharing noise: a sum of discrete Gaussians is one, and sums of other noise are not of its kind")
	}
	part := (n.gaussian.variance-1)/uint64(parties) + 1
	n.gaussian.variance = max(part, leastShared)
	return n, nil
}
