package dp

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20"

	"github.com/cosketch/cosketch/kernel/parallel"
)

// sampler adds independent values of its distribution to all entries.
type sampler interface {
	add(g *Generator, dst []int64)
}

// blockEntries is the number of entries of a release that draw from one generator. It is part of
// the mapping from entropy to noise.
const blockEntries = 1 << 14

// Add is AddParallel with one worker.
func (n Noise) Add(dst []int64, entropy io.Reader) error {
	return n.AddParallel(dst, entropy, 1)
}

// AddParallel adds independent noise to every entry of dst, which has at most 2^34 of them. It uses
// the given number of goroutines; fewer than 1 count as 1. The noise does not depend on that
// number. It first reads 32 bytes of entropy, once; all noise of this call follows from them.
// Entropy must be secret and fresh on each call. On an error (the entropy fails, or an entry is
// beyond ±2^62) dst is unchanged. Mechanisms none and randomised-response read nothing and change
// nothing.
func (n Noise) AddParallel(dst []int64, entropy io.Reader, workers int) error {
	switch n.guarantee.mechanism {
	case Gaussian, Laplace:
	case None, RandomisedResponse:
		return nil
	default:
		return errors.New("adding noise: it was not calibrated")
	}
	if uint64(len(dst)) > maxEntries {
		return fmt.Errorf("adding noise to %d entries: at most %d", len(dst), uint64(maxEntries))
	}
	for i, x := range dst {
		if magnitude(x) > maxEntry {
			return fmt.Errorf("adding noise: entry %d of %d is beyond ±2^62", i, len(dst))
		}
	}
	key := new([chacha20.KeySize]byte)
	defer clear(key[:])
	if _, err := io.ReadFull(entropy, key[:]); err != nil {
		return fmt.Errorf("adding noise: reading entropy: %w", err)
	}
	n.addBlocks(dst, key, workers)
	return nil
}

// addBlocks lets the workers take blocks in turn. Each block has its own generator, so the noise
// does not depend on which worker takes it.
func (n Noise) addBlocks(dst []int64, key *[chacha20.KeySize]byte, workers int) {
	s := n.sampler()
	blocks := (len(dst) + blockEntries - 1) / blockEntries
	generators := make([]*Generator, max(min(workers, blocks), 1))
	defer func() {
		for _, g := range generators {
			if g != nil {
				g.Destroy()
			}
		}
	}()
	parallel.Share(blocks, len(generators), func(worker, block int) {
		g := generators[worker]
		if g == nil { // made by its worker: two made in a row would share a cache line
			g = newGenerator()
			generators[worker] = g
		}
		g.rekey(key, uint64(block))
		first := block * blockEntries
		s.add(g, dst[first:min(first+blockEntries, len(dst))])
	})
}

// sampler returns the sampler of the noise.
func (n Noise) sampler() sampler {
	if n.guarantee.mechanism == Gaussian {
		return n.gaussian.cells()
	}
	return n.laplace.sampler()
}
