package release

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// ownPlan returns a party's part of a study whose columns are standardised.
func ownPlan(t *testing.T, columns, neighbours, clip string) Plan {
	t.Helper()
	text := "records: {id: [patient], missing: centre}\ncolumns:\n"
	for _, c := range strings.Split(columns, "\n") {
		text += "  - {" + c + ", owner: north}\n"
	}
	text += "  - {name: other, kind: binary, owner: south}\n  - {name: third, kind: binary, owner: west}\n"
	text += "sketches:\n  - {side: columns, family: sparse, k: 64, s: 2, helpers: {ones: 0.7}, clip: " + clip + ", standardise: own}\n"
	text += "privacy: {unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6" + neighbours + "}\nanalyses: [{kind: correlation}]\n"
	s := registryWith(t, "vertical", text)
	north, _ := s.PartyByName("north")
	p, err := For(s, north, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const ownColumns = `name: bounded, kind: numeric, bounds: [-2, 6]
name: centred, kind: numeric, centre: 10, spread: 2
name: binary, kind: binary
name: rare, kind: binary, centre: 0.03
name: category, kind: categorical, values: [a, b, c]`

// ownRecord returns a random record: at the ends, in the middle, absent or anywhere.
func ownRecord(rng *rand.Rand, p Plan, ends bool) (out []int64) {
	one := p.Study.Bits.One()
	var category, chosen = -1, 0
	for _, f := range p.Features[:p.Values] {
		c := p.Study.Columns[f.Column]
		least := one - c.Scale.Range(p.Study.Bits)
		switch {
		case f.Kind == study.OneHot:
			if f.Column != category {
				category, chosen = f.Column, rng.IntN(len(c.Values)+1)
			}
			var v int64
			if chosen < len(c.Values) && c.Values[chosen] == f.Value {
				v = one
			}
			out = append(out, v)
		case c.Kind == study.Binary || ends:
			out = append(out, []int64{least, one}[rng.IntN(2)])
		case rng.IntN(4) == 0:
			out = append(out, p.still(len(out)).Centre/16)
		default:
			out = append(out, least+rng.Int64N(one-least+1))
		}
	}
	return out
}

func squaredDistance(a, b []int64) (sum int64) {
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

// ownMoves returns looks with extreme and usual values.
func ownMoves(rng *rand.Rand, p Plan) (moves []sketch.Standard) {
	one := p.Study.Bits.One()
	for i := range p.Values {
		m := p.still(i)
		c := p.Study.Columns[p.Features[i].Column]
		if p.scaled(p.Features[i]) {
			m.Spread = 1 + rng.Int64N(48*one)
		}
		if c.Kind == study.Binary {
			m.Centre = rng.Int64N(16*one + 1)
			if rng.IntN(2) == 0 {
				m.Centre = rng.Int64N(one)
			}
		}
		moves = append(moves, m)
	}
	return moves
}

// TestOwnSumsMoveNoFurther: no record moves a look, own sums, or the sketch further than their
// noise covers, and some move a look nearly as far.
func TestOwnSumsMoveNoFurther(t *testing.T) {
	for _, neighbours := range []string{"", ", neighbours: replaced"} {
		for _, columns := range []string{ownColumns, "name: a, kind: binary\nname: b, kind: binary", "name: x, kind: numeric, bounds: [0, 1]"} {
			p := ownPlan(t, columns, neighbours, "1.1")
			rng := rand.New(rand.NewPCG(9, uint64(len(columns))))
			var furthest, ofSums float64
			for n := range 400 {
				with, without := ownRecord(rng, p, n%2 == 0), ownRecord(rng, p, n%2 == 0)
				looks := [2][]int64{}
				for i, record := range [][]int64{with, without} {
					l := p.NewLook()
					if err := l.Add(record); err != nil {
						t.Fatal(err)
					}
					looks[i] = l.sum.Sums()
				}
				if neighbours == "" {
					looks[1] = make([]int64, len(looks[0]))
				}
				furthest = math.Max(furthest, float64(squaredDistance(looks[0], looks[1]))/float64(p.lookChange().L2Squared))
				after, err := p.After(ownMoves(rng, p))
				if err != nil {
					t.Fatal(err)
				}
				exact := [2]sketch.Sketch{}
				for i, record := range [][]int64{with, without} {
					b, err := after.NewBuilder(seed.FromBytes([32]byte{1}), 1)
					if err != nil {
						t.Fatal(err)
					}
					if i == 0 || neighbours != "" {
						if err := b.Add([][]byte{[]byte("one")}, record); err != nil {
							t.Fatal(err)
						}
					}
					exact[i] = b.Exact().Sketch
				}
				at := study.OwnRows * exact[0].Cols
				ofSums = math.Max(ofSums, float64(squaredDistance(exact[0].Data[:at], exact[1].Data[:at]))/float64(after.Own.change.L2Squared))
				if d := squaredDistance(exact[0].Data[at:], exact[1].Data[at:]); d > after.Sensitivity.L2Squared {
					t.Fatalf("a record moves the sketch by √%d, with noise for √%d", d, after.Sensitivity.L2Squared)
				}
			}
			t.Logf("%q%s: looks move by %.3f of the bound, sums by %.3f", columns[:12], neighbours, furthest, ofSums)
			if furthest > 1 || ofSums > 1 {
				t.Errorf("a look moves by %.3f of what its noise is for, own sums by %.3f", furthest, ofSums)
			}
			if furthest < 0.7 || ofSums < 0.2 {
				t.Errorf("looks move by %.3f of the bound, own sums by %.3f: the test could not tell", furthest, ofSums)
			}
		}
	}
}

// TestOwnMomentsAreThoseOfWhatIsSketched: a release of skewed columns is read back as it was made,
// and the published moments are within six standard errors.
func TestOwnMomentsAreThoseOfWhatIsSketched(t *testing.T) {
	p := ownPlan(t, ownColumns+"\n"+"name: never, kind: binary\nname: constant, kind: numeric, bounds: [0, 100]", "", "2.2")
	rng := rand.New(rand.NewPCG(10, 3))
	one := p.Study.Bits.One()
	const n = 20_000
	var ids [][]byte
	var values []int64
	for i := range n {
		ids = append(ids, fmt.Appendf(nil, "record %d", i))
		record := ownRecord(rng, p, false)
		for j, f := range p.Features[:p.Values] {
			switch p.Study.Columns[f.Column].Name {
			case "bounded": // skewed, and far from the middle
				record[j] = int64(math.Min(1, 0.02*rng.ExpFloat64()) * float64(one))
			case "binary", "rare":
				record[j] = 0
				if rng.IntN(30) == 0 {
					record[j] = one
				}
			case "never":
				record[j] = 0
			case "constant":
				record[j] = one / 8
			}
		}
		values = append(values, record...)
	}
	l := p.NewLook()
	if err := l.Add(values); err != nil {
		t.Fatal(err)
	}
	entropy := rand.NewChaCha8([32]byte{7})
	moves, err := l.Draw(entropy)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeLook(EncodeLook(moves)); err != nil || !slices.Equal(back, moves) {
		t.Fatalf("a stored look is read as %v, %v", back, err)
	}
	after, err := p.After(moves)
	if err != nil {
		t.Fatal(err)
	}
	if after.Clip >= p.Clip {
		t.Errorf("rare bits are cut at %d, before the look at %d", after.Clip, p.Clip)
	}
	if _, err := p.NewBuilder(seed.FromBytes([32]byte{1}), 1); err == nil {
		t.Error("a party sketches without its look")
	}
	var sketches []sketch.Sketch
	for _, workers := range []int{1, 3} {
		b, err := after.NewBuilder(seed.FromBytes([32]byte{1}), workers)
		if err != nil {
			t.Fatal(err)
		}
		for from := 0; from < n; from += 6000 {
			to := min(from+6000, n)
			if err := b.Add(ids[from:to], values[from*p.Values:to*p.Values]); err != nil {
				t.Fatal(err)
			}
		}
		wrong := slices.Clone(values[:p.Values])
		wrong[0] = 5 * one
		if err := b.Add(ids[:1], wrong); err == nil {
			t.Fatal("a value out of range is taken")
		}
		sketches = append(sketches, b.Exact().Sketch)
	}
	if !slices.Equal(sketches[0].Data, sketches[1].Data) {
		t.Error("the sketch depends on the workers and batches")
	}
	e := Exact{Sketch: sketches[0]}
	exact := slices.Clone(e.Sketch.Data)
	if err := after.Draw(&e.Sketch, entropy, 2); err != nil {
		t.Fatal(err)
	}
	header, data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if rows, cols := p.Shape(n); header.Rows != rows || header.Cols != cols {
		t.Errorf("a release of %d × %d, want %d × %d", header.Rows, header.Cols, rows, cols)
	}
	if err := p.Check(header, bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
	read, err := Decode(header, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if read, _, err = p.Unpack(read); err != nil {
		t.Fatal(err)
	}
	head := read.Data[:study.OwnRows*read.Cols]
	same, err := p.Owned(head)
	if err != nil || !reflect.DeepEqual(same, after) {
		t.Errorf("the aggregator reads another plan: %v", err)
	}
	for j, o := range same.OwnMoments(head, n) {
		name := p.Study.Columns[p.Features[j].Column].Name
		var sum float64
		for i := range n {
			sum += float64(values[i*p.Values+j])
		}
		mean := (sum/n/float64(one) - same.Centres()[j]) / same.Scales()[j]
		if off := math.Abs(o.Mean - mean); off > 6*math.Sqrt(o.MeanVariance)+1e-4/same.Scales()[j] {
			t.Errorf("%s: the mean is off by %g, its standard error is %g", name, off, math.Sqrt(o.MeanVariance))
		}
		sketched := float64(exact[2*read.Cols+j]) / float64(after.Own.weight) / n / float64(one)
		variance := float64(exact[3*read.Cols+j]*after.Own.quantum)/n/float64(one)/float64(one) - sketched*sketched
		if off := math.Abs(o.Variance - variance); off > 6*math.Sqrt(o.VarianceVariance) {
			t.Errorf("%s: the variance of what is sketched is off by %g of %g, its standard error is %g", name, off, variance, math.Sqrt(o.VarianceVariance))
		}
		if name == "bounded" && (variance < 0.03 || variance > 0.12) {
			t.Errorf("a number with bounds has variance %g once it is scaled", variance)
		}
	}
	shortened := 0
	for i := range n {
		squared, beyond := int64(0), false
		for j, v := range values[i*p.Values:][:p.Values] {
			taken, far := after.take(j, v)
			squared, beyond = squared+taken*taken, beyond || far
		}
		if beyond || squared > after.Cut()*after.Cut() {
			shortened++
		}
	}
	if got := exact[2*read.Cols+p.Values]; got != int64(shortened)*after.Own.counted || shortened < 100 {
		t.Errorf("the sketch counts %d/%d records that it has not as they are, want %d", got, after.Own.counted, shortened)
	}
	if c := same.Shortened(head); math.Abs(c.Value-float64(shortened)) > 6*math.Sqrt(c.Variance) || c.Variance < 1 || c.Variance > 60*60 {
		t.Errorf("of %d records that are not sketched as they are the release counts %g, with a variance of %g", shortened, c.Value, c.Variance)
	}
	// Peer input: whatever a release says of its values, it is refused or within what a party may
	// choose.
	for n := range 2000 {
		bad := slices.Clone(head)
		at := rng.IntN(len(bad))
		bad[at] = []int64{0, -1, math.MinInt64, math.MaxInt64, 1 << 55, -(1 << 55), rng.Int64()}[n%7]
		got, err := p.Owned(bad)
		row, col := at/read.Cols, at%read.Cols
		if reasonable := bad[at] == 0 || row > 1 && col < p.Values || row == 2; err == nil && !reasonable && bad[at] != -1 && n%7 < 6 {
			t.Fatalf("row %d, column %d may be %d", row, col, bad[at])
		}
		if err == nil && (got.Cut() < 1 || got.Clip > p.Clip+1) {
			t.Fatalf("a release is cut at %d, the study says %d", got.Clip, p.Clip)
		}
	}
	if _, err := p.Owned(head[1:]); err == nil {
		t.Error("a shorter head is taken")
	}
}

// TestBitsAreScaledByTheirRates: if rates are far from 1/2, all bits have the same spread in the
// sketch, and ones weigh less. Only very rare bits differ: they reach twice as far as other values.
// If rates are near 1/2 nothing is scaled.
func TestBitsAreScaledByTheirRates(t *testing.T) {
	after := func(rates ...float64) (Plan, float64) {
		var columns []string
		for i := range rates {
			columns = append(columns, fmt.Sprintf("name: c%d, kind: binary", i))
		}
		p := ownPlan(t, strings.Join(columns, "\n"), "", "1.6")
		one := p.Study.Bits.One()
		var moves []sketch.Standard
		for i, rate := range rates {
			m := p.still(i)
			m.Centre = int64(rate * 16 * float64(one))
			moves = append(moves, m)
		}
		p, err := p.After(moves)
		if err != nil {
			t.Fatal(err)
		}
		return p, float64(one)
	}
	rates := []float64{0.004, 0.03, 0.05, 0.95, 0.1, 0.2, 0.5, 0.5}
	p, one := after(rates...)
	for i, rate := range rates {
		low, _ := p.take(i, 0)
		high, beyond := p.take(i, int64(one))
		spread := float64(high-low) * math.Sqrt(rate*(1-rate)) / one
		if want := 1. / 3; rate >= 0.03 && math.Abs(spread-want) > 0.01*want {
			t.Errorf("a rate of %g: a spread of %g in the sketch", rate, spread)
		}
		if beyond || high > int64(2*one) || rate == 0.004 && high < int64(1.9*one) {
			t.Errorf("a rate of %g: a 1 is %g in the sketch, beyond: %t", rate, float64(high)/one, beyond)
		}
	}
	if p.OnesWeight() != 0.5 {
		t.Errorf("ones weigh %g", p.OnesWeight())
	}
	p, one = after(0.3, 0.5, 0.6, 0.5)
	low, _ := p.take(0, 0)
	if high, _ := p.take(0, int64(one)); float64(high) != one/2 || float64(low) != -one/2 || math.Abs(p.OnesWeight()-0.7) > 1e-3 {
		t.Errorf("a bit is %d or %d of %g, and ones weigh %g", low, high, one, p.OnesWeight())
	}
}
