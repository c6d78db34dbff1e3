package dp

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"golang.org/x/crypto/chacha20"
)

// Generator is a private stream of random integers: ChaCha20 under a 256-bit key, with
// the key replaced by the first bytes of every block it produces, so that a later key
// says nothing about earlier numbers. It is for one goroutine.
type Generator struct {
	block [8192]byte // the next key, then random bytes
	used  int        // bytes of block that are spent and erased
}

// NewGenerator reads a key of 32 bytes from entropy, and nothing more. Equal keys give
// equal numbers on every machine.
func NewGenerator(entropy io.Reader) (*Generator, error) {
	g := new(Generator)
	if _, err := io.ReadFull(entropy, g.block[:chacha20.KeySize]); err != nil {
		return nil, fmt.Errorf("reading entropy: %w", err)
	}
	g.refill()
	return g, nil
}

// refill produces the next block under the key at its start.
func (g *Generator) refill() {
	var nonce [chacha20.NonceSize]byte
	stream, err := chacha20.NewUnauthenticatedCipher(g.block[:chacha20.KeySize], nonce[:])
	if err != nil {
		panic("dp: chacha20 refused a 32-byte key") // only lengths can be refused
	}
	clear(g.block[:])
	stream.XORKeyStream(g.block[:], g.block[:])
	*stream = chacha20.Cipher{} // it holds the key
	g.used = chacha20.KeySize
}

// Uint64 returns 64 uniform bits.
func (g *Generator) Uint64() uint64 {
	if g.used == len(g.block) {
		g.refill()
	}
	word := g.block[g.used : g.used+8]
	x := binary.LittleEndian.Uint64(word)
	clear(word)
	g.used += 8
	return x
}

// Uint64N returns a uniform integer in [0, n), n > 0, without bias: Lemire 2019.
func (g *Generator) Uint64N(n uint64) uint64 {
	hi, lo := bits.Mul64(g.Uint64(), n)
	if lo < n {
		for biased := -n % n; lo < biased; {
			hi, lo = bits.Mul64(g.Uint64(), n)
		}
	}
	return hi
}

// Destroy erases the key and all numbers not yet drawn. The generator must not be
// used afterwards.
func (g *Generator) Destroy() { *g = Generator{} }
