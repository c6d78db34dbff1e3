package analysis_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

// pooling is a masked study whose releases are drawn repeatedly from the same records. Exact
// sketches are made once for each basis. Masks are left out, since they cancel.
type pooling struct {
	study *study.Study
	data  files
	exact map[string][]sketch.Sketch // by sketch and basis: one per party
}

// read returns a party's records as its program reads them.
func (p *pooling) read(s *study.Study, party int) (ids [][]byte, values []int64) {
	f := p.data[s.Parties[party].Name]
	for row, id := range f.ids {
		ids, values = append(ids, []byte(id)), append(values, read(s, f.values[row])...)
	}
	return ids, values
}

// noised returns the parties' sketches at index with fresh noise.
func (p *pooling) noised(t testing.TB, s *study.Study, index int, entropy *rand.ChaCha8) (out []sketch.Sketch) {
	t.Helper()
	key := fmt.Sprint(index)
	if s.SecondRound(index) {
		key += fmt.Sprint(s.Basis())
	}
	plans := make([]release.Plan, len(s.Parties))
	for party := range plans {
		var err error
		if plans[party], err = release.For(s, party, index); err != nil {
			t.Fatal(err)
		}
	}
	if p.exact == nil {
		p.exact = map[string][]sketch.Sketch{}
	}
	if p.exact[key] == nil {
		for party, plan := range plans {
			b, err := plan.NewBuilder(rootSeed(1), 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.AddRead(p.read(s, party)); err != nil {
				t.Fatal(err)
			}
			p.exact[key] = append(p.exact[key], b.Exact().Sketch)
		}
	}
	for party, one := range p.exact[key] {
		one.Data = slices.Clone(one.Data)
		if err := plans[party].Draw(&one, entropy, 1); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// first returns the contributions of the first round, with empty sketches of the second.
func (p *pooling) first(t testing.TB, entropy *rand.ChaCha8) analysis.Options {
	t.Helper()
	o := analysis.Options{Study: p.study, Attempt: 1, T2: protocol.Digest{1}, Complete: true, Entropy: entropy}
	for party, listed := range p.study.Parties {
		o.Contributions = append(o.Contributions, analysis.Contribution{
			Party: party, Header: protocol.Digest{byte(party)}, Records: int64(len(p.data[listed.Name].ids)), Masked: len(p.study.Parties),
			Sketches: make([]sketch.Sketch, len(p.study.Sketches)),
		})
	}
	for i, sk := range p.study.Sketches {
		for party := range o.Contributions {
			o.Contributions[party].Sketches[i].Side = sk.Side
		}
		if p.study.SecondRound(i) {
			continue
		}
		for party, one := range p.noised(t, p.study, i, entropy) {
			o.Contributions[party].Sketches[i] = one
		}
	}
	return o
}

// answers runs both rounds.
func (p *pooling) answers(t testing.TB, entropy *rand.ChaCha8) (protocol.Basis, analysis.Result) {
	t.Helper()
	o := p.first(t, entropy)
	var b protocol.Basis
	if p.study.TwoRounds() {
		var err error
		if b, err = analysis.ComputeBasis(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(release.CheckInterim(p.study, b), analysis.CheckBasis(t.Context(), o, b)); err != nil {
			t.Fatal(err)
		}
		o.Study = p.study.WithBasis(b)
		for i := range p.study.Sketches {
			if !p.study.SecondRound(i) {
				continue
			}
			for party, one := range p.noised(t, o.Study, i, entropy) {
				o.Contributions[party].Sketches[i] = one
			}
		}
	}
	result, _, err := analysis.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return b, result
}

// looking returns a study of so many columns with masked sums.
func looking(t *testing.T, columns int, column, sketches string, rounds int) *study.Study {
	t.Helper()
	var b strings.Builder
	for j := range columns {
		fmt.Fprintf(&b, "  - {name: x%d, kind: numeric, %s}\n", j, column)
	}
	head, tail, _ := strings.Cut(horizontal, "  - {name: height")
	_, tail, _ = strings.Cut(tail, "sketches:")
	tail = strings.NewReplacer("privacy: %s", "privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}", "[%s]", "[{kind: mean}, {kind: correlation}]", "%s", sketches).Replace(tail)
	text := head + b.String() + "sketches:" + tail + "sum: masked\ncolluding: 1\n"
	if rounds == 2 {
		text += "rounds: 2\n"
	}
	return parse(t, text)
}

// alike returns records of equally correlated columns with the same mean.
func alike(n, columns int, rho, mean float64, rng *rand.Rand) files {
	data := files{}
	for _, name := range []string{"north", "south", "west"} {
		var f file
		for row := range n / 3 {
			common, record := rng.NormFloat64(), make([]float64, columns)
			for j := range record {
				record[j] = mean + math.Sqrt(rho)*common + math.Sqrt(1-rho)*rng.NormFloat64()
			}
			f.add(fmt.Sprint(row+1), record...)
		}
		data[name] = f
	}
	return data
}

// holding counts the intervals that hold, and the answers marked because many records were
// shortened.
type holding struct{ means, correlations, of, pairs, marked, draws float64 }

func (p *pooling) cover(t *testing.T, draws int, says func(protocol.Basis)) (c holding) {
	t.Helper()
	columns := len(p.study.Columns)
	var values [][]float64
	for j := range columns {
		values = append(values, pool(p.data, j))
	}
	for draw := range draws {
		b, result := p.answers(t, source(5_000+draw))
		says(b)
		for j, m := range result.Analyses[0].Means {
			truth := stat.Mean(values[j], nil)
			if c.of++; *m.Low <= truth && truth <= *m.High {
				c.means++
			}
		}
		at := 0
		for i := range columns {
			for j := i + 1; j < columns; j++ {
				r := result.Analyses[1].Pairs[at]
				at++
				truth := stat.Correlation(values[i], values[j], nil)
				if c.pairs++; r.Low != nil && *r.Low <= truth && truth <= *r.High {
					c.correlations++
				}
			}
		}
		if cut := result.Analyses[1].Cut; cut != nil && cut.Shortened {
			c.marked++
		}
		c.draws++
	}
	return c
}

// If columns are nearly collinear, or all true centres deviate to one side, one round of masked
// sums marks its answers, or has larger errors than its intervals say. With a clip that all parties
// derive from their pooled lengths, intervals hold, and few answers are marked. The seeds are
// fixed.
func TestPooledClipsCover(t *testing.T) {
	const columns, records = 10, 15_000
	draws := full.Or(40, 400)
	for name, c := range map[string]struct {
		data   files
		marked float64 // least share of answers marked by one round
		holds  float64 // largest share of its intervals that hold
		most   float64 // largest share marked by two rounds
	}{
		"collinear":           {alike(records, columns, 0.95, 0, rand.New(rand.NewPCG(8, 1))), 0.5, 1, 0.3},
		"one-sided":           {alike(records, columns, 0.3, 1.2, rand.New(rand.NewPCG(8, 2))), 0.9, 1, 0.1},
		"one-sided, far away": {alike(records, columns, 0.3, 2, rand.New(rand.NewPCG(8, 2))), 1, 0.7, 1},
	} {
		t.Run(name, func(t *testing.T) {
			sketches := func(clip float64) string { return fmt.Sprintf("  - {side: moments, clip: %.2f}", clip) }
			blind := looking(t, columns, "centre: 0, spread: 1", sketches(1), 1)
			blind = looking(t, columns, "centre: 0, spread: 1", sketches(blind.ClipRule(0, records)), 1)
			one := (&pooling{blind, c.data, map[string][]sketch.Sketch{}}).cover(t, draws/4, func(protocol.Basis) {})
			if one.marked < c.marked*one.draws || one.correlations > c.holds*one.pairs {
				t.Errorf("one round: %+v", one)
			}
			two := looking(t, columns, "centre: 0, spread: 1", "  - {side: look, share: 0.4}\n  - {side: moments, products: false, clip: own, share: 2}\n  - {side: moments, clip: own, share: 3}", 2)
			clips := map[string]int{}
			got := (&pooling{two, c.data, map[string][]sketch.Sketch{}}).cover(t, draws, func(b protocol.Basis) { clips[fmt.Sprint(b.Clips)]++ })
			t.Logf("one round: %+v; two: %+v; clips %v, of %v", one, got, clips, two.ClipEdges(2))
			if got.marked > c.most*got.draws {
				t.Errorf("two rounds mark %v of %v", got.marked, got.draws)
			}
			for what, share := range map[string]float64{"means": got.means / got.of, "correlations": got.correlations / got.pairs} {
				if share < 0.9 || share > 0.97 {
					t.Errorf("intervals of %s hold %.3f of the time", what, share)
				}
			}
		})
	}
}

// Numbers with known bounds only are centred and scaled by what all parties have together.
// Correlations for which one round has no answer then have an interval that holds.
func TestPooledScalesCover(t *testing.T) {
	const columns, records = 6, 15_000
	data := alike(records, columns, 0.6, 0, rand.New(rand.NewPCG(8, 3)))
	one := (&pooling{looking(t, columns, "bounds: [-6, 6]", "  - {side: moments}", 1), data, map[string][]sketch.Sketch{}}).cover(t, 3, func(protocol.Basis) {})
	s := looking(t, columns, "bounds: [-6, 6]", "  - {side: look, share: 0.1}\n  - {side: moments, standardise: own}", 2)
	moved := 0
	p := &pooling{s, data, nil}
	got := p.cover(t, full.Or(12, 100), func(b protocol.Basis) {
		p.exact = nil // each look gives another basis
		for _, m := range b.Moves {
			if math.Abs(float64(m.Spread)/16/float64(s.Bits.One())-3./12) < 0.06 {
				moved++
			}
		}
	})
	t.Logf("one round: %+v; two: %+v", one, got)
	if share := got.correlations / got.pairs; share < 0.9 || share > 0.99 {
		t.Errorf("intervals of correlations hold %.3f of the time", share)
	}
	if want := int(got.draws) * columns; moved < want*9/10 {
		t.Errorf("%d of %d spreads are about right", moved, want)
	}
}

// An interim is detected if its clip differs, or if its moves differ by more than rounding.
func TestStrangeClipIsFound(t *testing.T) {
	data := alike(3_000, 3, 0.3, 0, rand.New(rand.NewPCG(8, 4)))
	lengths := looking(t, 3, "centre: 0, spread: 1", "  - {side: look, share: 0.1}\n  - {side: moments, clip: own}", 2)
	values := looking(t, 3, "bounds: [-5, 5]", "  - {side: look, share: 0.1}\n  - {side: moments, standardise: own}", 2)
	for name, c := range map[string]struct {
		of     *study.Study
		change func(*protocol.Basis)
		says   string // empty: accepted
	}{
		"another clip":     {lengths, func(b *protocol.Basis) { b.Clips[0] = lengths.ClipEdges(1)[9] }, "clips of"},
		"the next centre":  {values, func(b *protocol.Basis) { b.Moves[1].Centre++ }, ""},
		"another centre":   {values, func(b *protocol.Basis) { b.Moves[1].Centre += 2 }, "shifts entry 2"},
		"another spread":   {values, func(b *protocol.Basis) { b.Moves[0].Spread -= 2 }, "scales it by"},
		"fewer moves":      {values, func(b *protocol.Basis) { b.Moves = b.Moves[1:] }, "has 2 moves"},
		"a blind clip too": {values, func(b *protocol.Basis) { b.Clips[0] = values.ClipEdges(1)[0] }, "clips of"},
	} {
		p := &pooling{c.of, data, map[string][]sketch.Sketch{}}
		o := p.first(t, source(9))
		b, err := analysis.ComputeBasis(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		c.change(&b)
		err = analysis.CheckBasis(t.Context(), o, b)
		var strange *analysis.BasisError
		if errors.As(err, &strange) != (c.says != "") || err != nil && !strings.Contains(strange.Unwrap().Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
