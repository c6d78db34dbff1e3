package dp

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/crypto/chacha20"
	"pgregory.net/rapid"
)

// testKey is a fixed key, so that every statistical test here is deterministic.
func testKey(n byte) *bytes.Reader {
	return bytes.NewReader(bytes.Repeat([]byte{n}, 32))
}

func testGenerator(t testing.TB, n byte) *Generator {
	t.Helper()
	g, err := NewGenerator(testKey(n))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// scripted returns a generator that yields the given words next.
func scripted(words ...uint64) *Generator {
	g := newGenerator()
	g.used = len(g.block) - 8*len(words)
	for i, w := range words {
		for j := range 8 {
			g.block[g.used+8*i+j] = byte(w >> (8 * j))
		}
	}
	return g
}

// TestGeneratorStream recomputes the stream by the definition: ChaCha20 with zero
// nonce in blocks, whose first 32 bytes are the next key.
func TestGeneratorStream(t *testing.T) {
	g := testGenerator(t, 7)
	key := bytes.Repeat([]byte{7}, 32)
	for range 3 {
		stream, err := chacha20.NewUnauthenticatedCipher(key, make([]byte, chacha20.NonceSize))
		if err != nil {
			t.Fatal(err)
		}
		block := make([]byte, len(g.block))
		stream.XORKeyStream(block, block)
		for at := 32; at < len(block); at += 8 {
			var want uint64
			for j := range 8 {
				want |= uint64(block[at+j]) << (8 * j)
			}
			if got := g.Uint64(); got != want {
				t.Fatalf("word at byte %d is %x, want %x", at, got, want)
			}
		}
		key = block[:32]
	}
}

func TestGeneratorErases(t *testing.T) {
	g := testGenerator(t, 1)
	for range 10 {
		g.Uint64()
	}
	if spent := g.block[32:g.used]; !bytes.Equal(spent, make([]byte, len(spent))) {
		t.Error("spent numbers are still in memory")
	}
	g.Destroy()
	if !bytes.Equal(g.block[:], make([]byte, len(g.block))) {
		t.Error("the key or numbers survive Destroy")
	}
}

// TestGeneratorsDoNotPrint checks that no verb shows the content of a generator, even as a field of
// another value, whose methods fmt cannot call.
func TestGeneratorsDoNotPrint(t *testing.T) {
	g := testGenerator(t, 1)
	within := struct{ generator *Generator }{g}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q"} {
		for _, holder := range []any{g, *g, within, &within, []any{g}} {
			printed := fmt.Sprintf(verb, holder)
			for _, format := range []string{"%d %d", "%d, %d", "%02x%02x", "%#x, %#x"} {
				if leak := fmt.Sprintf(format, g.block[40], g.block[41]); strings.Contains(printed, leak) {
					t.Errorf("%s prints %.100s", verb, printed)
				}
			}
		}
		if got := fmt.Sprintf(verb, g); got != "dp.Generator" {
			t.Errorf("%s prints %.100s", verb, got)
		}
	}
}

func TestGeneratorReadsOneKey(t *testing.T) {
	entropy := bytes.NewReader(make([]byte, 100))
	if _, err := NewGenerator(iotest.OneByteReader(entropy)); err != nil {
		t.Fatal(err)
	}
	if entropy.Len() != 68 {
		t.Errorf("%d bytes of entropy are left, want 68", entropy.Len())
	}
	if _, err := NewGenerator(bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("31 bytes of entropy were enough")
	}
	broken := errors.New("no entropy today")
	if _, err := NewGenerator(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("the reader's error is lost: %v", err)
	}
}

// TestUint64NRejects feeds the boundary words that would bias the result, and checks that exactly
// those are redrawn.
func TestUint64NRejects(t *testing.T) {
	// n = 3: 2^64 mod 3 = 1, so exactly the product with low half 0 is redrawn: word 0.
	if got := scripted(0, 1<<63).Uint64N(3); got != 1 {
		t.Errorf("after a biased word 0 got %d, want 1 from the next word", got)
	}
	if got := scripted(1).Uint64N(3); got != 0 {
		t.Errorf("word 1 gives %d, want 0", got)
	}
	if got := scripted(^uint64(0)).Uint64N(3); got != 2 {
		t.Errorf("the last word gives %d, want 2", got)
	}
}

// TestBernoulliDecides compares single decisions with big integers, at boundary words, which random
// ones never reach.
func TestBernoulliDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := drawUint128(t, "den")
		den.hi |= 1 << 63
		num := drawUint128(t, "num")
		if rapid.Bool().Draw(t, "equal high words") {
			num.hi = den.hi
		}
		if den.less(num) {
			num = den
		}
		hi := rapid.SampledFrom([]uint64{0, num.hi - 1, num.hi, num.hi + 1, den.hi - 1, den.hi, den.hi + 1, ^uint64(0)}).Draw(t, "hi")
		lo := rapid.SampledFrom([]uint64{0, num.lo - 1, num.lo, num.lo + 1, den.lo - 1, den.lo, den.lo + 1, ^uint64(0)}).Draw(t, "lo")
		u := uint128{hi, lo}.big()
		if u.Cmp(den.big()) >= 0 {
			// Redrawn: the zero words that follow decide.
			u = new(big.Int)
		}
		want := u.Cmp(num.big()) < 0
		words := []uint64{hi, lo, 0, 0}
		if hi > den.hi {
			words = []uint64{hi, 0, 0} // rejected on the high word alone
		}
		if got := scripted(words...).bernoulli(fraction{num, den}); got != want {
			t.Fatalf("bernoulli(%v/%v) on words %x is %v, want %v", num, den, words, got, want)
		}
	})
}
