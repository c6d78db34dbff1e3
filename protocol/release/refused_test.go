package release

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// errGone is the error of a resource that has run out.
var errGone = errors.New("it is gone")

// limited provides keys, bytes or room until that many were taken.
type limited struct {
	left  int
	keys  seed.Keys
	bytes io.Reader
}

func (l *limited) take() error {
	if l.left--; l.left < 0 {
		return errGone
	}
	return nil
}

func (l *limited) Derive(label seed.Label) ([32]byte, error) {
	if err := l.take(); err != nil {
		return [32]byte{}, err
	}
	return l.keys.Derive(label)
}

func (l *limited) Read(b []byte) (int, error) {
	if err := l.take(); err != nil {
		return 0, err
	}
	return l.bytes.Read(b)
}

func (l *limited) Bytes(n int) ([]byte, error) { return make([]byte, n), l.take() }

// untilEnough calls do with ever more resources until it succeeds. Every time before, do must
// return errGone.
func untilEnough(t *testing.T, what string, least int, do func(*limited) error) {
	t.Helper()
	for left := range 20 {
		l := &limited{left: left, keys: seed.FromBytes([seed.Size]byte{9}), bytes: rand.NewChaCha8([32]byte{1})}
		err := do(l)
		if err == nil {
			if l.left < 0 {
				t.Errorf("%s: what failed after %d is not said", what, left)
			}
			if left < least {
				t.Errorf("%s needs %d, want %d", what, left, least)
			}
			return
		}
		if !errors.Is(err, errGone) {
			t.Errorf("%s after %d: %v", what, left, err)
			return
		}
	}
	t.Errorf("%s: never enough", what)
}

// If keys, entropy or room run out at any point, no sketch is made or read, and the error says so.
func TestWhatGivesOutIsSaid(t *testing.T) {
	for _, c := range pinnedStudies {
		s := registryWith(t, c.partition, c.terms)
		for index := range s.Sketches {
			p, err := For(s, 0, index)
			if err != nil || p.Awaits() {
				continue
			}
			name := fmt.Sprintf("%s, sketch %d", c.name, index)
			ids, values := pinnedRecords(p, pinnedCount)
			if p.Looks() {
				untilEnough(t, name+": entropy of a look", 1, func(l *limited) error {
					look := p.NewLook()
					if err := look.Add(values); err != nil {
						t.Fatal(err)
					}
					_, err := look.Draw(l)
					return err
				})
				look := p.NewLook()
				if err := look.Add(values[1:]); err == nil && len(p.Inputs()) > 1 {
					t.Errorf("%s: a look at a part of a record", name)
				}
				if err := look.Restore(sketch.Sketch{Data: []int64{1}}, 5); err == nil {
					t.Errorf("%s: a look of another shape is restored", name)
				}
				if _, err := p.NewBuilder(seed.FromBytes([seed.Size]byte{9}), 1); !errors.Is(err, errUnseen) {
					t.Errorf("%s: a builder without a look: %v", name, err)
				}
				if _, err := p.NewLengths(1); p.Clip > 0 && !errors.Is(err, errUnseen) {
					t.Errorf("%s: lengths without a look: %v", name, err)
				}
				if _, err := p.After(nil); err == nil {
					t.Errorf("%s: a look at nothing", name)
				}
				moves := look.Exact()
				if p, err = p.After(moves); err != nil {
					t.Fatal(err)
				}
			}
			untilEnough(t, name+": keys", 0, func(l *limited) error { _, err := p.NewBuilder(l, 1); return err })
			untilEnough(t, name+": keys to publish", len(s.Published()), func(l *limited) error { _, err := Publish(s, l); return err })
			if p.Sketch().Side == sketch.Records {
				untilEnough(t, name+": keys of names", map[bool]int{true: 1}[p.Joined()], func(l *limited) error { _, err := p.Pseudonyms(l, ids); return err })
				untilEnough(t, name+": keys of a projector", 0, func(l *limited) error { _, err := NewProjector(s, index, l); return err })
			} else if _, err := NewProjector(s, index, seed.FromBytes([seed.Size]byte{9})); err == nil {
				t.Errorf("%s: a projector of another side", name)
			} else if _, err := p.NewPlacer(seed.FromBytes([seed.Size]byte{9}), 1); err == nil {
				t.Errorf("%s: a placer of another side", name)
			}
			var made Exact
			untilEnough(t, name+": entropy", 0, func(l *limited) error {
				b, err := p.NewBuilder(l.keys, 1)
				if err != nil {
					t.Fatal(err)
				}
				if err := b.Randomise(l); err != nil {
					return err
				}
				for _, part := range [][]int64{values[1:], append([]int64{0}, values...)} {
					if err := b.AddRead(ids, part); err == nil {
						t.Errorf("%s: a part of a record is taken", name)
					}
				}
				if err := b.AddRead(ids, values); err != nil {
					t.Fatal(err)
				}
				e, err := b.Finish(l)
				if err == nil {
					err = e.Draw(p, l, 1)
				}
				made = e
				if again := b.AddRead(ids, values); !p.Flips.Zero() && again == nil {
					t.Errorf("%s: bits are added that nothing flips", name)
				}
				return err
			})
			if !s.TwoRounds() && !s.Masked() {
				readsWhole(t, name, p, made)
			}
		}
	}
}

// readsWhole reads a release that is cut off at various places, is too long, or has no room.
func readsWhole(t *testing.T, name string, p Plan, e Exact) {
	t.Helper()
	header, data, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(io.Reader) error{
		"check": func(r io.Reader) error { return p.Check(header, r) },
		"decode": func(r io.Reader) error {
			if _, err := Decode(header, r); err != nil {
				return err
			}
			_, err := DecodeRows(header, r, nil)
			return err
		},
		"beside": func(r io.Reader) error { _, _, err := p.ReadRows(header, r, nil); return err },
	}
	at := int(header.Entries())
	for way, read := range ways {
		for _, n := range []int{0, 1, at / 2, at - 1, at, at + 1, (at + len(data)) / 2, len(data) - 1} {
			if n >= len(data) {
				continue
			}
			if err := read(bytes.NewReader(data[:n])); err == nil {
				t.Errorf("%s, %s: %d bytes of %d are enough", name, way, n, len(data))
			}
			if err := read(io.MultiReader(bytes.NewReader(data[:n]), &limited{})); !errors.Is(err, errGone) {
				t.Errorf("%s, %s: after %d bytes of %d: %v", name, way, n, len(data), err)
			}
		}
		if err := read(bytes.NewReader(append(slices.Clone(data), 0))); err == nil {
			t.Errorf("%s, %s: a byte more is taken", name, way)
		}
		if err := read(bytes.NewReader(data)); err != nil {
			t.Errorf("%s, %s: %v", name, way, err)
		}
	}
	needs := p.Joined() || p.Labels != nil && strconv.IntSize == 64 // 32-bit labels take half as many bytes, too few to need room
	untilEnough(t, name+": room", map[bool]int{true: 1}[needs], func(l *limited) error {
		_, _, err := p.ReadRows(header, bytes.NewReader(data), l)
		return err
	})
	if p.Labels == nil {
		return
	}
	for row, class := range map[int]int64{1: int64(len(p.Labels.Classes)), 7: -1} {
		s := e.Sketch
		s.Data = slices.Clone(s.Data)
		s.Data[row*s.Cols-1] = class
		bad := func(err error) bool {
			return err != nil && strings.Contains(err.Error(), fmt.Sprintf("row %d has an unknown label: the column has %d classes", row, len(p.Labels.Classes)))
		}
		header, data, err := Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(header, bytes.NewReader(data)); !bad(err) {
			t.Errorf("%s: checked: %v", name, err)
		}
		if _, _, err := p.ReadRows(header, bytes.NewReader(data), nil); !bad(err) {
			t.Errorf("%s: beside: %v", name, err)
		}
		if _, _, err := p.Unpack(s); !bad(err) {
			t.Errorf("%s: unpacked: %v", name, err)
		}
	}
}

// The numbers of many columns are allocated from the room.
func TestTallyNeedsRoom(t *testing.T) {
	terms := "bits: 6\nrecords: {id: [patient], missing: refuse}\ncolumns:\n"
	for i := range 32 {
		terms += fmt.Sprintf("  - {name: c%d, kind: binary}\n", i)
	}
	s := registryWith(t, "horizontal", terms+"sketches: [{side: moments, clip: 6}]\n"+gaussianRecords+askMoments)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	untilEnough(t, "a tally", 2, func(l *limited) error {
		_, err := p.MomentTally(l, SummedMoments{Weights: p.Moments.Weights[0], Noise: p.Noise, Sums: make([]int64, p.Moments.Layout.Entries())}, 9, 1)
		return err
	})
}

// A first round must have exactly its sketches, in order, each with the shape that the study fixes.
func TestFirstRoundsAreChecked(t *testing.T) {
	for name, terms := range map[string]string{"lengths": lookAtLengths, "values": lookAtValues, "two": strings.Replace(lookAtLengths, "  - {side: look}\n", "  - {side: counts, tables: [{of: [{column: smoker}]}]}\n  - {side: look}\n", 1)} {
		if name == "two" {
			terms = strings.Replace(terms, "{kind: correlation}]", "{kind: correlation}, {kind: table}]", 1)
		}
		s := momentStudy(t, terms)
		good := func() protocol.First {
			f := protocol.First{Records: 9}
			for i := range s.Sketches {
				p, err := For(s, 0, i)
				if err != nil {
					t.Fatal(err)
				}
				if s.SecondRound(i) {
					continue
				}
				h := protocol.ReleasedSketch{Side: p.Sketch().Side, Width: 8, Masked: 3}
				h.Rows, h.Cols = p.Shape(9)
				f.Sketches, f.Data = append(f.Sketches, h), append(f.Data, make([]byte, h.Size()))
			}
			return f
		}
		for what, c := range map[string]struct {
			change func(*protocol.First)
			says   string // empty: it is accepted
		}{
			"as it is":      {func(*protocol.First) {}, ""},
			"one record":    {func(f *protocol.First) { f.Records = 1 }, ""},
			"no records":    {func(f *protocol.First) { f.Records = 0 }, "first round of 0 records"},
			"not masked":    {func(f *protocol.First) { f.Sketches[0].Masked = 0 }, "not masked"},
			"another shape": {func(f *protocol.First) { f.Sketches[0].Cols++ }, "first round: sketch"},
			"another side":  {func(f *protocol.First) { f.Sketches[len(f.Sketches)-1].Side = sketch.Moments }, "first round: sketch"},
			"short data":    {func(f *protocol.First) { f.Data[len(f.Data)-1] = f.Data[len(f.Data)-1][1:] }, "first round: "},
			"none":          {func(f *protocol.First) { f.Sketches, f.Data = nil, nil }, "first round without sketch 1"},
			"one more": {func(f *protocol.First) {
				f.Sketches, f.Data = append(f.Sketches, f.Sketches[0]), append(f.Data, f.Data[0])
			}, "the study has"},
		} {
			if name == "values" && what == "none" {
				c.says = "first round without sketch 2"
			}
			f := good()
			c.change(&f)
			if err := CheckFirst(s, 0, f); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// The input of a second round must be within the study's bounds, inclusive.
func TestInterimsAreChecked(t *testing.T) {
	codes := ""
	for _, c := range pinnedStudies {
		if c.name == "codes" {
			codes = c.terms
		}
	}
	for name, terms := range map[string]string{"lengths": lookAtLengths, "values": lookAtValues, "codes": codes} {
		s := momentStudy(t, terms)
		one := s.Bits.One()
		for what, c := range map[string]struct {
			of     string
			change func(*protocol.Basis)
			ok     bool
		}{
			"as it is":          {"lengths values codes", func(*protocol.Basis) {}, true},
			"no clips":          {"lengths values", func(b *protocol.Basis) { b.Clips = nil }, false},
			"a clip of its own": {"lengths values", func(b *protocol.Basis) { b.Clips = append(slices.Clone(b.Clips[1:]), 12345) }, false},
			"a radius":          {"lengths values", func(b *protocol.Basis) { b.Codebook.Radius = 1 }, false},
			"a centre":          {"lengths values", func(b *protocol.Basis) { b.Codebook.Centre = []int64{0} }, false},
			"axes":              {"lengths values", func(b *protocol.Basis) { b.Codebook.Axes = [][]int64{nil} }, false},
			"codes":             {"lengths values", func(b *protocol.Basis) { b.Codebook.Codes = [][]int64{nil} }, false},
			"moves":             {"lengths codes", func(b *protocol.Basis) { b.Moves = []sketch.Standard{{Spread: 1}} }, false},
			"clips":             {"codes", func(b *protocol.Basis) { b.Clips = []int64{640} }, false},
			"no axes":           {"codes", func(b *protocol.Basis) { b.Codebook.Axes = nil }, false},
			"no moves":          {"values", func(b *protocol.Basis) { b.Moves = nil }, false},
			"least centre":      {"values", func(b *protocol.Basis) { b.Moves[0].Centre = 0 }, true},
			"less":              {"values", func(b *protocol.Basis) { b.Moves[0].Centre = -1 }, false},
			"largest centre":    {"values", func(b *protocol.Basis) { b.Moves[0].Centre = 16 * one }, true},
			"a larger one":      {"values", func(b *protocol.Basis) { b.Moves[0].Centre = 16*one + 1 }, false},
			"least spread":      {"values", func(b *protocol.Basis) { b.Moves[0].Spread = 1 }, true},
			"no spread":         {"values", func(b *protocol.Basis) { b.Moves[0].Spread = 0 }, false},
			"largest spread":    {"values", func(b *protocol.Basis) { b.Moves[0].Spread = 24 * one }, true},
			"a larger spread":   {"values", func(b *protocol.Basis) { b.Moves[0].Spread = 24*one + 1 }, false},
			"what stays":        {"values", func(b *protocol.Basis) { b.Moves[1].Centre++ }, false},
			"what stays scaled": {"values", func(b *protocol.Basis) { b.Moves[len(b.Moves)-1].Spread-- }, false},
		} {
			if !strings.Contains(c.of, name) {
				continue
			}
			b := s.PlaceholderBasis()
			b.Moves, b.Clips = slices.Clone(b.Moves), slices.Clone(b.Clips)
			c.change(&b)
			if err := CheckInterim(s, b); (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), "interim: ") {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	if err := CheckInterim(registryWith(t, "horizontal", pinnedStudies[0].terms), protocol.Basis{}); err == nil {
		t.Error("an interim of a study of one round")
	}
}

// The input of a second round comes only from a look of the study's own shape.
func TestLooksOfAnotherShapeAreRefused(t *testing.T) {
	s := momentStudy(t, lookAtLengths)
	at, _ := s.Look()
	p, err := For(s, 0, at)
	if err != nil {
		t.Fatal(err)
	}
	_, cols := p.Shape(1)
	good := func() sketch.Sketch {
		return sketch.Sketch{Side: sketch.Look, Rows: 1, Cols: int(cols), Data: make([]int64, cols)}
	}
	for name, change := range map[string]func(*sketch.Sketch){
		"side": func(s *sketch.Sketch) { s.Side = sketch.Moments }, "rows": func(s *sketch.Sketch) { s.Rows = 2 },
		"cols": func(s *sketch.Sketch) { s.Cols-- }, "data": func(s *sketch.Sketch) { s.Data = s.Data[1:] },
	} {
		bad := good()
		change(&bad)
		if b, err := p.Basis(bad, 100, 3); err == nil {
			t.Errorf("another %s: %v", name, b)
		}
	}
	if _, err := p.Basis(good(), 100, 3); err != nil {
		t.Error(err)
	}
}

// Plans for more members than there are parties, and sketches of the wrong shape, are refused.
func TestPlansRefuse(t *testing.T) {
	s := momentStudy(t, lookAtLengths)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for members, ok := range map[int]bool{2: true, 3: true, 4: false} {
		if of, err := p.Among(members); (err == nil) != ok || ok && of.members != members {
			t.Errorf("%d members: %v", members, err)
		}
	}
	open := registryWith(t, "horizontal", pinnedStudies[0].terms)
	if q, err := ForQuery(open, 0); err == nil {
		t.Errorf("a query of a study without any: %v", q.Limit)
	}
	values, err := For(open, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []sketch.Sketch{{Rows: 2, Cols: 1, Data: make([]int64, 3)}, {Rows: 1, Data: []int64{1}}} {
		if _, err := values.NoiseIn(bad); err == nil {
			t.Errorf("the noise in %v", bad)
		}
	}
	if err := (&Exact{Sketch: sketch.Sketch{Side: sketch.Moments, Rows: 3, Cols: 2, Data: make([]int64, 6)}}).Draw(values, rand.NewChaCha8([32]byte{1}), 1); err == nil {
		t.Error("moments of another shape are noised")
	}
	if _, err := values.chosen(nil); err == nil {
		t.Error("a release without its clip is read")
	}
	moved := registryWith(t, "vertical", pinnedStudies[slices.IndexFunc(pinnedStudies, func(c struct{ name, partition, terms string }) bool { return c.name == "columns moved" })].terms)
	own, err := For(moved, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	rows, cols := own.Shape(1)
	if err := own.Draw(&sketch.Sketch{Side: sketch.Columns, Rows: int(rows), Cols: int(cols), Data: make([]int64, rows*cols)}, rand.NewChaCha8([32]byte{1}), 1); err == nil {
		t.Error("columns are noised without a look")
	}
	for v, ok := range map[int64]bool{own.largest() - 1: true, own.largest(): false, 1 - own.largest(): true, -own.largest(): false} {
		if err := own.inRange([]int64{0, v}); (err == nil) != ok {
			t.Errorf("an entry of %d: %v", v, err)
		}
	}
}

// Whatever a study asks for, its plan has the noise of its guarantee, or there is no plan.
func TestPlansHaveTheirNoise(t *testing.T) {
	failed := map[string]int{}
	for _, c := range pinnedStudies {
		s := registryWith(t, c.partition, c.terms)
		if s.TwoRounds() { // their clips are chosen when the study is read
			failed[c.name]++
			continue
		}
		for _, epsilon := range []dp.Epsilon{1e-9, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 1e-3, 0.1} {
			for _, longer := range []float64{1, 0.02, 300, 1e5, 1e9} {
				of := *s
				of.Sketches = slices.Clone(s.Sketches)
				if of.Privacy.Epsilon > 0 {
					of.Privacy.Epsilon = epsilon
				}
				for i := range of.Sketches {
					of.Sketches[i].Clip *= longer
				}
				for index := range of.Sketches {
					name := fmt.Sprintf("%s, sketch %d, ε = %g, clip times %g", c.name, index, float64(epsilon), longer)
					p, err := For(&of, 0, index)
					if err != nil {
						failed[c.name]++
						if !strings.HasPrefix(err.Error(), fmt.Sprintf("planning sketch %d: ", index+1)) {
							t.Errorf("%s: %v", name, err)
						}
						if err := CheckHeader(&of, 0, protocol.Release{Records: 1, Sketches: make([]protocol.ReleasedSketch, len(of.Sketches)), Published: make([][32]byte, len(of.Published()))}); err == nil {
							t.Errorf("%s: a release is taken", name)
						}
						continue
					}
					if p.Clip > 0 && p.Cut() < 1 {
						t.Errorf("%s: records are cut to nothing", name)
					}
					var missing []dp.Noise
					for _, n := range append(ofParts(p), p.Noise, p.summed) {
						if n.Variance() == 0 {
							missing = append(missing, n)
						}
					}
					switch mechanism := s.Privacy.Mechanism; {
					case mechanism == dp.None:
					case mechanism == dp.RandomisedResponse:
						if p.Flips.Zero() {
							t.Errorf("%s: no flips", name)
						}
					case len(missing) > 0 || p.Guarantee().Loss() == (dp.Loss{}):
						t.Errorf("%s: %d parts have no noise, of %v", name, len(missing), p.Guarantee())
					}
					if p.Labels != nil && s.Sketches[index].Labels == "randomised" && p.Labels.Response.Zero() {
						t.Errorf("%s: labels are not randomised", name)
					}
				}
			}
		}
	}
	for _, c := range pinnedStudies {
		if failed[c.name] == 0 && c.name != "no promise" {
			t.Errorf("%s: nothing is refused", c.name)
		}
	}
}

// ofParts returns the noises of a plan besides that of its sums or rows.
func ofParts(p Plan) (out []dp.Noise) {
	if m := p.Moments; m != nil {
		out = append(out, m.noises...)
		if m.own {
			out = append(out, m.counts)
		}
		if p.Looks() {
			out = append(out, m.looking)
		}
	}
	if p.Own != nil {
		out = append(out, p.Own.looking, p.Own.sums)
	}
	return out
}

// If there are more parties, each may send less, so that the sum over all fits. The first row with
// a wrong label is named, in a release that is read in many blocks.
func TestLargeReleasesAreChecked(t *testing.T) {
	var s study.Study
	for _, c := range pinnedStudies {
		if c.name == "labels" {
			s = *registryWith(t, c.partition, c.terms)
		}
	}
	s.Parties = slices.Repeat(s.Parties, 80)
	p, err := For(&s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.largest() >= largestEntry {
		t.Fatalf("an entry may be as large as %d", p.largest())
	}
	const rows = 20_000
	_, cols := p.Shape(rows)
	for name, c := range map[string]struct {
		at   map[int]int64 // entries
		says string        // empty: it is accepted
	}{
		"largest":              {map[int]int64{0: p.largest() - 1, 6 * int(cols): 1 - p.largest()}, ""},
		"too large":            {map[int]int64{0: p.largest()}, "out of range"},
		"too large at the end": {map[int]int64{rows*int(cols) - 2: -p.largest()}, "out of range"},
		"labels":               {map[int]int64{1: 1 << 40, 9*int(cols) - 1: 3, 15_000*int(cols) - 1: 3}, "row 9 has"},
	} {
		out := sketch.Sketch{Side: sketch.Records, Rows: rows, Cols: int(cols), Data: make([]int64, rows*cols)}
		for at, v := range c.at {
			out.Data[at] = v
		}
		header, data, err := Encode(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(header, bytes.NewReader(data)); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: checked: %v", name, err)
		}
		if c.says == "out of range" {
			continue
		}
		if labels, _, err := p.ReadRows(header, bytes.NewReader(data), nil); c.says == "" && (err != nil || len(labels) != rows) || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: beside: %v", name, err)
		}
	}
}

// The least possible clip is one step.
func TestAClipOfOneStep(t *testing.T) {
	const terms = "bits: 8\nrecords: {id: [patient], missing: centre}\n" + pinnedColumns + "sketches: [{side: records, family: identity, clip: 0.004}]\n" + gaussianRecords + askClusters
	s := registryWith(t, "horizontal", terms)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	root := seed.FromBytes([seed.Size]byte{9})
	projector, err := NewProjector(s, 0, root)
	if err != nil {
		t.Fatal(err)
	}
	point, clipped := projector.Project([]int64{0, 256, 0, 0, 0, 0})
	ids, values := pinnedRecords(p, 20)
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add(ids, values); err != nil {
		t.Fatal(err)
	}
	if p.Clip != 1 || !clipped || point[1] != 1./256 || b.Clipped() != 20 {
		t.Errorf("cut to %d: %v, %d of 20 records", p.Clip, point, b.Clipped())
	}
}
