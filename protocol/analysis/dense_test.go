package analysis_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// shelf stores parts in memory.
type shelf map[protocol.Digest][]byte

type newPart struct {
	bytes.Buffer
	to shelf
}

func (s shelf) NewPart() (analysis.NewPart, error) { return &newPart{to: s}, nil }

func (p *newPart) Commit(name protocol.Digest) error {
	p.to[name] = bytes.Clone(p.Bytes())
	return nil
}

func (p *newPart) Discard() {}

type openPart struct{ *bytes.Reader }

func (openPart) Close() error { return nil }

func (s shelf) OpenPart(name protocol.Digest) (analysis.PartFile, error) {
	data, there := s[name]
	if !there {
		return nil, errors.New("no such part")
	}
	return openPart{bytes.NewReader(data)}, nil
}

// wideStudy returns a study of two parties with so many columns each, one of them constant and one
// with huge values, and their data.
func wideStudy(t testing.TB, each int, helpers, analyses string) (*study.Study, files) {
	var columns strings.Builder
	for _, party := range []string{"north", "south"} {
		for c := range each {
			scale := "bounds: [0, 4]"
			if c == 1 {
				scale = "bounds: [-1e200, 1e200]"
			}
			fmt.Fprintf(&columns, "  - {name: %s%d, kind: numeric, %s, owner: %s}\n", party[:1], c, scale, party)
		}
	}
	columns.WriteString("  - {name: w, kind: binary, owner: west}\n")
	s := parse(t, "partition: vertical\nrecords: {id: [patient]}\ncolumns:\n"+columns.String()+
		"sketches:\n  - {side: columns, family: sparse, k: 64, s: 1, helpers: "+helpers+"}\nprivacy: {unit: attribute, mechanism: laplace, epsilon: 200}\nanalyses: ["+analyses+"]\n")
	rng := rand.New(rand.NewPCG(15, 8))
	data := files{}
	for _, party := range []string{"north", "south"} {
		var f file
		for row := range 80 {
			values := make([]float64, each)
			for c := range values {
				if values[c] = 4 * rng.Float64(); c == 1 {
					values[c] *= 2e199
				}
			}
			values[0] = 0
			f.add(fmt.Sprint(row+1), values...)
		}
		data[party] = f
	}
	return s, data
}

func (a answer) all() (out []analysis.Pair) {
	a.t.Helper()
	if err := a.EachPair(func(p analysis.Pair) error {
		out = append(out, p)
		return nil
	}); err != nil {
		a.t.Fatal(err)
	}
	return out
}

// A table holds the same numbers as a document with every pair, bit for bit, whether the products
// of all columns fit into memory or not.
func TestDenseTablesHoldEveryPair(t *testing.T) {
	for _, test := range []struct {
		each              int
		helpers, analyses string
	}{
		{202, "{ones: 1, squares: true}", full.Or("{kind: covariance}, {kind: cosine}",
			"{kind: covariance}, {kind: correlation, estimator: E1}, {kind: inner-product}, {kind: distance}, {kind: cosine}")},
		{252, "{ones: 1}", "{kind: correlation, intervals: all}, {kind: sums}, {kind: intersection}"},
	} {
		s, data := wideStudy(t, test.each, test.helpers, test.analyses)
		run := ship(t, s, 7, data)
		inline, _ := run.run(t)
		kept := shelf{}
		run.options.Keep = kept
		result, _ := run.run(t)
		raw, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 8<<20 {
			t.Errorf("%d columns: a document of %d bytes beside its tables", test.each, len(raw))
		}
		result, err = analysis.Decode(raw, s.ID)
		if err != nil {
			t.Fatal(err)
		}
		if result = result.With(kept); result.CheckTables() != nil {
			t.Errorf("the tables are refused: %v", result.CheckTables())
		}
		if test.each < 250 {
			compare(t, numbersOf(t, result), numbersOf(t, inline))
		}
		for _, m := range result.Matrices() {
			if i, _, _ := strings.Cut(m.Analysis, "_"); strings.HasSuffix(m.Name, "_estimate") && result.Analyses[int(i[0]-'0')].Dense != nil {
				t.Errorf("matrix %s of a dense table", m.Name)
			}
		}
		for i, a := range result.Analyses {
			if a.Dense == nil {
				if len(a.Features) > analysis.MostInline && a.Sums == nil {
					t.Errorf("%s of %d features is in the document", a.Kind, len(a.Features))
				}
				compare(t, a.Sums, inline.Analyses[i].Sums)
				compare(t, a.Pairs, inline.Analyses[i].Pairs)
				continue
			}
			compare(t, answer{t, a}.all(), inline.Analyses[i].Pairs)
			compare(t, a.Repaired, inline.Analyses[i].Repaired)
			g := a.Dense.Gist
			if g.Compared != int64(test.each*test.each) || len(g.Clearest) != 100 || g.Undefined == 0 && a.Kind == study.Cosine {
				t.Errorf("%s shows %d of %d pairs, %d undefined", a.Kind, len(g.Clearest), g.Compared, g.Undefined)
			}
		}
	}
}

// Sums of second moments have tables, too.
func TestDenseTablesOfMoments(t *testing.T) {
	const columns = 401
	var list strings.Builder
	for c := range columns {
		fmt.Fprintf(&list, "  - {name: c%d, kind: numeric, bounds: [0, %d]}\n", c, 1+c%3)
	}
	s := parse(t, "partition: horizontal\nrecords: {id: [patient]}\ncolumns:\n"+list.String()+
		"sketches:\n  - {side: moments}\nprivacy: {mechanism: none}\nanalyses: ["+full.Or("", "{kind: covariance}, ")+"{kind: correlation}]\n")
	rng, data := rand.New(rand.NewPCG(15, 9)), files{}
	for _, party := range []string{"north", "south", "west"} {
		var f file
		for row := range 30 {
			values := make([]float64, columns)
			for c := 1; c < columns; c++ {
				values[c] = rng.Float64()
			}
			f.add(fmt.Sprint(row), values...)
		}
		data[party] = f
	}
	run := ship(t, s, 8, data)
	inline, _ := run.run(t)
	kept := shelf{}
	run.options.Keep = kept
	result, _ := run.run(t)
	if result = result.With(kept); result.CheckTables() != nil {
		t.Errorf("the tables are refused: %v", result.CheckTables())
	}
	for i, a := range result.Analyses {
		if a.Dense == nil || a.Dense.Gist.Compared != columns*(columns-1)/2 {
			t.Fatalf("%s has the table %+v", a.Kind, a.Dense)
		}
		compare(t, answer{t, a}.all(), inline.Analyses[i].Pairs)
	}
}

// numbersOf returns the rows of the table of all pairs.
func numbersOf(t *testing.T, r analysis.Result) (out []string) {
	t.Helper()
	table := r.Tables()[0]
	if err := table.Each(func(row []any) error {
		out = append(out, fmt.Sprint(row...))
		return nil
	}); err != nil || int64(len(out)) != table.Len() {
		t.Fatalf("%d of %d rows (%v)", len(out), table.Len(), err)
	}
	return out
}

// A record of a table has every number of a pair, and only those that files name.
func TestFieldsAreThoseOfNumbers(t *testing.T) {
	var want []string
	number := reflect.TypeFor[analysis.Number]()
	for i := range number.NumField() {
		if f := number.Field(i); f.Type == reflect.TypeFor[*float64]() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, name)
		}
	}
	var got []string
	for _, c := range (analysis.Result{}).Tables()[0].Columns {
		if c.Type == analysis.Real {
			got = append(got, c.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the table of pairs has the numbers %q, a number in the document %q", got, want)
	}
}

// compare compares values as documents have them.
func compare(t *testing.T, got, want any) {
	t.Helper()
	if a, ok := got.([]analysis.Pair); ok {
		if b, ok := want.([]analysis.Pair); ok && slices.EqualFunc(a, b, samePair) {
			return
		}
	}
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a, b) {
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		t.Errorf("from byte %d on\n%.200s\nwant\n%.200s", at, a[max(0, at-60):], b[max(0, at-60):])
	}
}

// samePair compares two pairs to the last bit.
func samePair(a, b analysis.Pair) bool {
	same := func(a, b *float64) bool {
		return a == nil && b == nil || a != nil && b != nil && math.Float64bits(*a) == math.Float64bits(*b)
	}
	return a.I == b.I && a.J == b.J && a.Undefined == b.Undefined && same(a.Estimate, b.Estimate) && same(a.StandardError, b.StandardError) &&
		same(a.Low, b.Low) && same(a.High, b.High) && same(a.PopulationLow, b.PopulationLow) && same(a.PopulationHigh, b.PopulationHigh)
}

// Tables of another shape, or with other bytes, are refused.
func TestDenseTablesRefuse(t *testing.T) {
	s, data := wideStudy(t, 210, "{ones: 1}", "{kind: correlation}")
	run := ship(t, s, 7, data)
	kept := shelf{}
	run.options.Keep = kept
	result, _ := run.run(t)
	for want, spoil := range map[string]func(*analysis.Dense){
		"pairs of 420 features":          func(d *analysis.Dense) { d.Pairs-- },
		"with the fields":                func(d *analysis.Dense) { d.Fields[1] = "wages" },
		"has 4194305":                    func(d *analysis.Dense) { d.Parts[0].Bytes++ },
		"lack":                           func(d *analysis.Dense) { d.Parts = nil },
		"has 7":                          func(d *analysis.Dense) { d.Parts = append(d.Parts, analysis.Part{SHA256: d.Parts[0].SHA256, Bytes: 7}) },
		"is not named by a SHA-256":      func(d *analysis.Dense) { d.Parts[0].SHA256 = "../../secrets" },
		"shows pair (0, 420)":            func(d *analysis.Dense) { d.Gist.Clearest[0].I, d.Gist.Clearest[0].J = 0, 420 },
		"at most 100 are possible":       func(d *analysis.Dense) { d.Gist.Clearest = append(d.Gist.Clearest, d.Gist.Clearest[0]) },
		"reasons: at most":               func(d *analysis.Dense) { d.Undefined = make([]string, 300) },
		"shows pair (0, 1) without a nu": func(d *analysis.Dense) { d.Gist.Clearest[0] = analysis.Pair{I: 0, J: 1} },
	} {
		raw, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		var other analysis.Result
		if err := json.Unmarshal(raw, &other); err != nil {
			t.Fatal(err)
		}
		spoil(other.Analyses[0].Dense)
		if raw, err = json.Marshal(other); err != nil {
			t.Fatal(err)
		}
		if _, err := analysis.Decode(raw, s.ID); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	name, err := result.Analyses[0].Dense.Parts[0].Document()
	if err != nil {
		t.Fatal(err)
	}
	good := kept[name.Hash]
	if sha256.Sum256(good) != name.Hash || int64(len(good)) != name.Size {
		t.Error("a part is not what its name says")
	}
	const record = 49
	for want, spoil := range map[string]func([]byte){
		"reason 255 of":                    func(b []byte) { b[5*record+48] = 255 },
		"neither an interval nor a reason": func(b []byte) { copy(b[700*record:], "\x00\x00\x00\x00\x00\x00\xf8\x7f") },
		"both a number and a reason":       func(b []byte) { clear(b[5*record : 5*record+48]); b[5*record+48] = 1 },
		"is not what the table holds": func(b []byte) {
			copy(b[60_000*record:], "\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\x3f\x00\x00\x00\x00\x00\x00\x01\x40\x00\x00\x00\x00\x00\x00\xff\x3f\x00\x00\x00\x00\x00\x00\x01\x40")
		},
		"the files beside it":                    nil,
		"checking the table of analysis 1: no s": func([]byte) { delete(kept, name.Hash) },
	} {
		kept[name.Hash] = bytes.Clone(good)
		of := result.With(kept)
		if spoil == nil {
			of = result
		} else {
			spoil(kept[name.Hash])
		}
		if err := of.CheckTables(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// fullDisk stores nothing.
type fullDisk struct{}

func (fullDisk) NewPart() (analysis.NewPart, error) { return nil, errors.New("no space left") }

// An error while storing a table is not a failure of the analysis.
func TestKeepingFails(t *testing.T) {
	s, data := wideStudy(t, 210, "{ones: 1}", "{kind: correlation}")
	run := ship(t, s, 7, data)
	run.options.Keep = fullDisk{}
	_, _, err := analysis.Run(context.Background(), run.options)
	var keeping *analysis.StoreError
	if !errors.As(err, &keeping) || fail.Find(err).ID == fail.Unanswerable {
		t.Errorf("error %v", err)
	}
}
