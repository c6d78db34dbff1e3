package release_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"
	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// joined is a study whose parties' columns are mixed in the file: south's and west's come after
// north's, the first of which is categorical.
func joined(t testing.TB, privacy string, sketches ...string) *study.Study {
	t.Helper()
	return releasetest.Study(t, releasetest.Terms{
		Partition: study.Vertical, Columns: []string{releasetest.Categorical, releasetest.Bounded, releasetest.Centred}, Sketches: sketches, Privacy: privacy, Missing: "refuse",
	})
}

// part returns one party's exact sketch of some records.
func part(t testing.TB, s *study.Study, party, index, root int, d data) release.Exact {
	t.Helper()
	p, err := release.For(s, party, index)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.NewBuilder(releasetest.Seed(root), 1)
	if err != nil {
		t.Fatal(err)
	}
	half := len(d.ids) / 2 // in two batches
	if err := b.Add(d.ids[:half], d.values[:half*p.Values]); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(d.ids[half:], d.values[half*p.Values:]); err != nil {
		t.Fatal(err)
	}
	out, err := b.Finish(releasetest.Entropy(1))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// direct projects whole records by all columns' rows of R, without plans or builders. Values with
// bounds are centred at their middle, in the order of the study's columns.
func direct(t testing.TB, s *study.Study, root int, spec projection.Spec, values map[string][]int64) []int64 {
	t.Helper()
	var labels [][]byte
	var x []int64
	for _, c := range s.Columns {
		own := values[c.Name]
		if c.Kind == study.Categorical {
			for i, v := range c.Values {
				labels, x = append(labels, stream.ValueLabel(c.Name, v)), append(x, own[i])
			}
			continue
		}
		v := own[0]
		if c.Scale.Range(s.Bits) == s.Bits.One() {
			v -= s.Bits.One() / 2
		}
		labels, x = append(labels, stream.ColumnLabel(c.Name)), append(x, v)
	}
	keys := map[seed.Label]stream.Stream{}
	for _, l := range []seed.Label{seed.ColumnRows, seed.HadamardPermutation} {
		key, err := releasetest.Seed(root).Derive(l)
		if err != nil {
			t.Fatal(err)
		}
		keys[l] = stream.New(key)
	}
	fixed, err := projection.Fix(spec, keys[seed.ColumnRows], labels)
	if spec.Family == projection.Hadamard {
		fixed, err = projection.FixHadamard(spec, keys[seed.ColumnRows], keys[seed.HadamardPermutation], labels)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int64, spec.K)
	fixed.Project(out, x)
	return out
}

// For every family, the rows of three parties with the same pseudonym add up exactly to the
// projection of all columns of that record.
func TestJoinedSketchesAddUp(t *testing.T) {
	for _, entry := range []string{
		"{side: records, family: sparse, k: 8, s: 2}", "{side: records, family: rademacher, k: 5}", "{side: records, family: achlioptas, k: 7}",
		"{side: records, family: gaussian, k: 4}", "{side: records, family: hadamard, k: 3}", "{side: records, family: hadamard, k: 8}",
		"{side: records, family: identity}",
	} {
		s := joined(t, releasetest.NoPromise, entry)
		spec := s.Sketches[0].Projection
		rng := rand.New(rand.NewPCG(7, 7))
		const records = 9
		sums := map[release.Pseudonym][]int64{}
		whole := make([]map[string][]int64, records)
		byID := map[release.Pseudonym]int{}
		for party := range s.Parties {
			p, err := release.For(s, party, 0)
			if err != nil {
				t.Fatal(err)
			}
			d := randomData(rng, p, records)
			e := part(t, s, party, 0, 3, d)
			for row, name := range e.Rows.Pseudonyms {
				record := e.Order[row]
				if at, known := byID[name]; known && at != record {
					t.Fatalf("%s: records %d and %d share a pseudonym", entry, at, record)
				}
				byID[name] = record
				if sums[name] == nil {
					sums[name] = make([]int64, spec.K)
				}
				for j, v := range e.Sketch.Row(row) {
					sums[name][p.Coordinates()[j]] += v
				}
				if whole[record] == nil {
					whole[record] = map[string][]int64{}
				}
				own := d.values[record*p.Values : (record+1)*p.Values]
				for _, c := range s.OwnColumns(party) {
					n := max(1, len(s.Columns[c].Values))
					whole[record][s.Columns[c].Name], own = own[:n], own[n:]
				}
			}
		}
		if len(sums) != records {
			t.Fatalf("%s: %d records of %d", entry, len(sums), records)
		}
		for name, got := range sums {
			if want := direct(t, s, 3, spec, whole[byID[name]]); !slices.Equal(got, want) {
				t.Errorf("%s: record %d adds up to %v, want %v", entry, byID[name], got, want)
			}
		}
	}
}

// Pseudonyms are as SPEC.md defines them: equal at every party, whatever the order of records and
// whichever others there are, and different under another seed and in another sketch. Rows are
// released in the order of pseudonyms.
func TestPseudonyms(t *testing.T) {
	s := joined(t, releasetest.Laplace, "{side: records, family: sparse, k: 8}", "{side: records, family: identity}")
	ids := [][]byte{[]byte("b"), []byte("a"), []byte("ü")}
	of := func(party, index, root int, ids [][]byte) release.Exact {
		p, err := release.For(s, party, index)
		if err != nil {
			t.Fatal(err)
		}
		return part(t, s, party, index, root, data{ids, make([]int64, len(ids)*p.Values)})
	}
	first, other := of(0, 1, 1, ids), of(2, 1, 1, [][]byte{ids[2], []byte("c"), ids[0], ids[1]})
	key, err := releasetest.Seed(1).Derive("pseudonyms")
	if err != nil {
		t.Fatal(err)
	}
	for row, name := range first.Rows.Pseudonyms {
		id := ids[first.Order[row]]
		message := append(append(key[:], 0, 0, 0, 1), id...)
		if want := blake2b.Sum512(message); !bytes.Equal(name[:], want[:16]) {
			t.Errorf("pseudonym of %q is %x, want %x", id, name, want[:16])
		}
		if !slices.Contains(other.Rows.Pseudonyms, name) {
			t.Errorf("%q has another pseudonym at another party", id)
		}
	}
	if !slices.IsSortedFunc(other.Rows.Pseudonyms, release.Pseudonym.Compare) {
		t.Error("rows are not in the order of their pseudonyms")
	}
	for what, e := range map[string]release.Exact{"sketch": of(0, 0, 1, ids), "seed": of(0, 1, 2, ids)} {
		for _, name := range e.Rows.Pseudonyms {
			if slices.Contains(first.Rows.Pseudonyms, name) {
				t.Errorf("a pseudonym is there under another %s, too", what)
			}
		}
	}
	again, err := releasetest.Plan(t, s, 1).Pseudonyms(releasetest.Seed(1), ids)
	if err != nil {
		t.Fatal(err)
	}
	for row, record := range first.Order {
		if again[record] != first.Rows.Pseudonyms[row] {
			t.Error("Pseudonyms differs from what a builder made")
		}
	}
}

func TestDecodeRows(t *testing.T) {
	s := joined(t, releasetest.Laplace, "{side: records, family: sparse, k: 8}")
	p := releasetest.Plan(t, s, 0)
	e := part(t, s, p.Party, 0, 1, randomData(rand.New(rand.NewPCG(1, 2)), p, 5))
	header, raw, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := release.CheckHeader(s, p.Party, protocol.Release{Records: 5, Sketches: []protocol.ReleasedSketch{header}}); err != nil {
		t.Error(err)
	}
	rows, err := release.DecodeRows(header, bytes.NewReader(raw[header.Entries():]), nil)
	if err != nil || !slices.Equal(rows.Pseudonyms, e.Rows.Pseudonyms) {
		t.Errorf("%v: %v", err, rows)
	}
	if back, err := release.Decode(header, bytes.NewReader(raw)); err != nil || !slices.Equal(back.Data, e.Sketch.Data) {
		t.Errorf("%v: entries changed", err)
	}
	at := int(header.Entries())
	swapped := slices.Clone(raw)
	copy(swapped[at:], raw[at+16:at+32])
	copy(swapped[at+16:], raw[at:at+16])
	twice := slices.Clone(raw)
	copy(twice[at:], raw[at+16:at+32])
	unknown := header
	unknown.RowColumns = []protocol.RowColumn{{Name: "surname", Width: 16}}
	for _, test := range []struct {
		what   string
		header protocol.ReleasedSketch
		data   []byte
		want   string
	}{
		{"swapped", header, swapped, "not ascending"},
		{"twice", header, twice, "one is there twice"},
		{"too short", header, raw[:len(raw)-1], "end before row column"},
		{"too long", header, append(slices.Clone(raw), 0), "more than"},
		{"unknown", unknown, raw, `unknown row column "surname"`},
	} {
		if _, err := release.DecodeRows(test.header, bytes.NewReader(test.data[at:]), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.what, err, test.want)
		}
	}
	for what, columns := range map[string][]protocol.RowColumn{
		"none": nil, "another": unknown.RowColumns, "two": slices.Repeat(header.RowColumns, 2),
	} {
		h := header
		h.RowColumns = columns
		if err := release.CheckHeader(s, p.Party, protocol.Release{Records: 5, Sketches: []protocol.ReleasedSketch{h}}); err == nil || !strings.Contains(err.Error(), "row columns") {
			t.Errorf("%s: %v", what, err)
		}
	}
	bare := release.Exact{Sketch: sketch.Sketch{Side: sketch.Records, Rows: 2, Cols: 1, Data: []int64{1, 2}}, Rows: release.Rows{Pseudonyms: make([]release.Pseudonym, 3)}}
	if _, _, err := bare.Encode(); err == nil {
		t.Error("encoded 3 pseudonyms of 2 rows")
	}
}

// A party without a record adds nothing, so its values count as the public centre: a record with
// all values at their centre is zero, except for categories.
func TestAbsentRecordsAreAtTheCentre(t *testing.T) {
	for _, entry := range []string{"{side: records, family: identity}", "{side: records, family: rademacher, k: 6}"} {
		s := joined(t, releasetest.NoPromise, entry)
		one := s.Bits.One()
		p := releasetest.Plan(t, s, 0)
		e := part(t, s, p.Party, 0, 1, data{[][]byte{[]byte("a")}, []int64{0, 0, 0, one / 2, 0}})
		if slices.ContainsFunc(e.Sketch.Data, func(v int64) bool { return v != 0 }) {
			t.Errorf("%s: the middle of bounds and a centre become %v", entry, e.Sketch.Data)
		}
	}
}

// New records are placed where a release without noise would have them, with the same clipping.
// Parts of records are not placed.
func TestPlacer(t *testing.T) {
	for _, privacy := range []string{releasetest.Laplace, "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}", "{unit: attribute, mechanism: randomised-response, epsilon: 1}"} {
		for _, family := range []string{"family: hadamard, k: 2", "family: sparse, k: 8", "family: identity"} {
			entry, columns := "{side: records, "+family, []string{releasetest.Centred, releasetest.Bounded}
			if strings.Contains(privacy, "unit: record") {
				entry += ", clip: 0.3"
			}
			if strings.Contains(privacy, "response") {
				columns = []string{releasetest.Binary, second}
			}
			s := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: columns, Sketches: []string{entry + "}"}, Privacy: privacy, Missing: "refuse"})
			p := releasetest.Plan(t, s, 0)
			kept, err := releasetest.Seed(3).Keep(release.PlacingKeys()...)
			if err != nil {
				t.Fatal(err)
			}
			placer, err := p.NewPlacer(kept, 1)
			if err != nil {
				t.Fatal(err)
			}
			d := randomData(rand.New(rand.NewPCG(5, 1)), p, 30)
			if strings.Contains(privacy, "response") {
				for i, v := range d.values { // only bits, none absent
					d.values[i] = v / s.Bits.One() * s.Bits.One()
				}
			}
			none := p
			none.Flips = dp.Flips{} // under randomised response, the exact sketch is already noised
			want := exact(t, none, releasetest.Seed(3), d)
			for range 2 { // a placer can be used again after a batch
				got, err := placer.Place(d.ids, d.values)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range want.Data {
					if got[i] != float64(v)*none.Unit() {
						t.Fatalf("%s, %s: entry %d is %v, want %v", privacy, family, i, got[i], float64(v)*none.Unit())
					}
				}
			}
		}
	}
	joinedStudy := joined(t, releasetest.Laplace, "{side: records, family: identity}")
	if _, err := releasetest.Plan(t, joinedStudy, 0).NewPlacer(releasetest.Seed(1), 1); err == nil || !strings.Contains(err.Error(), "vertical") {
		t.Errorf("placed a part of a record: %v", err)
	}
}

// Row columns that can be read are written as the same bytes again, and name no record twice.
func FuzzDecodeRows(f *testing.F) {
	one := []byte("0123456789abcdef")
	f.Add(int64(1), int64(2), append([]byte{1, 2}, one...))
	f.Add(int64(2), int64(1), append(append([]byte{1, 2}, one...), "0123456789abcdeg"...))
	f.Add(int64(2), int64(1), append(append([]byte{1, 2}, one...), one...))
	f.Add(int64(0), int64(0), []byte{})
	f.Fuzz(func(t *testing.T, rows, cols int64, data []byte) {
		if rows < 1 || cols < 1 || rows > 1<<20 || cols > 1<<20 {
			return // already refused with the header
		}
		h := protocol.ReleasedSketch{Side: sketch.Records, Rows: rows, Cols: cols, Width: 1, RowColumns: []protocol.RowColumn{{Name: "pseudonym", Width: 16}}}
		r := bytes.NewReader(data)
		if h.Entries() > int64(len(data)) {
			return
		}
		s, err := release.Decode(h, r)
		if err != nil {
			return
		}
		got, err := release.DecodeRows(h, r, nil)
		if checked := (release.Plan{}).Check(h, bytes.NewReader(data)); (checked == nil) != (err == nil) {
			t.Fatalf("Check: %v, DecodeRows: %v", checked, err)
		}
		if err != nil {
			return
		}
		seen := map[release.Pseudonym]bool{}
		for _, p := range got.Pseudonyms {
			if seen[p] {
				t.Fatal("a record is there twice")
			}
			seen[p] = true
		}
		_, again, err := release.Exact{Sketch: s, Rows: got}.Encode()
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%v: other bytes", err)
		}
	})
}

// Matrix and Centres describe how a party's part of a joined sketch was made.
func TestJoinedMatrix(t *testing.T) {
	for _, family := range []string{"family: sparse, k: 8, s: 2", "family: hadamard, k: 3", "family: identity"} {
		s := joined(t, releasetest.NoPromise, "{side: records, "+family+"}")
		p := releasetest.Plan(t, s, 0)
		d := randomData(rand.New(rand.NewPCG(3, 9)), p, 6)
		got := exact(t, p, releasetest.Seed(4), d)
		r, err := p.Matrix(releasetest.Seed(4), nil)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(len(d.ids), p.Values, nil)
		for i, v := range d.values {
			x.Set(i/p.Values, i%p.Values, float64(v)/float64(s.Bits.One())-p.Centres()[i%p.Values])
		}
		var want mat.Dense
		want.Mul(x, r)
		unit := p.Unit()
		for i, v := range got.Data {
			if w := want.RawMatrix().Data[i]; math.Abs(float64(v)*unit-w) > 1e-9 {
				t.Fatalf("%s: entry %d is %v, want %v", family, i, float64(v)*unit, w)
			}
		}
	}
}
