package release

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Terms of studies whose moments follow from a look: at lengths, and at values.
const (
	lookAtLengths = `records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, centre: 50, spread: 20}
  - {name: pressure, kind: numeric, centre: 130, spread: 20}
  - {name: smoker, kind: binary}
sketches:
  - {side: look}
  - {side: moments, products: false, clip: own, share: 5}
  - {side: moments, clip: own, share: 8}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
sum: masked
colluding: 1
rounds: 2
analyses: [{kind: mean}, {kind: correlation}]
`
	lookAtValues = `records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, bounds: [0, 110]}
  - {name: pressure, kind: numeric, centre: 130, spread: 20}
  - {name: ward, kind: categorical, values: [a, b, c]}
sketches:
  - {side: moments, standardise: own, share: 9}
  - {side: look}
privacy: {unit: record, neighbours: replaced, mechanism: gaussian, epsilon: 1, delta: 1e-6}
sum: masked
colluding: 1
rounds: 2
analyses: [{kind: mean}, {kind: correlation}]
`
)

// For every clip and all moves that an interim may have, a release has the same shape, its noise is
// that of the clip, and no change of a record moves it further than the noise covers.
func TestAnyInterimKeepsThePromise(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for name, terms := range map[string]string{"lengths": lookAtLengths, "values": lookAtValues} {
		t.Run(name, func(t *testing.T) {
			s := momentStudy(t, terms)
			before := s.PlaceholderBasis()
			if err := CheckInterim(s, before); err != nil {
				t.Fatal(err)
			}
			for at, index := range s.PooledMoments() {
				waiting, err := For(s, 0, index)
				if err != nil {
					t.Fatal(err)
				}
				rows, cols := waiting.Shape(100)
				if want := int64(s.MomentLayout(index).Entries()); rows != 1 || cols != want || !waiting.Awaits() || waiting.Looks() {
					t.Errorf("before the interim: %d × %d, want 1 × %d", rows, cols, want)
				}
				for _, clip := range s.ClipEdges(index) {
					b := protocol.Basis{Clips: append([]int64(nil), before.Clips...), Moves: anyMoves(s, before.Moves, rng)}
					b.Clips[at] = clip
					if err := CheckInterim(s, b); err != nil {
						t.Fatal(err)
					}
					lit := s.WithBasis(b)
					p, err := For(lit, 0, index)
					if err != nil {
						t.Fatal(err)
					}
					sensitivity, err := s.MomentSensitivity(index, clip)
					if err != nil || p.Sensitivity != sensitivity || p.Clip != clip {
						t.Fatalf("sensitivity %v of clip %d, want %v: %v", p.Sensitivity, p.Clip, sensitivity, err)
					}
					part, err := s.Part(index)
					if err != nil {
						t.Fatal(err)
					}
					if noise, err := dp.Calibrate(part.Values, sensitivity); err != nil || p.summed != noise {
						t.Errorf("clip %d has the noise of another", clip)
					}
					if rows, other := p.Shape(100); rows != 1 || other != cols || p.Limit != waiting.Limit {
						t.Errorf("with an interim %d × %d, without one 1 × %d", rows, other, cols)
					}
					read, err := p.Summed(sketch.Sketch{Side: sketch.Moments, Rows: 1, Cols: int(cols), Data: make([]int64, cols)})
					if err != nil || read.Clip != clip || !slices.Equal(read.Moves, b.Moves) {
						t.Errorf("the sums are read as of clip %d and moves %v, want %d and %v: %v", read.Clip, read.Moves, clip, b.Moves, err)
					}
					for range 20 {
						if moved := p.squareOf(t, farRecord(s, p, rng), farRecord(s, p, rng)); moved > sensitivity.L2Squared {
							t.Errorf("clip %d: a record moves the sketch by %d, squared, and %d is covered", clip, moved, sensitivity.L2Squared)
						}
					}
				}
			}
		})
	}
}

// anyMoves returns moves at the bounds of what an interim may say.
func anyMoves(s *study.Study, still []sketch.Standard, rng *rand.Rand) []sketch.Standard {
	out := append([]sketch.Standard(nil), still...)
	if out != nil { // only of the first column
		one := s.Bits.One()
		far := s.Columns[0].Scale.Range(s.Bits)
		out[0] = sketch.Standard{Centre: 16*one - rng.Int64N(2)*16*far, Spread: 1 + rng.Int64N(2)*(24*far-1)}
	}
	return out
}

// farRecord returns a random record as read, at the ends or anywhere within.
func farRecord(s *study.Study, p Plan, rng *rand.Rand) []int64 {
	one := s.ReadBits().One()
	out := make([]int64, p.Values)
	category := rng.IntN(p.Values)
	for i, f := range p.Features[:p.Values] {
		c := s.Columns[f.Column]
		_, _, bounded := c.Scale.Bounds()
		switch {
		case f.Kind == study.OneHot && i == max(category, p.Values-3):
			out[i] = one
		case f.Kind == study.OneHot:
		case bounded:
			out[i] = one - rng.Int64N(2)*c.Scale.Range(s.ReadBits())
		default:
			out[i] = rng.Int64N(20*one) - 10*one
		}
	}
	return out
}

// squareOf returns the squared distance by which one record moves the sketch if it replaces another
// or, unless replacement is protected, is added.
func (p Plan) squareOf(t *testing.T, with, without []int64) (square int64) {
	t.Helper()
	sum := func(record []int64) []int64 {
		b, err := p.NewBuilder(seed.FromBytes([seed.Size]byte{1}), 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.AddRead([][]byte{{1}}, record); err != nil {
			t.Fatal(err)
		}
		return b.Exact().Sketch.Data
	}
	a, b := sum(with), sum(without)
	for i := range a {
		if !p.Study.Privacy.Replaced {
			b[i] = 0
		}
		square += (a[i] - b[i]) * (a[i] - b[i])
	}
	return square
}

// The noise of a look covers what a record moves it by, and the clip is the least that few of all
// records exceed.
func TestLooksCoverTheirRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for name, terms := range map[string]string{"lengths": lookAtLengths, "values": lookAtValues} {
		s := momentStudy(t, terms)
		at, _ := s.Look()
		p, err := For(s, 0, at)
		if err != nil {
			t.Fatal(err)
		}
		var most int64
		for range 200 {
			most = max(most, p.squareOf(t, farRecord(s, p, rng), farRecord(s, p, rng)))
		}
		if most > p.Sensitivity.L2Squared || most < p.Sensitivity.L2Squared/2 {
			t.Errorf("%s: a record moves a look by %d, squared, and %d is covered", name, most, p.Sensitivity.L2Squared)
		}
	}
	s := momentStudy(t, lookAtLengths)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, cols := p.Shape(1)
	counts := make([]int64, cols)
	counts[0], counts[4], counts[7] = 30_000*dp.CountWeight, 9_000*dp.CountWeight, 1_000*dp.CountWeight
	b, err := p.Basis(sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: int(cols), Data: counts}, 40_000, 3)
	if err != nil || b.Clips[0] != s.ClipEdges(1)[7] || b.Clips[1] != s.ClipEdges(2)[7] || b.Moves != nil {
		t.Errorf("%+v, %v, want clip 8 of %v", b, err, s.ClipEdges(1))
	}
	clear(counts)
	counts[cols-1] = 50 * dp.CountWeight // too few to tell
	if b, err = p.Basis(sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: int(cols), Data: counts}, 50, 3); err != nil || b.Clips[0] == s.ClipEdges(1)[len(s.ClipEdges(1))-1] {
		t.Errorf("of 50 records: %+v, %v", b, err)
	}
	if _, err := p.Basis(sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: 3, Data: counts[:3]}, 50, 3); err == nil {
		t.Error("a look of another shape was read")
	}
}
