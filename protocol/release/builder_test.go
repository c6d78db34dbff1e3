package release_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// inBatches sketches records in batches of random size, in the given order of records. The returned
// order refers to the records of d.
func inBatches(t *rapid.T, rng *rand.Rand, p release.Plan, d data, order []int, workers int) release.Exact {
	b, err := p.NewBuilder(releasetest.Seed(1), workers)
	if err != nil {
		t.Fatal(err)
	}
	for rest := order; len(rest) > 0; {
		batch := rest[:rng.IntN(len(rest)+1)]
		rest = rest[len(batch):]
		var part data
		for _, i := range batch {
			part.ids = append(part.ids, d.ids[i])
			part.values = append(part.values, d.values[i*p.Values:][:p.Values]...)
		}
		if err := b.Add(part.ids, part.values); err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.Finish(releasetest.Entropy(rng.IntN(1000)))
	if err != nil {
		t.Fatal(err)
	}
	for i, from := range out.Order {
		out.Order[i] = order[from]
	}
	return out
}

// TestExactSketchIsAFunctionOfTheData: the bytes before noise depend only on the records, not on
// their order, the batches or the number of workers. On the records side this holds for the rows,
// up to the order that Finish reports.
func TestExactSketchIsAFunctionOfTheData(t *testing.T) {
	eachPlan(t, func(t *testing.T, p release.Plan, _ dp.Unit) {
		rng := rand.New(rand.NewPCG(5, 5))
		d := randomData(rng, p, 37)
		want := encoded(t, exact(t, p, releasetest.Seed(1), d))
		clipped := -1
		rapid.Check(t, func(rt *rapid.T) {
			rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "order"), 6))
			workers := rapid.IntRange(0, 4).Draw(rt, "workers")
			got := inBatches(rt, rng, p, d, rng.Perm(len(d.ids)), workers)
			if !bytes.Equal(encoded(t, inOrder(got)), want) {
				rt.Fatal("other bytes")
			}
			if clipped < 0 {
				clipped = int(got.Clipped)
			}
			if int(got.Clipped) != clipped {
				rt.Fatalf("%d records clipped, then %d", clipped, got.Clipped)
			}
		})
	})
}

// TestExactSketchesArePinned pins one digest over the sketches of every shape, for vertical and
// horizontal studies. Parties on any machine, and with any later version that reads these studies,
// make the same integers. Rows of R come from keys and labels that package seed pins itself.
func TestExactSketchesArePinned(t *testing.T) {
	digest := sha256.New()
	eachPlan(t, func(t *testing.T, p release.Plan, _ dp.Unit) {
		d := randomData(rand.New(rand.NewPCG(5, 12)), p, 7)
		digest.Write(encoded(t, exact(t, p, releasetest.Seed(3), d)))
	})
	const want = "8b4b0b0ab168dbbcd284b8bf03960753225064279285630db464822f99ef5159"
	if got := hex.EncodeToString(digest.Sum(nil)); got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// TestExactSketchDependsOnSeedAndParty: another seed gives another sketch of the same records. In a
// horizontal study another party does, too; parties of a vertical study share their rows.
func TestExactSketchDependsOnSeedAndParty(t *testing.T) {
	for _, partition := range []study.Partition{study.Vertical, study.Horizontal} {
		s := releasetest.Study(t, releasetest.Terms{Partition: partition, Columns: []string{releasetest.Binary}, Privacy: releasetest.NoPromise, Sketches: []string{"{side: columns, family: sparse, k: 64, helpers: {ones: 0}}"}})
		d := randomData(rand.New(rand.NewPCG(1, 7)), releasetest.Plan(t, s, 0), 30)
		var sketches [][]byte
		for party := range s.Parties {
			p, err := release.For(s, party, 0)
			if err != nil {
				t.Fatal(err)
			}
			sketches = append(sketches, encoded(t, exact(t, p, releasetest.Seed(1), d)))
		}
		if same := bytes.Equal(sketches[0], sketches[1]) && bytes.Equal(sketches[1], sketches[2]); same != (partition == study.Vertical) {
			t.Errorf("%s: equal sketches of equal records: %v", partition, same)
		}
		if other := encoded(t, exact(t, releasetest.Plan(t, s, 0), releasetest.Seed(2), d)); slices.ContainsFunc(sketches, func(b []byte) bool { return bytes.Equal(b, other) }) {
			t.Errorf("%s: two seeds, one sketch", partition)
		}
	}
}

// TestFeaturesOfARecord reads the derived vector from a sketch of one record with k = 1, where R is
// one sign: values, their squares in units of 2^-bits, and ones.
func TestFeaturesOfARecord(t *testing.T) {
	for _, test := range []struct {
		name, helpers string
		values, want  []int64
	}{
		{"values", "{ones: 0}", []int64{256, -100, 0, 256, 0}, []int64{256, -100, 0, 256, 0}},
		{"ones", "{ones: 0.3}", []int64{128, 0, 0, 0, 0}, []int64{0, 0, 0, 0, 0, 77}}, // 76.8; centred at the middle of the bounds
		{"the greatest", "{ones: 1}", []int64{256, 2, 0, 0, 0}, []int64{128, 2, 0, 0, 0, 256}},
		{"whole ones", "{ones: 1}", []int64{1, 2, 0, 0, 0}, []int64{-127, 2, 0, 0, 0, 256}},
		{
			"squares and ones", "{ones: 1, squares: true}",
			[]int64{100, -256, 0, 256, 0},
			[]int64{-28, -256, 0, 256, 0, 3, 256, 0, 256, 0, 256}, // 28²/256 = 3.06
		},
		{
			"squares round to nearest", "{ones: 0, squares: true}",
			[]int64{128, -90, 0, 0, 0},
			[]int64{128, -90, 0, 0, 0, 64, 32, 0, 0, 0}, // 90²/256 = 31.6
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := releasetest.Study(t, releasetest.Terms{
				Partition: study.Vertical, Columns: []string{releasetest.Bounded, releasetest.Centred, releasetest.Categorical}, Privacy: releasetest.NoPromise,
				Sketches: []string{"{side: columns, family: rademacher, k: 1, helpers: " + test.helpers + "}"},
			})
			got := exact(t, releasetest.Plan(t, s, 0), releasetest.Seed(1), data{ids: [][]byte{[]byte("x")}, values: test.values}).Data
			negative := make([]int64, len(got))
			for i, v := range got {
				negative[i] = -v
			}
			if !slices.Equal(got, test.want) && !slices.Equal(negative, test.want) {
				t.Errorf("derived ±%v, want %v", got, test.want)
			}
		})
	}
}

// TestIdentityShipsTheRecords: without projection a row is the record.
func TestIdentityShipsTheRecords(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Centred, releasetest.Bounded}, Privacy: releasetest.Laplace, Sketches: []string{"{side: records, family: identity}"}})
	p := releasetest.Plan(t, s, 0)
	d := randomData(rand.New(rand.NewPCG(1, 8)), p, 9)
	if got := exact(t, p, releasetest.Seed(1), d); !slices.Equal(got.Data, d.values) || got.Rows != 9 || got.Cols != 2 {
		t.Errorf("%s has %v, want %v", got, got.Data, d.values)
	}
}

// TestAddRefuses: Add's errors name the shape and never a value, and a refused batch changes
// nothing.
func TestAddRefuses(t *testing.T) {
	for _, side := range []string{
		"{side: columns, family: sparse, k: 4, helpers: {ones: 0.3}, clip: 0.8}",
		"{side: records, family: sparse, k: 4, clip: 0.8}",
	} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Centred, releasetest.Bounded}, Privacy: promises[3].privacy, Sketches: []string{side}})
		p := releasetest.Plan(t, s, 0)
		if p.Limit < 1<<30 {
			t.Errorf("%s: the limit is %d records", side, p.Limit)
		}
		p.Limit = 3
		x := [][]byte{[]byte("x")}
		three := data{ids: [][]byte{x[0], []byte("y"), []byte("z")}, values: []int64{256, 256, 1, 2, -256, 256}}
		b, err := p.NewBuilder(releasetest.Seed(1), 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, refused := range []struct {
			what string
			data data
			want string
		}{
			{"too few values", data{x, []int64{1}}, "batch of 1 records has 1 values, want 2 each"},
			{"too many values", data{x, []int64{1, 2, 3}}, "batch of 1 records has 3 values, want 2 each"},
			{"values without a record", data{nil, []int64{1, 2}}, "batch of 0 records has 2 values, want 2 each"},
			{"more than the limit", data{append(three.ids, x...), append(three.values, 256, 256)}, "the limit is 3"},
		} {
			if err := b.Add(refused.data.ids, refused.data.values); err == nil || !strings.Contains(err.Error(), refused.want) {
				t.Errorf("%s: %s: %v, want %q", side, refused.what, err, refused.want)
			}
		}
		if err := b.Add(three.ids, three.values); err != nil {
			t.Fatal(err)
		}
		if err := b.Add(x, []int64{256, 256}); err == nil || !strings.Contains(err.Error(), "the limit is 3") {
			t.Errorf("%s: a record beyond the limit: %v", side, err)
		}
		got, err := b.Finish(releasetest.Entropy(0))
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := p.NewBuilder(releasetest.Seed(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := fresh.Add(three.ids, three.values); err != nil {
			t.Fatal(err)
		}
		if want, err := fresh.Finish(releasetest.Entropy(0)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: refused batches left a trace: %d records clipped, then %d (%v)", side, got.Clipped, want.Clipped, err)
		}
	}
}

// TestLimitKeepsEntriesInRange: at the limit, records that all add their largest entry to one place
// stay just below what Decode accepts.
func TestLimitKeepsEntriesInRange(t *testing.T) {
	for bits := 1; bits <= 14; bits++ {
		for _, family := range []string{"sparse, k: 4, s: 2", "rademacher, k: 4", "achlioptas, k: 4"} {
			s := releasetest.Study(t, releasetest.Terms{
				Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Bits: bits, Privacy: releasetest.Laplace,
				Sketches: []string{"{side: columns, family: " + family + "}"},
			})
			if p := releasetest.Plan(t, s, 0); p.Limit*s.Bits.One() > largest+1 || p.Limit*s.Bits.One() < largest/2 {
				t.Errorf("%v with %d bits: a limit of %d records", p.Spec(), bits, p.Limit)
			}
		}
	}
}

// TestEncodedRangeIsChecked: values that no encoder makes are refused, not summed.
func TestEncodedRangeIsChecked(t *testing.T) {
	for _, side := range []string{"{side: columns, family: sparse, k: 4}", "{side: records, family: sparse, k: 4}"} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Centred}, Privacy: releasetest.Laplace, Sketches: []string{side}})
		for _, v := range []int64{257, -257, math.MaxInt64, math.MinInt64} {
			b, err := releasetest.Plan(t, s, 0).NewBuilder(releasetest.Seed(1), 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Add([][]byte{[]byte("x")}, []int64{v}); err == nil || !strings.Contains(err.Error(), "exceeds ±256") {
				t.Errorf("%s: %d: %v", side, v, err)
			}
		}
	}
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: releasetest.Laplace, Sketches: []string{"{side: columns, family: sparse, k: 4, helpers: {ones: 1}}"}})
	for v, refused := range map[int64]bool{-256: true, -128: false, 0: false, 256: false, 257: true} { // from 0 to 256, centred at 128
		b, err := releasetest.Plan(t, s, 0).NewBuilder(releasetest.Seed(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add([][]byte{[]byte("x")}, []int64{v}); (err != nil) != refused {
			t.Errorf("around a centre: %d: %v", v, err)
		}
	}
}

// TestAddAllocatesByTheBatch: Add allocates per batch, not per record, for both kinds of labels.
func TestAddAllocatesByTheBatch(t *testing.T) {
	for _, partition := range []study.Partition{study.Vertical, study.Horizontal} {
		s := releasetest.Study(t, releasetest.Terms{Partition: partition, Columns: []string{releasetest.Centred}, Privacy: releasetest.Laplace, Sketches: []string{"{side: columns, family: sparse, k: 4}"}})
		b, err := releasetest.Plan(t, s, 0).NewBuilder(releasetest.Seed(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		d := data{values: make([]int64, 500)}
		for i := range d.values {
			d.ids = append(d.ids, fmt.Appendf(nil, "record %d", i))
		}
		if n := testing.AllocsPerRun(10, func() { b.Add(d.ids, d.values) }); n > 20 {
			t.Errorf("%s: %.0f allocations for %d records", partition, n, len(d.ids))
		}
	}
}

// orders counts the orders that Finish draws and reports for n records.
func orders(t *testing.T, n, draws int) map[[4]int]float64 {
	t.Helper()
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: releasetest.Laplace, Sketches: []string{"{side: records, family: identity}"}})
	p := releasetest.Plan(t, s, 0)
	d := data{values: []int64{10, 20, 30, 40}[:n]}
	for i := range n {
		d.ids = append(d.ids, []byte{byte(i)})
	}
	stream := releasetest.Entropy(99)
	counts := map[[4]int]float64{}
	for range draws {
		b, err := p.NewBuilder(releasetest.Seed(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d.ids, d.values); err != nil {
			t.Fatal(err)
		}
		out, err := b.Finish(stream)
		if err != nil {
			t.Fatal(err)
		}
		var order [4]int
		for i, from := range out.Order {
			order[i] = from
			if out.Sketch.Row(i)[0] != d.values[from] {
				t.Fatalf("row %d is not record %d, as order %v says", i, from, out.Order)
			}
		}
		counts[order]++
	}
	return counts
}

// uniform returns Pearson's statistic for equally likely orders over its critical
// value at the false-rejection rate 1e-6.
func uniform(counts map[[4]int]float64, orders int) float64 {
	var n, statistic float64
	for _, c := range counts {
		n += c
	}
	expected := n / float64(orders)
	for _, c := range counts {
		statistic += (c - expected) * (c - expected) / expected
	}
	statistic += expected * float64(orders-len(counts))
	return statistic / distuv.ChiSquared{K: float64(orders - 1)}.Quantile(1-1e-6)
}

// TestOrderIsAUniformPermutation: a row's place reveals nothing about its record. The stream of
// entropy is fixed, so the test is deterministic; over the choice of the stream it rejects a
// uniform order with probability 1e-6. Power: the same number of draws rejects the well-known wrong
// shuffle, which swaps every place with any other.
func TestOrderIsAUniformPermutation(t *testing.T) {
	const draws = 12_000
	for n, all := range map[int]int{2: 2, 3: 6, 4: 24} {
		if s := uniform(orders(t, n, draws), all); s > 1 {
			t.Errorf("orders of %d rows: chi-square is %.2f of its critical value", n, s)
		}
	}
	rng, wrong := rand.New(rand.NewPCG(1, 9)), map[[4]int]float64{}
	for range draws {
		order := [4]int{0, 1, 2, 3}
		for i := range order {
			j := rng.IntN(len(order))
			order[i], order[j] = order[j], order[i]
		}
		wrong[order]++
	}
	if s := uniform(wrong, 24); s <= 1 {
		t.Errorf("the test does not notice a wrong shuffle: %.2f of its critical value", s)
	}
}

// TestOrderNeedsEntropy: on the records side a failing source is an error. The columns side draws
// no order and reads nothing.
func TestOrderNeedsEntropy(t *testing.T) {
	failing := iotest.ErrReader(errors.New("no entropy today"))
	for _, test := range []struct {
		sketch string
		side   sketch.Side
	}{
		{"{side: columns, family: sparse, k: 4}", sketch.Columns},
		{"{side: records, family: sparse, k: 4}", sketch.Records},
	} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: releasetest.Laplace, Sketches: []string{test.sketch}})
		b, err := releasetest.Plan(t, s, 0).NewBuilder(releasetest.Seed(1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add([][]byte{[]byte("x"), []byte("y")}, []int64{1, 2}); err != nil {
			t.Fatal(err)
		}
		out, err := b.Finish(failing)
		if (err != nil) != (test.side == sketch.Records) || (out.Sketch.Data == nil) != (err != nil) {
			t.Errorf("%s: %v, %v", test.side, out.Sketch, err)
		}
	}
}

// TestBuilderNeedsASeed: an absent or destroyed seed gives no rows.
func TestBuilderNeedsASeed(t *testing.T) {
	for _, sk := range []string{"{side: columns, family: sparse, k: 4}", "{side: records, family: sparse, k: 4}"} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: releasetest.Laplace, Sketches: []string{sk}})
		gone := releasetest.Seed(1)
		gone.Destroy()
		if _, err := releasetest.Plan(t, s, 0).NewBuilder(gone, 1); err == nil || !strings.Contains(err.Error(), "opening sketch 1") {
			t.Errorf("%s: %v", sk, err)
		}
	}
}

// TestWorkersDeriveTheSame: batches shared by several goroutines clip the same records to the same
// bytes.
func TestWorkersDeriveTheSame(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Centred, releasetest.Bounded}, Privacy: promises[3].privacy,
		Sketches: []string{"{side: columns, family: sparse, k: 16, helpers: {ones: 0.3, squares: true}, clip: 0.8}"}})
	p := releasetest.Plan(t, s, 0)
	d := randomData(rand.New(rand.NewPCG(5, 13)), p, 3001)
	var want release.Exact
	for _, workers := range []int{1, 2, 7} {
		b, err := p.NewBuilder(releasetest.Seed(1), workers)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add(d.ids, d.values); err != nil {
			t.Fatal(err)
		}
		got, err := b.Finish(releasetest.Entropy(0))
		if err != nil {
			t.Fatal(err)
		}
		if workers == 1 {
			want = got
		}
		if !reflect.DeepEqual(got, want) || got.Clipped == 0 || got.Clipped == 3001 {
			t.Errorf("%d workers: %d records clipped, want the sketch of one with %d", workers, got.Clipped, want.Clipped)
		}
	}
}

// Without a seed there is no matrix, and no builder for a sketch that has one.
func TestNoBuilderWithoutASeed(t *testing.T) {
	const record = "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	for _, sketch := range []string{
		"{side: columns, family: sparse, k: 8, clip: 0.8}", "{side: columns, family: rademacher, k: 6, clip: 0.8}",
		"{side: records, family: sparse, k: 8, clip: 0.8}", "{side: records, family: hadamard, k: 1, clip: 0.8}", "{side: cells, L: 1, clip: 0.8}",
	} {
		s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Privacy: record, Sketches: []string{sketch}})
		p := releasetest.Plan(t, s, 0)
		if b, err := p.NewBuilder(seed.Seed{}, 1); !errors.Is(err, seed.ErrAbsent) {
			t.Errorf("%s: a builder %v, %v", sketch, b != nil, err)
		}
		if _, err := p.NewBuilder(releasetest.Seed(1), 1); err != nil {
			t.Errorf("%s: with a seed: %v", sketch, err)
		}
	}
}
