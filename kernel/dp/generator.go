package dp

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"golang.org/x/crypto/chacha20"
)

// Generator is a private stream of random integers: ChaCha20 under a 256-bit key. The first bytes
// of every block replace the key, so a later key reveals nothing about earlier numbers. It is not
// safe for concurrent use.
type Generator struct {
	// block is the next key, then random bytes. It has a pointer of its own because fmt does not
	// follow two: no verb prints it where a *Generator is a field.
	block *[8192]byte
	used  int // bytes of block that are spent and erased
}

// Format prints the type's name under every verb, since the content is secret.
func (g Generator) Format(s fmt.State, _ rune) { io.WriteString(s, "dp.Generator") }

// NewGenerator reads a key of exactly 32 bytes from entropy. Equal keys give equal numbers on every
// machine.
func NewGenerator(entropy io.Reader) (*Generator, error) {
	g := newGenerator()
	if _, err := io.ReadFull(entropy, g.block[:chacha20.KeySize]); err != nil {
		return nil, fmt.Errorf("reading entropy: %w", err)
	}
	g.refill()
	return g, nil
}

// newGenerator returns a generator without a key.
func newGenerator() *Generator { return &Generator{block: new([8192]byte)} }

// rekey starts the stream of one block of a release's entries. Its key is the beginning of
// ChaCha20's stream under the release's key, with the block's number as the nonce.
func (g *Generator) rekey(key *[chacha20.KeySize]byte, block uint64) {
	var nonce [chacha20.NonceSize]byte
	binary.LittleEndian.PutUint64(nonce[:], block)
	clear(g.block[:])
	xorStream(key[:], nonce, g.block[:chacha20.KeySize])
	g.refill()
}

// xorStream adds ChaCha20's stream to dst and leaves no copy of the key.
func xorStream(key []byte, nonce [chacha20.NonceSize]byte, dst []byte) {
	stream, err := chacha20.NewUnauthenticatedCipher(key, nonce[:])
	if err != nil {
		panic("dp: chacha20 refused a 32-byte key") // only wrong lengths are refused
	}
	stream.XORKeyStream(dst, dst)
	*stream = chacha20.Cipher{}
}

// refill produces the next block under the key at its start.
func (g *Generator) refill() {
	var key [chacha20.KeySize]byte
	copy(key[:], g.block[:])
	clear(g.block[:])
	xorStream(key[:], [chacha20.NonceSize]byte{}, g.block[:])
	clear(key[:])
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
func (g *Generator) Destroy() {
	clear(g.block[:])
	g.used = 0
}
