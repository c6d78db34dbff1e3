package sketch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
)

// newCodebook returns a codebook of d columns, q axes and m code points, with integers of all
// allowed sizes.
func newCodebook(d, q, m int, radius int64, rng *rand.Rand) Codebook {
	row := func(n int, most int64) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = rng.Int64N(2*most+1) - most
		}
		return out
	}
	c := Codebook{Centre: row(d, 4*largest), Radius: radius}
	for range q {
		c.Axes = append(c.Axes, row(d, AxisOne))
	}
	for range m {
		c.Codes = append(c.Codes, row(q, radius))
	}
	return c
}

// naiveCode returns what a record adds: its row, y, and whether y was clipped.
func naiveCode(c Codebook, x []int64) (row int, y []int64, cut bool) {
	for _, axis := range c.Axes {
		var sum float64 // below 2^53, so exact
		for j, v := range x {
			if v != Absent {
				sum += float64(axis[j] * (16*v - c.Centre[j]))
			}
		}
		y = append(y, int64(math.Round(sum/(16*AxisOne))))
	}
	cut = dp.ClipL2(y, c.Radius)
	least := int64(math.MaxInt64)
	for i, code := range c.Codes {
		var far int64
		for a, v := range y {
			far += (v - code[a]) * (v - code[a])
		}
		if far < least {
			row, least = i, far
		}
	}
	return row, y, cut
}

func someRecords(n, d int, rng *rand.Rand) []int64 {
	x := make([]int64, n*d)
	for i := range x {
		if x[i] = rng.Int64N(2*largest+1) - largest; rng.IntN(20) == 0 {
			x[i] = Absent
		}
	}
	return x
}

// The builder's sums equal the definition, for all batch sizes and numbers of workers.
func TestCodesAreTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][3]int{{1, 1, 2}, {3, 2, 5}, {8, 7, 40}, {31, 4, MaxCodes}, {5, MaxCodeAxes, 3}} {
		d, q, m := shape[0], shape[1], shape[2]
		c := newCodebook(d, q, m, largest/16, rng)
		x := someRecords(1500, d, rng)
		for _, w := range []dp.CellWeights{{Count: 90}, dp.NewCellWeights(c.Radius, true)} {
			rows := CodeRows(m, w)
			want := Sketch{Side: Codes, Rows: rows, Cols: 1 + q, Data: make([]int64, rows*(1+q))}
			clipped := int64(0)
			for record := range slices.Chunk(x, d) {
				at, y, cut := naiveCode(c, record)
				want.Row(at)[0] += w.Count
				for a, v := range y {
					want.Row(at)[1+a] += v
				}
				if cut {
					clipped++
					if w.Cut > 0 {
						want.Row(m)[0] += w.Cut
					}
				}
			}
			b, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: make([]int64, d), Largest: largest, Workers: 3}, Codebook: c, Weights: w})
			must(t, err)
			for from := 0; from < 1500; {
				to := min(from+1+rng.IntN(700), 1500)
				must(t, b.Add(x[from*d:to*d]))
				from = to
			}
			got := b.Sketch()
			if got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Data, want.Data) {
				t.Errorf("%v: the sketch differs from its definition", shape)
			}
			if b.Records() != 1500 || b.Clipped() != clipped || clipped == 0 {
				t.Errorf("%v: %d records of which %d are clipped, want %d", shape, b.Records(), b.Clipped(), clipped)
			}
		}
	}
}

// An absent value counts as the centre's.
func TestCodesTakeAbsentValuesAsTheCentre(t *testing.T) {
	c := Codebook{Centre: []int64{160, 32}, Axes: [][]int64{{AxisOne, 0}, {0, AxisOne}}, Codes: [][]int64{{0, 0}, {0, 90}}, Radius: 100}
	b, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: []int64{0, 0}, Largest: largest}, Codebook: c, Weights: dp.CellWeights{Count: 100}})
	must(t, err)
	must(t, b.Add([]int64{Absent, 62, 5, Absent, Absent, Absent}))
	if got, want := b.Sketch().Data, []int64{200, -5, 0, 100, 0, 60}; !slices.Equal(got, want) {
		t.Errorf("sketch %v, want %v", got, want)
	}
}

// If two code points are equally near, the first one counts.
func TestCodesTies(t *testing.T) {
	c := Codebook{Centre: []int64{0}, Axes: [][]int64{{AxisOne}}, Codes: [][]int64{{9}, {-10}, {10}, {-10}}, Radius: 100}
	b, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: []int64{0}, Largest: largest}, Codebook: c, Weights: dp.CellWeights{Count: 1}})
	must(t, err)
	must(t, b.Add([]int64{0, -1, -20, 10}))
	if got, want := b.Sketch().Data, []int64{1, 0, 2, -21, 1, 10, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("sketch %v, want %v", got, want)
	}
}

func TestCodebookValidate(t *testing.T) {
	const bits = fixedpoint.Bits(12)
	good := func() Codebook { return newCodebook(4, 3, 6, 1<<12, rand.New(rand.NewPCG(3, 3))) }
	must(t, good().Validate(4, bits))
	for want, spoil := range map[string]func(*Codebook){
		"a centre of 3 entries":       func(c *Codebook) { c.Centre = c.Centre[1:] },
		"entry 2 of the centre":       func(c *Codebook) { c.Centre[1] = 16<<12 + 1 },
		"0 axes":                      func(c *Codebook) { c.Axes = nil },
		"65 axes":                     func(c *Codebook) { *c = newCodebook(4, 65, 6, 9, rand.New(rand.NewPCG(3, 3))) },
		"axis 2 of 3 entries":         func(c *Codebook) { c.Axes[1] = c.Axes[1][1:] },
		"entry 3 of axis 1 beyond":    func(c *Codebook) { c.Axes[0][2] = -AxisOne - 1 },
		"1 code points":               func(c *Codebook) { c.Codes = c.Codes[:1] },
		"257 code points":             func(c *Codebook) { *c = newCodebook(4, 3, 257, 9, rand.New(rand.NewPCG(3, 3))) },
		"code point 6 of 2 entries":   func(c *Codebook) { c.Codes[5] = c.Codes[5][1:] },
		"entry 1 of code point 4":     func(c *Codebook) { c.Codes[3][0] = math.MinInt64 },
		"radius 0":                    func(c *Codebook) { c.Radius = 0 },
		"radius 1048577":              func(c *Codebook) { c.Radius = MaxRadius + 1 },
		"radius -9223372036854775808": func(c *Codebook) { c.Radius = math.MinInt64 },
	} {
		c := good()
		spoil(&c)
		if err := c.Validate(4, bits); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if _, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: make([]int64, 4), Largest: 1}, Codebook: c, Weights: dp.CellWeights{Count: 1}}); err == nil && want != "entry 2 of the centre" {
			t.Errorf("%s: a builder", want)
		}
	}
	for _, d := range []int{-1, 0, 3, MaxMomentColumns + 1} {
		if good().Validate(d, bits) == nil {
			t.Errorf("accepted of %d columns", d)
		}
	}
	for _, b := range []fixedpoint.Bits{0, 11, 15} {
		if good().Validate(4, b) == nil {
			t.Errorf("accepted at %d bits", b)
		}
	}
}

func TestCodesRefuse(t *testing.T) {
	c := newCodebook(3, 2, 4, 100, rand.New(rand.NewPCG(5, 5)))
	good := CodesOptions{SumsOptions: SumsOptions{Centre: []int64{5, 0, 0}, Largest: 100, Limit: 3}, Codebook: c, Weights: dp.CellWeights{Count: 100}}
	b, err := NewCodes(good)
	must(t, err)
	must(t, b.Add([]int64{105, Absent, -100}))
	before := b.Sketch()
	for want, x := range map[string][]int64{
		"4 entries":    make([]int64, 4),
		"the limit is": make([]int64, 9),
		"entry (2, 1)": {0, 0, 0, 106, 0, 0},
		"entry (1, 3)": {0, 0, math.MinInt64 + 1},
	} {
		if err := b.Add(x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if !slices.Equal(before.Data, b.Sketch().Data) || b.Records() != 1 {
		t.Error("a refused batch left a trace")
	}
	for name, spoil := range map[string]func(*CodesOptions){
		"no weight":        func(o *CodesOptions) { o.Weights = dp.CellWeights{} },
		"a large weight":   func(o *CodesOptions) { o.Weights.Count = 1<<30 + 1 },
		"a negative cut":   func(o *CodesOptions) { o.Weights.Cut = -1 },
		"a large cut":      func(o *CodesOptions) { o.Weights.Cut = 101 },
		"a far centre":     func(o *CodesOptions) { o.Centre = []int64{1 << 21, 0, 0} },
		"no largest":       func(o *CodesOptions) { o.Largest = 0 },
		"too many records": func(o *CodesOptions) { o.Limit = 1 << 61 },
	} {
		o := good
		spoil(&o)
		if _, err := NewCodes(o); err == nil {
			t.Error(name)
		}
	}
}

// extremeCodebook has only the largest integers, of either sign, or zeros. An attacker could send
// it to make sums overflow.
func extremeCodebook(t *rapid.T, d int) Codebook {
	row := func(n int, most int64) []int64 {
		return rapid.SliceOfN(rapid.SampledFrom([]int64{-most, most, most - 1, 0, 1}), n, n).Draw(t, "row")
	}
	c := Codebook{Centre: row(d, 16*fixedpoint.MaxBits.One()), Radius: rapid.SampledFrom([]int64{1, 2, 5, 1000, MaxRadius - 1, MaxRadius}).Draw(t, "radius")}
	q := rapid.SampledFrom([]int{1, 2, 3, MaxCodeAxes}).Draw(t, "axes")
	for range q {
		c.Axes = append(c.Axes, row(d, AxisOne))
	}
	for range rapid.SampledFrom([]int{MinCodes, 3, 7}).Draw(t, "codes") {
		c.Codes = append(c.Codes, row(q, c.Radius))
	}
	return c
}

// No change of one record moves a sketch by more than its sensitivity, whatever the codebook. A
// zeroed record moves it by nearly as much.
func TestCodesSensitivity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SampledFrom([]int{1, 2, 5, 40, MaxMomentColumns}).Draw(t, "columns")
		c := extremeCodebook(t, d)
		if rapid.Bool().Draw(t, "usual") {
			c = newCodebook(d, 3, 5, 1000, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		}
		if err := c.Validate(d, fixedpoint.MaxBits); err != nil {
			t.Fatal(err)
		}
		w := dp.NewCellWeights(c.Radius, rapid.Bool().Draw(t, "cut"))
		largest := rapid.SampledFrom([]int64{1 << 14, 1 << 20}).Draw(t, "largest")
		record := func(name string) []int64 {
			values := rapid.SampledFrom([]int64{-largest, largest, 0, 1, -7, largest / 3, Absent})
			return rapid.SliceOfN(values, d, d).Draw(t, name)
		}
		a, b := record("record"), record("other")
		of := func(x []int64) []int64 {
			b, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: make([]int64, d), Largest: largest}, Codebook: c, Weights: w})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Add(x); err != nil {
				t.Fatal(err)
			}
			return b.Sketch().Data
		}
		first := of(a)
		for n, other := range map[dp.Neighbours][]int64{dp.Zeroed: make([]int64, len(first)), dp.Replaced: of(b)} {
			var l1, l2 int64
			for i, v := range first {
				v -= other[i]
				l1, l2 = l1+max(v, -v), l2+v*v
			}
			s, err := dp.RecordCodes(c.Radius, len(c.Axes), w, n)
			if err != nil {
				t.Fatal(err)
			}
			if l1 > s.L1 || l2 > s.L2Squared {
				t.Fatalf("neighbours %d: a record moves it by %d and %d², more than %+v", n, l1, l2, s)
			}
		}
	})
}

// The bounds are 2r² and 4r², and both are attained.
func TestCodesSensitivityIsAttained(t *testing.T) {
	c := Codebook{Centre: []int64{0}, Axes: [][]int64{{AxisOne}}, Codes: [][]int64{{0}}, Radius: 100}
	c.Codes = append(c.Codes, []int64{0}) // equal points: both records belong to the first
	of := func(x int64) []int64 {
		b, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: []int64{0}, Largest: 200}, Codebook: c, Weights: dp.NewCellWeights(100, false)})
		must(t, err)
		must(t, b.Add([]int64{x}))
		return b.Sketch().Data
	}
	square := func(a, b []int64) (sum int64) {
		for i, v := range a {
			sum += (v - b[i]) * (v - b[i])
		}
		return sum
	}
	for n, got := range map[dp.Neighbours]int64{dp.Zeroed: square(of(200), make([]int64, 4)), dp.Replaced: square(of(200), of(-200))} {
		s, err := dp.RecordCodes(100, 1, dp.NewCellWeights(100, false), n)
		must(t, err)
		if got != s.L2Squared || got != 2*100*100*int64(1+n) {
			t.Errorf("neighbours %d: attained %d of %+v", n, got, s)
		}
	}
}

// One digest over the sums of 10,000 records pins the integers on every architecture.
func TestCodesGolden(t *testing.T) {
	const d = 12
	rng := rand.New(rand.NewPCG(11, 12))
	c := newCodebook(d, 5, 60, 3*largest, rng)
	b, err := NewCodes(CodesOptions{SumsOptions: SumsOptions{Centre: make([]int64, d), Largest: largest, Workers: 2}, Codebook: c, Weights: dp.NewCellWeights(c.Radius, true)})
	must(t, err)
	must(t, b.Add(someRecords(10_000, d, rng)))
	h := sha256.New()
	for _, v := range b.Sketch().Data {
		must(t, binary.Write(h, binary.LittleEndian, v))
	}
	if got, want := hex.EncodeToString(h.Sum(nil)), "de0e4ac09c934bff6d86f6b846fc0eef3c4e20a144fe02fce438af8651c6cced"; got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}
