package dp

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/crypto/chacha20"
	"pgregory.net/rapid"
)

func promise(t testing.TB, m Mechanism, b Budget) Guarantee {
	t.Helper()
	g, err := Promise(m, b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func calibrate(t testing.TB, g Guarantee, s Sensitivity) Noise {
	t.Helper()
	n, err := Calibrate(g, s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestCalibrateExamples(t *testing.T) {
	for _, c := range []struct {
		mechanism   Mechanism
		budget      Budget
		sensitivity Sensitivity
		variance    float64
		text        string
	}{
		{Gaussian, Budget{1, 1e-6}, Sensitivity{16, 256}, 4579, "discrete gaussian noise of variance 4579"}, // ⌈4.2246788893²·256⌉ + 9
		{Gaussian, Budget{240, 1e-6}, Sensitivity{1, 1}, 10, "discrete gaussian noise of variance 10"},
		{Laplace, Budget{1, 0}, Sensitivity{3, 5}, 17.834255, "discrete laplace noise of scale 3"},
		{Laplace, Budget{0.5, 0}, Sensitivity{1 << 14, 1}, 2*32768*32768 - 1./6, "discrete laplace noise of scale 32768"},
		{None, Budget{}, Sensitivity{3, 5}, 0, "no noise"},
	} {
		n := calibrate(t, promise(t, c.mechanism, c.budget), c.sensitivity)
		if math.Abs(n.Variance()-c.variance) > 1e-5*c.variance {
			t.Errorf("%s %v for %v: variance %.6f, want %.6f", c.mechanism, c.budget, c.sensitivity, n.Variance(), c.variance)
		}
		if n.String() != c.text {
			t.Errorf("%s %v for %v: %q, want %q", c.mechanism, c.budget, c.sensitivity, n, c.text)
		}
		if n.Sensitivity() != c.sensitivity || n.Guarantee().Mechanism() != c.mechanism {
			t.Errorf("%v forgot what it was calibrated for", n)
		}
	}
}

// TestCalibrateKeepsItsPromise recomputes both inequalities in rationals.
func TestCalibrateKeepsItsPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sensitivity{
			L1:        rapid.Int64Range(1, 1<<24).Draw(t, "l1"),
			L2Squared: rapid.Int64Range(1, 1<<28).Draw(t, "l2 squared"),
		}
		epsilon := Epsilon(math.Exp(rapid.Float64Range(math.Log(0.01), math.Log(500)).Draw(t, "ln epsilon")))
		share := rapid.Float64Range(0.01, 1).Draw(t, "share")
		part := func(m Mechanism, b Budget) Noise {
			g, err := Promise(m, b)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.Share(share); err != nil {
				t.Fatal(err)
			}
			n, err := Calibrate(g, s)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		rational := func(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

		n := part(Gaussian, Budget{epsilon, 1e-6})
		mu := rational(float64(n.guarantee.mu))
		need := new(big.Rat).Mul(mu, mu)
		need.Quo(new(big.Rat).SetInt64(s.L2Squared), need)
		excess, _ := need.Sub(new(big.Rat).SetInt64(int64(n.gaussian.variance)), need).Float64()
		if excess < smoothing || excess >= smoothing+1 {
			t.Fatalf("%v for %v and share %g: variance %d exceeds the need by %g, want %d to %d", epsilon, s, share, n.gaussian.variance, excess, smoothing, smoothing+1)
		}

		n = part(Laplace, Budget{Epsilon: epsilon})
		scale := new(big.Rat).SetFrac(new(big.Int).SetUint64(n.laplace.numerator), new(big.Int).Lsh(big.NewInt(1), n.laplace.shift))
		exact := rational(float64(n.guarantee.budget.Epsilon))
		exact.Quo(new(big.Rat).SetInt64(s.L1), exact)
		exact.Mul(exact, big.NewRat(1<<32+1, 1<<32)) // the margin
		surplus, _ := new(big.Rat).Sub(scale, exact).Float64()
		if size, _ := exact.Float64(); surplus < 0 || surplus > 0x1p-32*max(1, size) {
			t.Fatalf("%v for %v and share %g: scale exceeds the need %g with its margin by %g", epsilon, s, share, size, surplus)
		}
	})
}

func TestCalibrateRefuses(t *testing.T) {
	gaussian, laplace := promise(t, Gaussian, Budget{1, 1e-6}), promise(t, Laplace, Budget{1e-6, 0})
	for name, c := range map[string]struct {
		guarantee   Guarantee
		sensitivity Sensitivity
	}{
		"no sensitivity":    {gaussian, Sensitivity{}},
		"no guarantee":      {Guarantee{}, Sensitivity{1, 1}},
		"variance too high": {gaussian, Sensitivity{1, 1 << 53}},
		"scale too high":    {laplace, Sensitivity{1 << 31, 1}},
	} {
		if n, err := Calibrate(c.guarantee, c.sensitivity); err == nil {
			t.Errorf("%s: got %v, want an error", name, n)
		}
	}
}

// hockeyStick returns the exact δ at ε of x + N_Z(0, variance) for x = 0 against x = shift.
func hockeyStick(variance float64, shift int64, epsilon Epsilon) float64 {
	reach := int64(40*math.Sqrt(variance)) + shift
	log := func(j int64) float64 { return -float64(j) * float64(j) / (2 * variance) }
	mass, excess := 0.0, 0.0
	for j := -reach; j <= reach; j++ {
		mass += math.Exp(log(j))
		excess += max(0, math.Exp(log(j))-math.Exp(float64(epsilon)+log(j+shift)))
	}
	return excess / mass
}

// TestAnalyticCalibrationHoldsForIntegers computes the exact δ of the noise drawn, for changes of
// one entry. Without the 9 in the variance it would exceed the budget's.
func TestAnalyticCalibrationHoldsForIntegers(t *testing.T) {
	missed := 0
	for _, b := range []Budget{{0.1, 1e-6}, {1, 1e-6}, {1, 1e-9}, {2, 1e-5}, {8, 1e-6}, {16, 1e-3}} {
		for _, shift := range []int64{1, 2, 3, 16, 100} {
			n := calibrate(t, promise(t, Gaussian, b), Sensitivity{shift, shift * shift})
			if d := hockeyStick(n.Variance(), shift, b.Epsilon); d > float64(b.Delta) {
				t.Errorf("%v, shift %d: delta is %g", b, shift, d)
			}
			sigma := float64(shift) / float64(n.guarantee.mu)
			if hockeyStick(sigma*sigma, shift, b.Epsilon) > float64(b.Delta)*(1+1e-5) {
				missed++
			}
		}
	}
	if missed < 5 {
		t.Errorf("plain discrete Gaussians miss delta in %d cases: the test has lost its power", missed)
	}
}

// TestSmoothingLemma integrates the post-processing of the package comment numerically for small η,
// where its error is large enough to measure, and compares it with the bound 1 ± 2κ.
func TestSmoothingLemma(t *testing.T) {
	for _, eta := range []float64{0.6, 0.5, 0.4} {
		const sigma = 2.0
		s2 := sigma*sigma + eta*eta
		kappa := 0.0
		for m := 1.0; m < 20; m++ {
			kappa += 2 * math.Exp(-2*math.Pi*math.Pi*eta*eta*m*m)
		}
		theta := func(z float64) (sum float64) {
			for i := math.Floor(z) - 30; i < z+30; i++ {
				sum += math.Exp(-(i - z) * (i - z) / (2 * eta * eta))
			}
			return sum
		}
		norm := 0.0
		for j := -60.0; j <= 60; j++ {
			norm += math.Exp(-j * j / (2 * s2))
		}
		worst := 0.0
		for j := 0.0; j <= 8; j++ {
			processed := 0.0
			const step = 1. / 64 // the trapezoid rule converges faster than any power for such integrands
			for z := -30.0; z <= 30; z += step {
				processed += step * math.Exp(-z*z/(2*sigma*sigma)) / math.Sqrt(2*math.Pi*sigma*sigma) *
					math.Exp(-(j-z)*(j-z)/(2*eta*eta)) / theta(z)
			}
			worst = max(worst, math.Abs(math.Exp(-j*j/(2*s2))/norm/processed-1))
		}
		if worst > 2*kappa || worst < 1e-9 {
			t.Errorf("η = %g: relative error %.3g, want it visible and below 2κ = %.3g", eta, worst, 2*kappa)
		}
	}
	if kappa := 2 * math.Exp(-2*math.Pi*math.Pi*smoothing); kappa > 1.5e-77 {
		t.Errorf("κ for η² = %d is %g", smoothing, kappa)
	}
}

func TestAdd(t *testing.T) {
	for _, g := range []Guarantee{promise(t, Gaussian, Budget{1, 1e-6}), promise(t, Laplace, Budget{1, 0})} {
		n := calibrate(t, g, Sensitivity{4, 16})
		data := []int64{1 << 40, -7, 0, maxEntry, -maxEntry, 5}
		zeros := make([]int64, len(data))
		noised := slices.Clone(data)
		if err := errors.Join(n.Add(zeros, testKey(3)), n.Add(noised, testKey(3))); err != nil {
			t.Fatal(err)
		}
		for i := range data {
			if noised[i]-data[i] != zeros[i] {
				t.Errorf("%v: the noise of entry %d depends on the data", n, i)
			}
		}
		other := make([]int64, len(data))
		if err := n.Add(other, testKey(4)); err != nil || slices.Equal(other, zeros) {
			t.Errorf("%v: another key gives the same noise (%v)", n, err)
		}
	}
}

// TestWorkersDoNotChangeNoise checks that an entry's noise depends only on the key and its
// position.
func TestWorkersDoNotChangeNoise(t *testing.T) {
	for _, g := range []Guarantee{promise(t, Gaussian, Budget{1, 1e-6}), promise(t, Laplace, Budget{1, 0}), promise(t, Laplace, Budget{900, 0})} {
		n := calibrate(t, g, Sensitivity{4, 16})
		for _, entries := range []int{0, 1, blockEntries - 1, blockEntries, blockEntries + 1, 3*blockEntries + 5} {
			want := make([]int64, entries)
			if err := n.Add(want, testKey(9)); err != nil {
				t.Fatal(err)
			}
			for _, workers := range []int{-1, 2, 3, 16} {
				got := make([]int64, entries)
				if err := n.AddParallel(got, testKey(9), workers); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %d entries: %d workers give other noise (%v)", n, entries, workers, err)
				}
			}
			if whole := slices.Max(append(want, 0)); entries >= blockEntries && whole == 0 && g.Epsilon() < 100 {
				t.Errorf("%v: no noise at all", n)
			}
		}
	}
}

// TestBlocksHaveTheirOwnStreams recomputes a release block by block: ChaCha20 under the release's
// key gives each block's key by its number.
func TestBlocksHaveTheirOwnStreams(t *testing.T) {
	n := calibrate(t, promise(t, Gaussian, Budget{1, 1e-6}), Sensitivity{4, 16})
	got := make([]int64, 2*blockEntries+100)
	if err := n.AddParallel(got, testKey(5), 2); err != nil {
		t.Fatal(err)
	}
	for block := 0; block*blockEntries < len(got); block++ {
		nonce := make([]byte, chacha20.NonceSize)
		nonce[0] = byte(block)
		stream, err := chacha20.NewUnauthenticatedCipher(bytes.Repeat([]byte{5}, 32), nonce)
		if err != nil {
			t.Fatal(err)
		}
		key := make([]byte, 32)
		stream.XORKeyStream(key, key)
		g, err := NewGenerator(bytes.NewReader(key))
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int64, min(blockEntries, len(got)-block*blockEntries))
		n.gaussian.cells().add(g, want)
		if !slices.Equal(got[block*blockEntries:][:len(want)], want) {
			t.Errorf("block %d is another stream", block)
		}
	}
}

// TestAddIsPinned pins the noise of one release under a fixed key, over two blocks.
func TestAddIsPinned(t *testing.T) {
	for name, c := range map[string]struct {
		guarantee Guarantee
		want      string
	}{
		"gaussian": {promise(t, Gaussian, Budget{1, 1e-6}), "cab232d44298ee8daa2bb359a8fad67a3fe5862bfd2e0b71963bccee24971a8f"},
		"laplace":  {promise(t, Laplace, Budget{1, 0}), "34738df296bfcacb1395b01bffca2aec4ac11213d192449e7cc152c726996336"},
	} {
		noise := make([]int64, blockEntries+100)
		if err := calibrate(t, c.guarantee, Sensitivity{1 << 20, 1 << 40}).Add(noise, testKey(1)); err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		if err := binary.Write(sum, binary.LittleEndian, noise); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != c.want {
			t.Errorf("%s: digest %s, want %s", name, got, c.want)
		}
	}
}

func TestAddFailsWhole(t *testing.T) {
	n := calibrate(t, promise(t, Gaussian, Budget{1, 1e-6}), Sensitivity{4, 16})
	broken := errors.New("no entropy today")
	for name, c := range map[string]struct {
		noise Noise
		entry int64
		add   func(Noise, []int64) error
	}{
		"failing entropy":  {n, 1, func(n Noise, v []int64) error { return n.Add(v, iotest.ErrReader(broken)) }},
		"too little":       {n, 1, func(n Noise, v []int64) error { return n.Add(v, bytes.NewReader(make([]byte, 31))) }},
		"entry too large":  {n, maxEntry + 1, func(n Noise, v []int64) error { return n.Add(v, testKey(1)) }},
		"entry too small":  {n, math.MinInt64, func(n Noise, v []int64) error { return n.Add(v, testKey(1)) }},
		"never calibrated": {Noise{}, 1, func(n Noise, v []int64) error { return n.Add(v, testKey(1)) }},
	} {
		v := []int64{1, 2, c.entry}
		err := c.add(c.noise, v)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if !slices.Equal(v, []int64{1, 2, c.entry}) {
			t.Errorf("%s: the sketch was changed", name)
		}
		if strings.Contains(err.Error(), "46116860184273879") {
			t.Errorf("%s: the error holds a data value: %v", name, err)
		}
	}
}

func TestAddNoneReadsNothing(t *testing.T) {
	n := calibrate(t, promise(t, None, Budget{}), Sensitivity{})
	v := []int64{1, 2, 3}
	if err := n.Add(v, iotest.ErrReader(errors.New("touched"))); err != nil || !slices.Equal(v, []int64{1, 2, 3}) {
		t.Errorf("mechanism none: %v, %v", v, err)
	}
}

// FuzzAdd checks on any data that Add either fails and changes nothing, or adds the noise that it
// adds to zeros.
func FuzzAdd(f *testing.F) {
	f.Add(int64(0), byte(0))
	f.Add(int64(math.MaxInt64), byte(1))
	f.Add(int64(-maxEntry), byte(2))
	f.Fuzz(func(t *testing.T, x int64, key byte) {
		n := calibrate(t, promise(t, Laplace, Budget{2, 0}), Sensitivity{8, 8})
		v, zero := []int64{x}, []int64{0}
		err := n.Add(v, testKey(key))
		if err2 := n.Add(zero, testKey(key)); err2 != nil {
			t.Fatal(err2)
		}
		if want := x + zero[0]; err == nil && v[0] != want || err != nil && v[0] != x {
			t.Fatalf("%d became %d (%v), noise %d", x, v[0], err, zero[0])
		}
	})
}
