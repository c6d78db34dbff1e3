package analysis_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/stream"
)

// parse returns a study of north, south and west, taken from an example of package study, with the
// given terms: the file from partition on, without dates.
func parse(t testing.TB, terms string) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	const dates = "expires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nquorum: 2\n"
	s, err := studyfile.Parse([]byte(head + dates + terms))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// file is the data of one party: for each record a number per column of its own. For a categorical
// column that is the index of the value. NaN is a missing value.
type file struct {
	ids    []string
	values [][]float64
}

// files are the parties' data by name. A party without a file sends no release.
type files map[string]file

// encode returns a record's entries, as package dataset does.
func encode(s *study.Study, p release.Plan, values []float64) []int64 {
	var out []int64
	for i, c := range s.OwnColumns(p.Party) {
		column := s.Columns[c]
		if math.IsNaN(values[i]) && s.Records.Missing == study.MissingCount {
			for range max(len(column.Values), 1) {
				out = append(out, sketch.Absent)
			}
			continue
		}
		if column.Kind == study.Categorical {
			entries := make([]int64, len(column.Values))
			entries[int(values[i])] = s.Bits.One()
			out = append(out, entries...)
			continue
		}
		v, _ := column.Scale.Encode(values[i], s.Bits)
		out = append(out, v)
	}
	return out
}

// source returns the n-th of a list of fixed streams of bytes.
func source(n int) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)})
}

// rootSeed returns the seed that parties agree on in the n-th run.
func rootSeed(n int) seed.Seed {
	var b [seed.Size]byte
	source(n).Read(b[:])
	return seed.FromBytes(b)
}

// shipped holds the releases of one run as the aggregator has them.
type shipped struct {
	options analysis.Options
	orders  [][][]int // per contribution and sketch: release row i is this record of the file; nil on the columns side
}

// ship sketches, noises, encodes and decodes the data of the files, under the n-th seed.
func ship(t testing.TB, s *study.Study, n int, data files) shipped {
	t.Helper()
	out := shipped{options: analysis.Options{Study: s, Attempt: 1, T2: protocol.Digest{1, 2, 3}, Complete: len(data) == len(s.Parties)}}
	entropy := source(1_000_000 + n)
	out.options.Entropy = source(2_000_000 + n)
	for party, listed := range s.Parties {
		f, ok := data[listed.Name]
		if !ok {
			continue
		}
		c := analysis.Contribution{Party: party, Header: protocol.Digest{byte(party)}, Records: int64(len(f.ids))}
		var orders [][]int
		var err error
		if c.Published, err = release.Publish(s, rootSeed(n)); err != nil {
			t.Fatal(err)
		}
		for i := range s.Sketches {
			plan, err := release.For(s, party, i)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Looks() {
				plan = looked(t, plan, s, f, entropy)
			}
			builder, err := plan.NewBuilder(rootSeed(n), 2)
			if err != nil {
				t.Fatal(err)
			}
			for row, id := range f.ids {
				if err := builder.Add([][]byte{[]byte(id)}, encode(s, plan, f.values[row])[:len(plan.Inputs())]); err != nil {
					t.Fatal(err)
				}
			}
			exact, err := builder.Finish(entropy)
			if err != nil {
				t.Fatal(err)
			}
			if err := plan.Draw(&exact.Sketch, entropy, 1); err != nil {
				t.Fatal(err)
			}
			header, bytes, err := exact.Encode()
			if err != nil {
				t.Fatal(err)
			}
			from := strings.NewReader(string(bytes))
			decoded, err := release.Decode(header, from)
			if err != nil {
				t.Fatal(err)
			}
			values, labels, err := plan.Unpack(decoded)
			if err != nil {
				t.Fatal(err)
			}
			c.Bytes += header.Size()
			rows, err := release.DecodeRows(header, from, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.Sketches, c.Labels, c.Rows = append(c.Sketches, values), append(c.Labels, labels), append(c.Rows, rows)
			orders = append(orders, exact.Order)
		}
		out.options.Contributions = append(out.options.Contributions, c)
		out.orders = append(out.orders, orders)
	}
	return out
}

func (s shipped) run(t testing.TB) (analysis.Result, []analysis.Labels) {
	t.Helper()
	result, labels, err := analysis.Run(context.Background(), s.options)
	if err != nil {
		t.Fatal(err)
	}
	// None of our documents contains a name unknown to its study.
	if err := result.CheckNames(s.options.Study); err != nil {
		t.Error(err)
	}
	for _, l := range labels {
		if err := l.CheckNames(s.options.Study); err != nil {
			t.Error(err)
		}
	}
	type first struct { // one release of each study suffices
		test  string
		study protocol.StudyID
		keeps bool
	}
	if _, seen := held.LoadOrStore(first{t.Name(), s.options.Study.ID, s.options.Keep != nil}, true); !seen && s.options.Analyses == nil {
		s.withinBounds(t, result, labels)
	}
	return result, labels
}

var held sync.Map // what withinBounds has checked

// withinBounds compares the documents with what a party accepts from such a study.
func (s shipped) withinBounds(t testing.TB, result analysis.Result, labels []analysis.Labels) {
	t.Helper()
	raw, err := json.MarshalIndent(result, "", " ")
	for _, a := range result.Analyses {
		if err != nil || s.options.Keep == nil && len(a.Features) > analysis.MostInline {
			return // no aggregator produces it
		}
	}
	bounds := analysis.BoundsOf(s.options.Study)
	again, err := bounds.Decode(context.Background(), raw, s.options.Study.ID)
	if err != nil {
		t.Errorf("a party refuses the result: %v", err)
	} else if said, _ := json.MarshalIndent(again, "", " "); string(said) != string(raw) {
		t.Errorf("a party reads another result:\n%s\n%s", said, raw)
	}
	for i, l := range labels {
		for index, sk := range s.options.Contributions[i].Sketches {
			raw, err := json.MarshalIndent(l, "", " ")
			if err != nil || sk.Side != sketch.Records {
				continue
			}
			if _, err := analysis.LabelsOf(s.options.Study, int64(sk.Rows)).Decode(raw, s.options.Study.ID); err != nil {
				t.Errorf("sketch %d: a party refuses its labels: %v", index, err)
			}
		}
	}
}

// answer is one analysis whose pairs can be found by the columns' names.
type answer struct {
	t *testing.T
	analysis.Analysis
}

// find returns the pair of two features, given as party/column or, for the union or the
// intersection, as column or party only.
func (a answer) find(x, y string) analysis.Pair {
	a.t.Helper()
	name := func(i int) string {
		f := a.Features[i]
		return strings.Trim(f.Party+"/"+f.Column, "/")
	}
	for _, p := range a.Pairs {
		if name(p.I) == x && name(p.J) == y || name(p.I) == y && name(p.J) == x {
			return p
		}
	}
	a.t.Fatalf("%s: no pair of %s and %s among %v", a.Kind, x, y, a.Features)
	return analysis.Pair{}
}

// estimate returns the number for a pair.
func (a answer) estimate(x, y string) float64 {
	a.t.Helper()
	p := a.find(x, y)
	if p.Undefined != "" {
		a.t.Fatalf("%s of %s and %s: %s", a.Kind, x, y, p.Undefined)
	}
	return *p.Estimate
}

// sketched returns the projection of any function of a party's records, computed without builders
// or plans: Σ r(record)·f(record), times R's real scale.
func sketched(t testing.TB, s *study.Study, n, party, index int, f file, value func(row int) float64) []float64 {
	t.Helper()
	key, err := rootSeed(n).Derive(seed.RecordRows)
	if err != nil {
		t.Fatal(err)
	}
	spec := s.Sketches[index].Projection
	matrix, err := projection.New(spec, stream.New(key))
	if err != nil {
		t.Fatal(err)
	}
	out, scale := make([]float64, spec.K), spec.Scale()
	for row, id := range f.ids {
		label := stream.VerticalRecordLabel([]byte(id))
		if s.Partition == study.Horizontal {
			label = stream.AppendHorizontalRecordLabel(nil, s.Parties[party].ID, []byte(id))
		}
		r := make([]int64, spec.K)
		matrix.AddOuter(r, label, []int64{1})
		for i, entry := range r {
			out[i] += float64(entry) * value(row) * scale
		}
	}
	return out
}

// rounded returns a value as the fixed point stores it, in original units.
func rounded(s *study.Study, column int, x float64) float64 {
	scale := s.Columns[column].Scale
	v, _ := scale.Encode(x, s.Bits)
	return scale.Origin() + float64(v)*scale.Step(s.Bits)
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// looked returns a party's plan after its first look.
func looked(t testing.TB, plan release.Plan, s *study.Study, f file, entropy io.Reader) release.Plan {
	t.Helper()
	look := plan.NewLook()
	for _, row := range f.values {
		if err := look.Add(encode(s, plan, row)[:len(plan.Inputs())]); err != nil {
			t.Fatal(err)
		}
	}
	moves, err := look.Draw(entropy)
	if err == nil {
		plan, err = plan.After(moves)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
