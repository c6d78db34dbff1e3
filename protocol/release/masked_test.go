package release_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
)

// maskedPlan is a plan of a masked study of three parties, one of which may collude.
func maskedPlan(t testing.TB, index int, privacy string) release.Plan {
	t.Helper()
	return releasetest.Plan(t, maskedStudy(t, privacy), index)
}

const gaussianRecord = "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}"

func maskedStudy(t testing.TB, privacy string) *study.Study {
	t.Helper()
	clip := ", clip: 0.8"
	if privacy == releasetest.NoPromise {
		clip = ""
	}
	return releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary}, Missing: "refuse",
		Sketches: []string{"{side: moments" + clip + "}", "{side: cells, L: 2" + clip + "}"}, Privacy: privacy + "\nquorum: 2\nsum: masked\ncolluding: 1",
	})
}

// pairsOf runs an agreement of n members; which selects one of several fixed agreements.
func pairsOf(t testing.TB, n, which int) []agree.Pairs {
	t.Helper()
	g := agree.Group{Study: [32]byte{1}, Attempt: 1, Roster: [32]byte{2}}
	for i := range n {
		g.Members = append(g.Members, [32]byte{byte(i + 1)})
	}
	var secrets []*agree.Secrets
	var commits []agree.Posted[agree.Commit]
	for i, m := range g.Members {
		s, err := agree.Begin(g.Study, 1, m, releasetest.Entropy(1000*which+i))
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, s)
		commits = append(commits, agree.Posted[agree.Commit]{ID: [32]byte{3, byte(i)}, Message: s.Commit()})
	}
	var shares []agree.Posted[agree.Share]
	for i, s := range secrets {
		share, err := s.Share(g, commits)
		if err != nil {
			t.Fatal(err)
		}
		shares = append(shares, agree.Posted[agree.Share]{ID: [32]byte{4, byte(i)}, Message: share})
	}
	var out []agree.Pairs
	for _, s := range secrets {
		o, err := s.Open(g, commits, shares)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o.Pairs)
	}
	return out
}

// shippedMasked masks a sketch and returns what the aggregator decodes of it.
func shippedMasked(t testing.TB, p release.Plan, noised sketch.Sketch, pairs agree.Pairs) sketch.Sketch {
	t.Helper()
	one := release.Exact{Sketch: noised}
	one.Sketch.Data = slices.Clone(noised.Data)
	if err := one.Mask(p, pairs); err != nil {
		t.Fatal(err)
	}
	header, data, err := one.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if header.Masked != pairs.Members() || header.Width != 8 {
		t.Fatalf("header says masked for %d, %d bytes wide", header.Masked, header.Width)
	}
	if err := p.Check(header, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	got, err := release.Decode(header, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wide is a columns-side plan with many entries, for tests that need many bytes.
func wide(t testing.TB) release.Plan {
	t.Helper()
	return releasetest.Plan(t, releasetest.Study(t, releasetest.Terms{
		Partition: study.Horizontal, Columns: []string{releasetest.Bounded, releasetest.Centred}, Missing: "refuse",
		Sketches: []string{"{side: columns, family: sparse, k: 8192, clip: 1.5}", "{side: columns, family: sparse, k: 8192, clip: 1.5}"},
		Privacy:  gaussianRecord + "\nquorum: 2\nsum: masked\ncolluding: 1",
	}), 0)
}

// unlikely is the false-rejection rate of one check of uniform bytes.
const unlikely = 1e-9

// suspicious returns why 64-bit words are not uniform, or "". It checks the values of each of the 8
// bytes, each bit, and each byte together with that of the next word. Each check rejects uniform
// words with probability 1e-9, so any of the 80 checks of one call rejects them with probability
// below 1e-7.
func suspicious(words []int64) string {
	n := float64(len(words))
	chi := func(counts []float64, each float64) float64 {
		sum := 0.0
		for _, c := range counts {
			sum += (c - each) * (c - each) / each
		}
		return distuv.ChiSquared{K: float64(len(counts) - 1)}.Survival(sum)
	}
	for b := range 8 {
		values, nibbles := make([]float64, 256), make([]float64, 256)
		for i, w := range words {
			v := byte(uint64(w) >> (8 * b))
			values[v]++
			next := byte(uint64(words[(i+1)%len(words)]) >> (8 * b))
			nibbles[v>>4<<4|next>>4]++
		}
		if p := chi(values, n/256); p < unlikely {
			return fmt.Sprintf("the values of byte %d (p = %.2g)", b, p)
		}
		if p := chi(nibbles, n/256); p < unlikely {
			return fmt.Sprintf("byte %d beside its neighbour (p = %.2g)", b, p)
		}
	}
	for bit := range 64 {
		ones := 0.0
		for _, w := range words {
			ones += float64(uint64(w) >> bit & 1)
		}
		if z := math.Abs(ones-n/2) / math.Sqrt(n/4); 2*distuv.UnitNormal.Survival(z) < unlikely {
			return fmt.Sprintf("bit %d, set %g of %g times", bit, ones, n)
		}
	}
	return ""
}

// TestMaskedWordsAreUniform: what any P - 1 of the parties store at the aggregator reveals nothing.
// The words of one party, and sums and differences of those of two, must look uniform although the
// sketches are all zero, without any noise. These are 9 combinations of three parties. Over the
// choice of the keys the test rejects uniform words with probability below 9·80·1e-9 < 1e-6, and so
// do the checks of two sketches and of two attempts. The keys are fixed, so the test is
// deterministic. Power: the sum over all parties, noise without masks, and a mask that is used
// twice are each detected.
func TestMaskedWordsAreUniform(t *testing.T) {
	p := wide(t)
	rows, cols := p.Shape(1)
	zero := sketch.Sketch{Side: sketch.Columns, Rows: int(rows), Cols: int(cols), Data: make([]int64, rows*cols)}
	pairs := pairsOf(t, 3, 1)
	var parts []sketch.Sketch
	for _, one := range pairs {
		parts = append(parts, shippedMasked(t, p, zero, one))
	}
	combine := func(weights ...int64) []int64 {
		out := make([]int64, len(zero.Data))
		for i, w := range weights {
			for j, v := range parts[i].Data {
				out[j] += w * v
			}
		}
		return out
	}
	looks := 0
	for a := int64(0); a <= 1; a++ { // opposite weights are equivalent
		for b := int64(-1); b <= 1; b++ {
			for c := int64(-1); c <= 1; c++ {
				if a*b*c != 0 || a == 0 && (b < 0 || b == 0 && c <= 0) {
					continue
				}
				looks++
				if why := suspicious(combine(a, b, c)); why != "" {
					t.Errorf("weights %d, %d, %d: %s", a, b, c, why)
				}
			}
		}
	}
	t.Logf("%d combinations of 80 looks at %d words, each rejecting uniform ones with probability %g: %.2g in all", looks, len(zero.Data), unlikely, float64(looks)*80*unlikely)
	if float64(looks)*80*unlikely > 1e-6 {
		t.Errorf("the test rejects uniform words too often: %d looks", looks)
	}
	if suspicious(combine(1, 1, 1)) == "" {
		t.Error("the sum over all parties looks uniform: the masks do not cancel, or the test has no power")
	}
	noised := zero
	noised.Data = slices.Clone(zero.Data)
	if err := p.Draw(&noised, releasetest.Entropy(3), 1); err != nil {
		t.Fatal(err)
	}
	if suspicious(noised.Data) == "" {
		t.Error("noise without masks looks uniform: the test has no power")
	}
	other := p
	other.Index = 1
	again := shippedMasked(t, other, zero, pairs[0])
	for i := range again.Data {
		again.Data[i] -= parts[0].Data[i]
	}
	if why := suspicious(again.Data); why != "" {
		t.Errorf("two sketches of one party, subtracted: %s: they share masks", why)
	}
	repeated := shippedMasked(t, p, zero, pairs[0])
	for i := range repeated.Data {
		repeated.Data[i] -= parts[0].Data[i]
	}
	if suspicious(repeated.Data) == "" {
		t.Error("a mask that is used twice is not found")
	}
	next := shippedMasked(t, p, zero, pairsOf(t, 3, 2)[0])
	for i := range next.Data {
		next.Data[i] -= parts[0].Data[i]
	}
	if why := suspicious(next.Data); why != "" {
		t.Errorf("two attempts of one party, subtracted: %s: they share masks", why)
	}
}

// TestUnmaskedSumIsThePlainSum: exactly, for every possible number of remaining members and entries
// up to the largest.
func TestUnmaskedSumIsThePlainSum(t *testing.T) {
	for index := range 2 {
		whole := maskedPlan(t, index, gaussianRecord)
		rows, cols := whole.Shape(1)
		for _, n := range []int{2, 3} {
			p, err := whole.Among(n)
			if err != nil {
				t.Fatal(err)
			}
			pairs := pairsOf(t, n, 7+n)
			var plain, masked []sketch.Sketch
			rng := releasetest.Entropy(40 + n)
			for i := range n {
				one := sketch.Sketch{Side: p.Sketch().Side, Rows: int(rows), Cols: int(cols), Data: make([]int64, rows*cols)}
				for j := range one.Data {
					one.Data[j] = int64(rng.Uint64()) >> 8 // 56 bits
					if j == 0 {
						one.Data[j] = largest * int64(1-2*(i%2))
					}
					if j == 1 {
						one.Data[j] = largest
					}
				}
				plain = append(plain, one)
				masked = append(masked, shippedMasked(t, p, one, pairs[i]))
			}
			want, err := sketch.Add(plain...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Unmask(masked)
			if err != nil {
				t.Fatal(err)
			}
			if got.Side != want.Side || got.Rows != want.Rows || got.Cols != want.Cols || !slices.Equal(got.Data, want.Data) {
				t.Errorf("sketch %d of %d members: another sum than the plain one", index+1, n)
			}
			if _, err := p.Unmask(masked[1:]); err == nil || !strings.Contains(err.Error(), "only in the sum of all") {
				t.Errorf("a sum of some: %v", err)
			}
			slices.Reverse(masked[0].Data)
			if _, err := p.Unmask(masked); !errors.Is(err, release.ErrSpoilt) {
				t.Errorf("a spoilt sum: %v", err)
			}
		}
	}
}

// TestMaskRefuses: masks must be for the same members as the noise.
func TestMaskRefuses(t *testing.T) {
	p := maskedPlan(t, 0, gaussianRecord)
	e := release.Exact{Sketch: sketch.Sketch{Side: sketch.Moments, Rows: 1, Cols: 1, Data: []int64{1}}}
	for _, pairs := range []agree.Pairs{{}, pairsOf(t, 2, 9)[0]} {
		if err := e.Mask(p, pairs); err == nil || e.Masked != 0 || e.Sketch.Data[0] != 1 {
			t.Errorf("masked for %d members by a plan of 3: %v", pairs.Members(), err)
		}
	}
	if _, err := p.Among(4); err == nil {
		t.Error("a plan for more members than parties")
	}
	if _, err := p.Among(1); err == nil {
		t.Error("a plan for those that collude")
	}
}

// TestPartsOfNoise: the shares of the parties that do not collude add up to the noise that the sum
// needs, and are drawn as planned.
func TestPartsOfNoise(t *testing.T) {
	for index := range 2 {
		s := maskedStudy(t, gaussianRecord)
		p := releasetest.Plan(t, s, index)
		part, err := s.Part(index)
		if err != nil {
			t.Fatal(err)
		}
		needed, err := dp.Calibrate(part.Values, p.Sensitivity)
		if err != nil {
			t.Fatal(err)
		}
		if want := math.Ceil(needed.Variance() / 2); p.Noise.Variance() != want {
			t.Errorf("sketch %d: a part of 3 parties has variance %g, want %g", index+1, p.Noise.Variance(), want)
		}
		left, err := p.Among(2)
		if err != nil || left.Noise.Variance() != needed.Variance() {
			t.Errorf("sketch %d: a part of 2 members has variance %g, want all of %g: %v", index+1, left.Noise.Variance(), needed.Variance(), err)
		}
		drawn := sketch.Sketch{Side: p.Sketch().Side, Rows: 1, Cols: 40_000, Data: make([]int64, 40_000)}
		if err := p.Draw(&drawn, releasetest.Entropy(50+index), 1); err != nil {
			t.Fatal(err)
		}
		if d := deviates(drawn.Data, p.Noise.Variance(), 0); d > 6 {
			t.Errorf("sketch %d: the noise that is drawn is %.1f standard errors off", index+1, d)
		}
		if d := deviates(drawn.Data, needed.Variance(), 0); d < 6 {
			t.Errorf("sketch %d: whole noise would pass, too: no power", index+1)
		}
	}
	if p := maskedPlan(t, 0, releasetest.NoPromise); p.Noise.Variance() != 0 {
		t.Errorf("without noise a part has variance %g", p.Noise.Variance())
	}
}

// TestAuditOfAMaskedSum: the noise that is sure to be in the sum meets the claim, and half of it
// does not.
func TestAuditOfAMaskedSum(t *testing.T) {
	for index := range 2 {
		p := maskedPlan(t, index, gaussianRecord)
		a := audited(t, p)
		if !a.Passed() || float64(a.Finding.Found) < 0.6*float64(a.Finding.Claimed) {
			t.Errorf("sketch %d: claimed %v, found %v, passed %v", index+1, a.Finding.Claimed, a.Finding.Found, a.Passed())
		}
		var err error
		if p.Noise, err = p.Noise.Shared(2); err != nil {
			t.Fatal(err)
		}
		if a := audited(t, p); a.Finding.Passed {
			t.Errorf("sketch %d: half of the noise passes, found %v of %v", index+1, a.Finding.Found, a.Finding.Claimed)
		}
	}
	if text := maskedPlan(t, 0, gaussianRecord).Statement(); !strings.Contains(text, "no more than 1 of them collude") {
		t.Errorf("it is said: %s", text)
	}
}

// TestMaskedHeaders checks what a header says of masks.
func TestMaskedHeaders(t *testing.T) {
	s := maskedStudy(t, gaussianRecord)
	good := func() protocol.Release {
		out := protocol.Release{Records: 5, Published: make([][32]byte, len(s.Published()))}
		for i := range s.Sketches {
			p := releasetest.Plan(t, s, i)
			h := protocol.ReleasedSketch{Side: p.Sketch().Side, Width: 8, Masked: 3, Chunks: make([]protocol.Digest, 1)}
			h.Rows, h.Cols = p.Shape(5)
			out.Sketches = append(out.Sketches, h)
		}
		return out
	}
	if err := release.CheckHeader(s, 0, good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*protocol.Release){
		"not masked":             func(r *protocol.Release) { r.Sketches[1].Masked = 0 },
		"fewer than the quorum":  func(r *protocol.Release) { r.Sketches[0].Masked, r.Sketches[1].Masked = 1, 1 },
		"more than the parties":  func(r *protocol.Release) { r.Sketches[0].Masked, r.Sketches[1].Masked = 4, 4 },
		"one for other members":  func(r *protocol.Release) { r.Sketches[1].Masked = 2 },
		"narrower than uniform":  func(r *protocol.Release) { r.Sketches[0].Width = 7 },
		"more records than hold": func(r *protocol.Release) { r.Records = math.MaxInt64 },
	} {
		r := good()
		change(&r)
		if err := release.CheckHeader(s, 0, r); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	plain := releasetest.Study(t, releasetest.Terms{Partition: study.Horizontal, Columns: []string{releasetest.Bounded}, Sketches: []string{"{side: moments, clip: 0.8}"}, Privacy: gaussianRecord, Missing: "refuse"})
	p := releasetest.Plan(t, plain, 0)
	h := protocol.ReleasedSketch{Side: sketch.Moments, Width: 8, Masked: 3, Chunks: make([]protocol.Digest, 1)}
	h.Rows, h.Cols = p.Shape(5)
	if err := release.CheckHeader(plain, 0, protocol.Release{Records: 5, Sketches: []protocol.ReleasedSketch{h}}); err == nil {
		t.Error("a masked sketch of a plain study: taken")
	}
	words := []byte{1, 0, 0, 0, 0, 0, 0, 0}
	one := protocol.ReleasedSketch{Side: sketch.Moments, Rows: 1, Cols: 1, Width: 8}
	if _, err := release.Decode(one, bytes.NewReader(words)); err == nil {
		t.Error("a plain entry wider than it needs to be: decoded")
	}
	one.Masked = 3
	if got, err := release.Decode(one, bytes.NewReader(words)); err != nil || got.Data[0] != 1 {
		t.Errorf("a masked entry that happens to be small: %v", err)
	}
}

// A sum of masked sketches is accepted exactly if honest ones can have it, whatever its sign.
func TestUnmaskedSumsAtTheirLimit(t *testing.T) {
	p := maskedPlan(t, 0, gaussianRecord)
	p, err := p.Among(3)
	if err != nil {
		t.Fatal(err)
	}
	limit := int64(3) * (1 << 62 / study.MostWhole)
	for v, honest := range map[int64]bool{0: true, limit - 1: true, 1 - limit: true, limit: false, -limit: false, math.MaxInt64: false, math.MinInt64: false} {
		err := p.Unmasked(sketch.Sketch{Side: sketch.Moments, Rows: 1, Cols: 2, Data: []int64{1, v}}, 3)
		if honest != (err == nil) || !honest && !errors.Is(err, release.ErrSpoilt) {
			t.Errorf("an entry of %d: %v", v, err)
		}
	}
}
