package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

var update = flag.Bool("update", false, "rewrite the golden files of testdata")

// Columns and guarantees of the studies below.
const (
	pinnedColumns = `columns:
  - {name: age, kind: numeric, centre: 50, spread: 20}
  - {name: height, kind: numeric, bounds: [100, 250]}
  - {name: smoker, kind: binary}
  - {name: ward, kind: categorical, values: [a, b, c]}
`
	pinnedOwned = `columns:
  - {name: age, kind: numeric, centre: 50, spread: 20, owner: north}
  - {name: height, kind: numeric, bounds: [100, 250], owner: north}
  - {name: smoker, kind: binary, owner: north}
  - {name: rare, kind: binary, centre: 0.03, owner: north}
  - {name: ward, kind: categorical, values: [a, b, c], owner: south}
  - {name: weight, kind: numeric, bounds: [30, 150], owner: south}
  - {name: third, kind: binary, owner: west}
`
	pinnedBits = `columns:
  - {name: a, kind: binary, owner: north}
  - {name: b, kind: binary, owner: north}
  - {name: c, kind: binary, centre: 0.1, owner: north}
  - {name: d, kind: binary, centre: 0.8, owner: north}
  - {name: e, kind: binary, owner: north}
  - {name: age, kind: numeric, centre: 50, spread: 20, owner: north}
  - {name: ward, kind: categorical, values: [a, b, c], owner: north}
  - {name: height, kind: numeric, bounds: [100, 250], owner: north}
  - {name: other, kind: binary, owner: south}
  - {name: third, kind: binary, owner: west}
`
	gaussianRecords = "privacy: {unit: record, mechanism: gaussian, epsilon: 2, delta: 1e-6}\n"
	replacedRecords = "privacy: {unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 2, delta: 1e-6}\n"
	laplaceRecords  = "privacy: {unit: record, mechanism: laplace, epsilon: 2}\n"
	laplaceValues   = "privacy: {unit: attribute, mechanism: laplace, epsilon: 3}\n"
	gaussianValues  = "privacy: {unit: attribute, mechanism: gaussian, epsilon: 3, delta: 1e-6}\n"
	askMoments      = "analyses: [{kind: mean}, {kind: correlation}]\n"
	askClusters     = "analyses: [{kind: k-means, clusters: 2}]\n"
)

// pinnedStudies have each kind of sketch under each guarantee that it can have, once.
var pinnedStudies = []struct{ name, partition, terms string }{
	{"moments", "horizontal", "bits: 10\nrecords: {id: [patient], missing: count}\n" + pinnedColumns + "sketches: [{side: moments, clip: own, fourth: true}]\n" + gaussianRecords + askMoments},
	{"moments moved", "horizontal", "records: {id: [patient], missing: count}\n" + pinnedColumns + "sketches: [{side: moments, clip: own, standardise: own, sums: 4}]\n" + replacedRecords + askMoments},
	{"moments of means", "horizontal", "bits: 9\nrecords: {id: [patient], missing: centre}\n" + pinnedColumns + "sketches: [{side: moments, products: false}]\n" + gaussianRecords + "analyses: [{kind: mean}]\n"},
	{"moments by class", "horizontal", "bits: 9\nrecords: {id: [patient], missing: count}\n" + strings.Replace(pinnedColumns, "[a, b, c]}", "[a, b, c], role: label}", 1) + "sketches: [{side: moments, clip: own}]\n" + gaussianRecords + "analyses: [{kind: lda}]\n"},
	{"moments of a regression", "horizontal", "bits: 9\nrecords: {id: [patient], missing: refuse}\n" + pinnedColumns + "sketches: [{side: moments, clip: own}]\n" + gaussianRecords + "analyses: [{kind: regression, target: age}]\n"},
	{"masked sums", "horizontal", "bits: 8\nrecords: {id: [patient], missing: refuse}\n" + pinnedColumns + "sketches: [{side: moments, clip: 1.25, share: 7}, {side: cells, L: 2, clip: 1.25, share: 3}, {side: counts, tables: [{of: [{column: age, bins: 4}, {column: height, edges: [150]}]}, {of: [{column: height}], depth: 3}]}]\n" + gaussianRecords + "sum: masked\ncolluding: 1\n" + "analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]\n"},
	{"plain cells and counts", "horizontal", "bits: 8\nrecords: {id: [patient], missing: count}\n" + pinnedColumns + "sketches: [{side: moments, clip: 1.25}, {side: cells, L: 2, clip: 1.25}, {side: counts, tables: [{of: [{column: smoker}, {column: ward}]}]}]\n" + replacedRecords + "analyses: [{kind: mean}, {kind: k-means, clusters: 2}]\n"},
	{"counts", "horizontal", "bits: 8\nrecords: {id: [patient], missing: count}\n" + pinnedColumns + "sketches: [{side: counts, tables: [{of: [{column: smoker}, {column: ward}]}]}]\n" + laplaceRecords + "analyses: [{kind: table}]\n"},
	{"look at lengths", "horizontal", lookAtLengths},
	{"look at values", "horizontal", lookAtValues},
	{"codes", "horizontal", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedColumns + "sketches: [{side: moments, clip: 1.25, share: 3}, {side: codes, share: 7}]\nrounds: 2\n" + gaussianRecords + askClusters},
	{"labels", "horizontal", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + strings.Replace(pinnedColumns, "[a, b, c]}", "[a, b, c], role: label}", 1) + "sketches: [{side: records, family: sparse, k: 6, s: 2, clip: 1.5, labels: randomised, label_share: 0.5}]\n" + gaussianRecords + "analyses: [{kind: svm}]\n"},
	{"plain labels", "horizontal", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + strings.Replace(pinnedColumns, "kind: binary}", "kind: binary, role: label}", 1) + "sketches: [{side: records, family: hadamard, k: 4, labels: plain, matrix: public}]\n" + laplaceValues + "analyses: [{kind: k-means, clusters: 2}, {kind: svm}]\n"},
	{"columns of values", "horizontal", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedColumns + "sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 1, squares: true}}]\n" + laplaceValues + "analyses: [{kind: correlation}]\n"},
	{"columns of records", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedOwned + "sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.7}, clip: 1.1}]\n" + replacedRecords + "analyses: [{kind: correlation}]\n"},
	{"columns and ones", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedOwned + "sketches: [{side: columns, family: rademacher, k: 16, helpers: {ones: 1, squares: true}}]\n" + gaussianValues + "analyses: [{kind: correlation}]\n"},
	{"columns moved", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedOwned + "sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.7}, clip: 2.2, standardise: own}]\n" + gaussianRecords + "analyses: [{kind: correlation}]\n"},
	{"bits moved", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedBits + "sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.7}, clip: 2.2, standardise: own}]\n" + replacedRecords + "analyses: [{kind: correlation}]\n"},
	{"bits moved and cut", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedBits + "sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.3}, clip: 2.1, standardise: own}]\n" + gaussianRecords + "analyses: [{kind: correlation}]\n"},
	{"joined", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedOwned + "sketches: [{side: records, family: identity}]\n" + laplaceValues + askClusters},
	{"joined and turned", "vertical", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedOwned + "sketches: [{side: records, family: hadamard, k: 8}]\n" + gaussianValues + askClusters},
	{"flips", "horizontal", "bits: 12\nrecords: {id: [patient], missing: refuse}\ncolumns: [{name: a, kind: binary}, {name: b, kind: binary}]\nsketches: [{side: records, family: identity}, {side: columns, family: sparse, k: 16, share: 2, helpers: {ones: 1}}]\nprivacy: {unit: attribute, mechanism: randomised-response, epsilon: 1}\nanalyses: [{kind: k-means, clusters: 2}, {kind: correlation}]\n"},
	{"absent values beside moments", "horizontal", "bits: 8\nrecords: {id: [patient], missing: count}\n" + pinnedColumns + "sketches: [{side: moments, clip: 1.25}, {side: records, family: sparse, k: 6, s: 2, clip: 1.3}, {side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.7}, clip: 1.3}]\n" + gaussianRecords + "analyses: [{kind: mean}, {kind: k-means, clusters: 2}, {kind: correlation}]\n"},
	{"columns of means", "horizontal", "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedColumns + "sketches: [{side: columns, family: sparse, k: 16, s: 2, helpers: {ones: 0.7}, clip: 1.3}]\n" + laplaceRecords + "analyses: [{kind: correlation}]\n"},
	{"no promise", "horizontal", "bits: 8\nrecords: {id: [patient], missing: count}\n" + pinnedColumns + "sketches: [{side: moments}, {side: records, family: sparse, k: 6, s: 2}]\nprivacy: {mechanism: none}\nanalyses: [{kind: mean}, {kind: k-means, clusters: 2}]\n"},
}

// What parties plan, sum, release and read back is pinned. For each study, party and sketch these
// are the numbers of the plan, digests of the exact sketch and of the released bytes, and what
// analyses read of them. Numbers are printed to ten digits, on which all machines agree.
func TestPlansAndReleasesArePinned(t *testing.T) {
	for _, c := range pinnedStudies {
		t.Run(c.name, func(t *testing.T) {
			var out pinnedText
			s := registryWith(t, c.partition, c.terms)
			parties := len(s.Parties) - 1
			if c.partition == "horizontal" {
				parties = 1 // the others have the same plans
			}
			for index := range s.Sketches {
				for party := range parties {
					out.sketch(t, s, party, index)
				}
			}
			if s.TwoRounds() {
				out.rounds(t, s)
			}
			file := "testdata/" + strings.ReplaceAll(c.name, " ", "-") + ".txt"
			if *update {
				if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, old := strings.Split(out.String(), "\n"), strings.Split(string(want), "\n")
			for i := range max(len(got), len(old)) {
				if i >= len(got) || i >= len(old) || got[i] != old[i] {
					t.Fatalf("line %d:\n%s\nwas\n%s", i+1, strings.Join(got[min(i, len(got)):min(i+1, len(got))], ""), strings.Join(old[min(i, len(old)):min(i+1, len(old))], ""))
				}
			}
		})
	}
}

// pinnedText is the text that describes plans and releases.
type pinnedText struct{ bytes.Buffer }

func (o *pinnedText) line(what string, of ...any) {
	o.WriteString(what)
	for _, v := range of {
		o.WriteString(" " + fraction.ReplaceAllStringFunc(fmt.Sprintf("%+v", v), func(text string) string {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				panic(err)
			}
			return strconv.FormatFloat(v, 'g', 10, 64)
		}))
	}
	o.WriteByte('\n')
}

var fraction = regexp.MustCompile(`-?\d+\.\d+(e[+-]\d+)?`)

func digestOf(t *testing.T, s sketch.Sketch) string {
	t.Helper()
	h := sha256.New()
	fmt.Fprintln(h, s.Side, s.Rows, s.Cols, s.Data)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// pinnedRecords returns encoded records as read: at the ends, between them, and absent if a study
// counts that.
func pinnedRecords(p Plan, records int) (ids [][]byte, values []int64) {
	rng := rand.New(rand.NewPCG(11, uint64(p.Party)))
	one := p.Study.ReadBits().One()
	counts := p.Study.Records.Missing == study.MissingCount
	for n := range records {
		ids = append(ids, fmt.Appendf(nil, "record %d", n))
		column, chosen := -1, 0
		for at, f := range p.Inputs() {
			c := p.Study.Columns[f.Column]
			var v int64
			switch {
			case f.Kind == study.OneHot:
				if f.Column != column {
					column, chosen = f.Column, rng.IntN(len(c.Values))
				}
				if c.Values[chosen] == f.Value {
					v = one
				}
			case counts && at < p.Values && rng.IntN(7) == 0:
				v = sketch.Absent
			case c.Kind == study.Binary:
				v = one * int64(rng.IntN(8)/6)
			case n%9 == 0:
				v = one - rng.Int64N(2)*c.Scale.Range(p.Study.ReadBits())
			default:
				v = one - rng.Int64N(c.Scale.Range(p.Study.ReadBits())/2+1) - rng.Int64N(c.Scale.Range(p.Study.ReadBits())/2)
			}
			values = append(values, v)
		}
	}
	return ids, values
}

const pinnedCount = 600

// sketch prints a party's part in a sketch.
func (o *pinnedText) sketch(t *testing.T, s *study.Study, party, index int) {
	t.Helper()
	p, err := For(s, party, index)
	if err != nil {
		t.Fatal(err)
	}
	o.line("\nsketch", index, "party", party, p.Sketch().Side)
	o.plan(t, p)
	if p.Awaits() {
		return
	}
	if q, err := ForQuery(s, party); err == nil {
		o.line("query", q.Limit, q.Noise, q.Guarantee())
	}
	ids, values := pinnedRecords(p, pinnedCount)
	entropy := rand.NewChaCha8([32]byte{byte(index), byte(party)})
	if p.Looks() {
		look := p.NewLook()
		if err := look.Add(values); err != nil {
			t.Fatal(err)
		}
		same := p.NewLook()
		if err := same.Restore(look.Sketch(), pinnedCount); err != nil {
			t.Fatal(err)
		}
		o.line("look", digestOf(t, look.Sketch()), p.Looked(), same.Exact())
		moves, err := look.Draw(entropy)
		if err != nil {
			t.Fatal(err)
		}
		if sum := look.Sketch(); slices.ContainsFunc(sum.Data, func(v int64) bool { return v != 0 }) {
			t.Error("exact sums are left after a look")
		}
		o.line("moves", moves, p.LeastSpread(pinnedCount, 2))
		if p, err = p.After(moves); err != nil {
			t.Fatal(err)
		}
		o.plan(t, p)
	}
	o.release(t, p, ids, values, entropy)
}

// plan prints the numbers of a plan.
func (o *pinnedText) plan(t *testing.T, p Plan) {
	t.Helper()
	rows, cols := p.Shape(pinnedCount)
	exactRows, exactCols := p.ExactShape(pinnedCount)
	o.line("limits", p.Clip, p.Cut(), p.Limit, p.Values, p.Spanned(), p.largest(), "shape", rows, cols, exactRows, exactCols, p.RowColumns())
	o.line("noise", p.Sensitivity.L1, p.Sensitivity.L2Squared, p.Noise, p.summed, p.Guarantee(), p.sharers())
	o.line("units", p.Unit(), p.span(), p.ones(), p.OnesWeight(), p.Centres(), p.Scales(), "counts", p.CutWeight(), p.CountRows(), p.Head())
	o.line("columns", p.Columns(), p.Attributes(), len(p.Inputs()), p.Labels.entries(), p.Looks(), p.Chooses(), p.Awaits())
	o.line("promise", p.Statement())
	for _, f := range p.Features[:p.Values] {
		o.line("spread", p.TypicalSpread(f))
	}
	if p.Flips.Zero() == (p.Study.Privacy.Mechanism == "randomised-response") {
		t.Error("flips without randomised response, or it without them")
	}
	for _, f := range []int{0, len(p.Features) - 1} {
		o.line("noise of a feature", p.NoiseOf(f, 2, 500))
	}
	if p.counted > 0 {
		o.line("count of cut records", p.CutCount(7*p.counted, 3))
	}
	switch p.Sketch().Side {
	case sketch.Columns:
		narrow := p.OneValue()
		rows, cols := narrow.Shape(pinnedCount)
		o.line("narrow", narrow.Features, narrow.Values, narrow.Cut(), narrow.Head(), narrow.CountRows(), narrow.ones(), rows, cols, narrow.Own == nil, len(p.Study.Sketches), p.Sketch().Helpers)
	case sketch.Cells:
		o.line("cells", p.CellNoise(3), p.SensibleCells(3, 900, 2))
	case sketch.Codes:
		sum, count := p.CodeNoise(3)
		o.line("codes", sum, count)
	case sketch.Counts:
		o.line("counts", p.CountNoise(3))
	case sketch.Records:
		o.line("coordinates", p.Coordinates())
	}
	if l := p.Labels; l != nil {
		o.line("labels", l, l.Column, l.Classes)
	}
	if p.Own != nil {
		o.line("own", p.Own.looking, p.Own.clip, p.Own.change.L1, p.Own.change.L2Squared, p.Own.sums, p.Own.weight, p.Own.counted, p.Own.quantum)
		o.line("takes", p.Own.takes, p.Own.ends)
		alone, err := p.SketchAlone()
		if err != nil {
			t.Fatal(err)
		}
		o.line("alone", alone.Clip, alone.Cut(), alone.Noise, alone.Head(), alone.Own.takes)
		rng := rand.New(rand.NewPCG(13, 1))
		for rare := range 12 { // how plans depend on the rates of bits
			moves := make([]sketch.Standard, p.Values)
			one := p.Study.Bits.One()
			for i, f := range p.Features[:p.Values] {
				moves[i] = p.still(i)
				if p.scaled(f) {
					moves[i].Spread = 1 + rng.Int64N(48*one)
				}
				if p.Study.Columns[f.Column].Kind == study.Binary {
					moves[i].Centre = rng.Int64N(16*one*int64(rare+1)/12 + 1)
				}
			}
			after, err := p.After(moves)
			if err != nil {
				t.Fatal(err)
			}
			o.line("rates", after.Clip, after.Cut(), after.ones(), after.Own.takes, after.Own.quantum, after.Own.weight, after.Own.counted)
		}
		means, spreads := make([]float64, p.Values), make([]float64, p.Values)
		for i := range means {
			means[i], spreads[i] = 0.25, 0.02+0.4*float64(i)
		}
		thought, err := p.Looking(means, spreads)
		if err != nil {
			t.Fatal(err)
		}
		o.line("thought", thought.Clip, thought.Own.moves, thought.Own.takes, thought.OwnExpected(means, spreads, 800))
	}
	if m := p.Moments; m != nil {
		o.moments(t, p, m)
	}
}

func (o *pinnedText) moments(t *testing.T, p Plan, m *Moments) {
	t.Helper()
	o.line("moments", m.Layout, m.Entries, m.Clips, m.own, m.pooled, m.at, m.mu, m.counts, m.looking, p.Choices(), p.prefix())
	o.line("tally columns", p.TallyColumns())
	o.line("sensible", p.Noticeable(2, 3000), p.Noticeable(3, 3000), "expected", p.Expected(50), p.Expected(2000), p.Expected(1e6))
	explaining := []int{0, 1}
	o.line("ridge", p.Ridge(study.Ridge{Auto: true}, 1000, 900, explaining), p.Ridge(study.Ridge{By: 0.5}, 1000, 900, explaining), p.Ridge(study.Ridge{Auto: true, By: 2}, 0, 900, explaining), p.Ridge(study.Ridge{Auto: true, By: 2}, 1000, 1, explaining), p.Ridge(study.Ridge{Auto: true, By: 2}, 1000, 0, explaining), p.Ridge(study.Ridge{Auto: true, By: 2}, 1000, 900, nil))
	for at, noise := range m.noises {
		of, err := p.ClippedAt(at)
		if err != nil {
			if p.Study.Privacy.Mechanism == "none" {
				continue
			}
			t.Fatal(err)
		}
		w := m.Weights[at]
		o.line("at", at, of.Clip, of.Sensitivity.L1, of.Sensitivity.L2Squared, noise, of.Noise, of.summed, p.MomentNoise(3, at, false), p.MomentNoise(3, at, true), len(of.Moments.noises))
		o.line("weights", w.Square, w.Product, w.Sum, w.ClassSum, w.ClassCount, w.Cut, w.CutSum, w.Fourth, w.Fine, digestOf(t, sketch.Sketch{Data: m.Layout.Factors(m.Weights[at])}))
	}
	if !m.own {
		return
	}
	for _, records := range []int64{40, 600, 5_000, 200_000, 20_000_000} { // which clips noisy counts choose
		var edges []int
		rng := rand.New(rand.NewPCG(12, uint64(records)))
		for range 60 {
			noisy, left := make([]int64, len(m.Clips)+1), records
			scale := []int64{1, 2, 3, 6, 20}[rng.IntN(5)]
			for i := range noisy {
				n := left - left/(1+scale*int64(rng.IntN(3))/2)/2
				if rng.IntN(4) == 0 {
					n = 0
				}
				noisy[i], left = n*64+int64(float64(rng.IntN(9)-4)*m.counts.Variance()/4/1000), left-n
			}
			edges = append(edges, p.chooseClip(noisy, records))
		}
		o.line("chosen", records, edges)
	}
}

// release prints a sketch of the records: exact, as released, and as read.
func (o *pinnedText) release(t *testing.T, p Plan, ids [][]byte, values []int64, entropy *rand.ChaCha8) {
	t.Helper()
	lengths, err := p.NewLengths(2)
	if err != nil {
		t.Fatal(err)
	}
	if lengths != nil {
		if err := lengths.Add(len(ids), values); err != nil {
			t.Fatal(err)
		}
		clip, longer := lengths.Cut()
		o.line("lengths", clip, longer)
	}
	b, err := p.NewBuilder(seed.FromBytes([seed.Size]byte{9}), 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Randomise(entropy); err != nil {
		t.Fatal(err)
	}
	n := len(p.Inputs())
	for _, batch := range [][2]int{{0, 3}, {3, len(ids)}} {
		if err := b.AddRead(ids[batch[0]:batch[1]], values[batch[0]*n:batch[1]*n]); err != nil {
			t.Fatal(err)
		}
	}
	clipped := b.Clipped()
	e, err := b.Finish(entropy)
	if err != nil {
		t.Fatal(err)
	}
	o.line("exact", digestOf(t, e.Sketch), clipped, e.Clipped, len(e.Order), len(e.Rows.Pseudonyms))
	if err := e.Draw(p, entropy, 2); err != nil {
		t.Fatal(err)
	}
	if p.Study.Masked() {
		o.line("noised", digestOf(t, e.Sketch))
		pairs, err := agree.ParsePairs(append([]byte{0, 0, 0, 1, 0, 0, 0, byte(p.members)}, make([]byte, 32*p.members)...))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Mask(p, pairs); err != nil {
			t.Fatal(err)
		}
	}
	header, data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if p.Sketch().Side == sketch.Records {
		o.places(t, p, ids, values)
	}
	sum := sha256.Sum256(data)
	o.line("released", hex.EncodeToString(sum[:8]), header.Rows, header.Cols, header.Width, header.Masked, len(header.Chunks), e.Clipped)
	if p.Study.SecondRound(p.Index) || p.Study.TwoRounds() {
		return
	}
	if err := p.Check(header, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	o.read(t, p, header, data)
}

// places prints where vectors lie among the records of a sketch.
func (o *pinnedText) places(t *testing.T, p Plan, ids [][]byte, values []int64) {
	t.Helper()
	root := seed.FromBytes([seed.Size]byte{9})
	projector, err := NewProjector(p.Study, p.Index, root)
	if err != nil {
		t.Fatal(err)
	}
	var vector []int64
	for i := range p.Study.AllFeatures(p.Index) {
		vector = append(vector, p.Study.Bits.One()*int64(i%3)/2)
	}
	point, clipped := projector.Project(vector)
	o.line("point", point, clipped)
	matrix, err := p.Matrix(root, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.line("matrix", matrix.RawMatrix().Data)
	names, err := p.Pseudonyms(root, ids[:2])
	if err != nil {
		t.Fatal(err)
	}
	o.line("names", names)
	placer, err := p.NewPlacer(root, 1)
	if (err == nil) == p.Joined() {
		t.Errorf("places of a joined sketch, or none of another: %v", err)
	}
	if err != nil {
		return
	}
	own, n := values[:0:0], len(p.Inputs())
	for i := range 2 {
		own = append(own, values[i*n:][:p.Values]...)
	}
	places, err := placer.Place(ids[:2], own)
	if err != nil {
		t.Fatal(err)
	}
	o.line("places", places)
}

// read prints what analyses read of a release.
func (o *pinnedText) read(t *testing.T, p Plan, header protocol.ReleasedSketch, data []byte) {
	t.Helper()
	from := bytes.NewReader(data)
	decoded, err := Decode(header, from)
	if err != nil {
		t.Fatal(err)
	}
	if header.Masked > 0 {
		return
	}
	rows, err := DecodeRows(header, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	var scanned []int64
	if err := Scan(header, bytes.NewReader(data), func(v []int64) { scanned = append(scanned, v...) }); err != nil || !slices.Equal(scanned, decoded.Data) {
		t.Errorf("scanned otherwise than decoded: %v", err)
	}
	whole := decoded
	whole.Data = slices.Clone(decoded.Data)
	bare, labels, err := p.Unpack(whole)
	if err != nil {
		t.Fatal(err)
	}
	beside, besideRows, err := p.ReadRows(header, bytes.NewReader(data), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(beside, labels) || !slices.Equal(besideRows.Pseudonyms, rows.Pseudonyms) || (besideRows.Pseudonyms == nil) == p.Joined() || (labels != nil) != (p.Labels != nil) {
		t.Error("what is beside the rows is read in two ways")
	}
	o.line("read", bare.Rows, bare.Cols, digestOf(t, bare))
	noise, err := p.NoiseIn(decoded)
	if err != nil {
		t.Fatal(err)
	}
	o.line("noise in it", noise)
	if p.Own != nil {
		head := decoded.Data[:study.OwnRows*decoded.Cols]
		o.line("own moments", p.OwnMoments(head, pinnedCount), p.Shortened(head))
	}
	if p.Sketch().Side == sketch.Cells || p.Sketch().Side == sketch.Codes {
		count, ok := p.CellCut(decoded, 2)
		o.line("cut cells", count, ok)
	}
	if p.Moments == nil {
		return
	}
	summed, err := p.Summed(decoded)
	if err != nil {
		t.Fatal(err)
	}
	tally, err := p.MomentTally(nil, summed, pinnedCount, 2)
	if err != nil {
		t.Fatal(err)
	}
	o.line("summed", summed.Clip, summed.Noise, summed.Moves)
	o.line("tally", tally.Records, tally.Unlabelled, tally.Clips, tally.Priors, tally.Centres, tally.Units)
	o.line("values", tally.Values)
	o.line("variances", tally.Variances)
}

// rounds prints the input of the second round in a study of two, and its sketches.
func (o *pinnedText) rounds(t *testing.T, s *study.Study) {
	t.Helper()
	by := s.PlaceholderBasis()
	if at, ok := s.Look(); ok {
		p, err := For(s, 0, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, records := range []int64{300, 4_000, 900_000} {
			_, cols := p.Shape(records)
			sums := sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: int(cols)}
			for i := range cols {
				sums.Data = append(sums.Data, 64*records/(2+i*i)-int64(i%3)*50)
			}
			if by, err = p.Basis(sums, records, 3); err != nil {
				t.Fatal(err)
			}
			mu, as, err := p.pooledNoise(s.PooledMoments()[0], 3)
			if err != nil {
				t.Fatal(err)
			}
			o.line("\nbasis", records, by.Clips, by.Moves, mu, as)
			if err := CheckInterim(s, by); err != nil {
				t.Fatal(err)
			}
		}
	}
	lit := s.WithBasis(by)
	for index := range lit.Sketches {
		if lit.SecondRound(index) {
			o.sketch(t, lit, 0, index)
		}
	}
}
