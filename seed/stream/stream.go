package stream

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"github.com/cosketch/cosketch/seed/secret"
)

// Stream returns the pseudorandom bytes of labels under one row key. It implements
// projection.Source for the kernel. A Stream is immutable and safe for concurrent use. Its key
// cannot be printed or encoded, see secret.Of.
type Stream struct{ key }

type key = secret.Of[[32]byte]

// New returns the stream of a row key, which seed.Seed.Derive returns.
func New(rowKey [32]byte) Stream { return Stream{secret.New(rowKey)} }

// inline is the length of the longest label that Block hashes without allocating.
const inline = 224

// Block returns BLAKE2b-512(row key ‖ label). The key has a fixed length and comes first, so the
// concatenation is unambiguous. BLAKE2b is not subject to length extension.
func (s Stream) Block(label []byte) [64]byte {
	var buf [32 + inline]byte
	copy(buf[:], secret.Reveal(s.key)[:])
	if len(label) <= inline {
		copy(buf[32:], label)
		return blake2b.Sum512(buf[:32+len(label)])
	}
	return blake2b.Sum512(append(buf[:32:32], label...))
}

// Blocks sets blocks[i] to Block(labels[i]), faster than one by one if the machine supports it. It
// panics if the lengths differ.
func (s Stream) Blocks(blocks [][64]byte, labels [][]byte) { s.blocksAt(bestLevel(), blocks, labels) }

// level is one way to hash many labels. All give the same result.
type level int

const (
	plain  level = iota // one by one
	avx2                // four at once, in assembly
	avx512              // sixteen at once, in assembly
)

func (s Stream) blocksAt(l level, blocks [][64]byte, labels [][]byte) {
	if len(blocks) != len(labels) {
		panic(fmt.Sprintf("stream: %d blocks for %d labels", len(blocks), len(labels)))
	}
	for len(labels) > 0 {
		done := s.hash(l, blocks, labels)
		blocks, labels = blocks[done:], labels[done:]
		// The rest starts near a label that is too long for lanes, or is a single label.
		slow := min(len(labels), slowStep)
		for i, label := range labels[:slow] {
			blocks[i] = s.Block(label)
		}
		blocks, labels = blocks[slow:], labels[slow:]
	}
}

// slowStep is the number of labels that Blocks hashes one by one before it tries lanes again.
const slowStep = 16

// Expand fills dst with the AES-256-CTR keystream of the key block[:32] and a zero initial counter
// block. Each block keys a single stream, so the nonce never repeats.
func (s Stream) Expand(block *[64]byte, dst []byte) {
	if keystream(block, dst) {
		return
	}
	c, err := aes.NewCipher(block[:32])
	if err != nil {
		panic("stream: AES refuses a key of 32 bytes")
	}
	var zero [aes.BlockSize]byte
	clear(dst)
	cipher.NewCTR(c, zero[:]).XORKeyStream(dst, dst)
}
