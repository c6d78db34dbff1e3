package release

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// momentStudy returns a horizontal study with these terms.
func momentStudy(t *testing.T, terms string) *study.Study {
	t.Helper()
	return registryWith(t, "horizontal", terms)
}

// registryWith returns a study of the registry's parties with another partition and terms.
func registryWith(t *testing.T, partition, terms string) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	s, err := file.Parse([]byte(head + "partition: " + partition + "\nexpires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\n" + terms))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A party chooses a clip that few records exceed. Noise in the counts of the many greater lengths
// does not make it choose one of those. Going from the longest down to the first that seems to cut
// too much would end at eight typical lengths two times in five.
func TestNoiseDoesNotLengthenClips(t *testing.T) {
	s := momentStudy(t, `records: {id: [patient], missing: count}
columns:
  - {name: age, kind: numeric, centre: 50, spread: 20}
  - {name: pressure, kind: numeric, centre: 130, spread: 20}
  - {name: smoker, kind: binary}
sketches:
  - {side: moments, clip: own}
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: mean}, {kind: correlation}]
`)
	p, err := For(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const records, trials = 20_000, 300
	entropy := rand.NewChaCha8([32]byte{1})
	choose := func(shares ...float64) (chosen []int) {
		for range trials {
			noisy := make([]int64, len(p.Moments.Clips)+1)
			for i, share := range shares {
				noisy[i] = int64(share*records) * dp.CountWeight
			}
			if err := p.Moments.counts.AddParallel(noisy, entropy, 1); err != nil {
				t.Fatal(err)
			}
			chosen = append(chosen, p.chooseClip(noisy, records))
		}
		return chosen
	}
	short := 0
	for _, edge := range choose(0.5, 0.28, 0.15, 0.07) { // no record is beyond clip 3
		if edge < 3 {
			t.Fatalf("clip %d, which %d records exceed", edge, records*7/100)
		}
		if edge <= 4 {
			short++
		}
	}
	if short < trials*3/5 {
		t.Errorf("%d of %d parties take a clip about as long as their longest record", short, trials)
	}
	for _, edge := range choose(0.5, 0.2, 0.1, 0.05, 0.05, 0, 0, 0, 0, 0, 0, 0, 0.1) {
		if edge < 12 {
			t.Errorf("clip %d, which %d records exceed", edge, records/10)
		}
	}
}

// Means are answered by their own sketch, whose clip leaves long records whole. The sketch for
// products has noise that grows with the square of its clip, so it clips more of them.
func TestProductsTakeAShorterClip(t *testing.T) {
	columns := ""
	for i := range 10 {
		columns += fmt.Sprintf("  - {name: c%d, kind: numeric, centre: 50, spread: 20}\n", i)
	}
	s := momentStudy(t, "records: {id: [patient], missing: count}\ncolumns:\n"+columns+`sketches:
  - {side: moments, products: false, clip: own, share: 2}
  - {side: moments, clip: own, share: 3}
privacy: {unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}
analyses: [{kind: mean}, {kind: correlation}]
`)
	if s.Sketches[1].Moments.Sums != 2 || !s.ForProducts(1) || s.ForProducts(0) || s.Fine() == 0 {
		t.Fatalf("the second sketch weighs sums %d, with %d fine bits", s.Sketches[1].Moments.Sums, s.Fine())
	}
	const records, trials = 7_000, 200
	entropy := rand.NewChaCha8([32]byte{2})
	// mean returns the mean clip, in typical lengths, given the number of records longer than each
	// length.
	mean := func(index int, longer func(length float64) float64) (clip float64) {
		p, err := For(s, 0, index)
		if err != nil {
			t.Fatal(err)
		}
		typical := s.TypicalLength(index) * float64(s.Bits.One())
		for range trials {
			noisy := make([]int64, len(p.Moments.Clips)+1)
			before := float64(records)
			for i, c := range p.Moments.Clips {
				now := longer(float64(c) / typical)
				noisy[i], before = int64(before-now)*dp.CountWeight, now
			}
			if err := p.Moments.counts.AddParallel(noisy, entropy, 1); err != nil {
				t.Fatal(err)
			}
			clip += float64(p.Moments.Clips[p.chooseClip(noisy, records)]) / typical / trials
		}
		return clip
	}
	pareto := func(length float64) float64 { return 0.15 * records * math.Pow(length, -2.2) }
	if whole, cut := mean(0, pareto), mean(1, pareto); whole < 8 || cut > 5.05 || cut < 2 {
		t.Errorf("of long records means take a clip of %.1f typical lengths, products of %.1f", whole, cut)
	}
	normal := func(length float64) float64 { return records * math.Erfc(math.Max(0, 3.3*(length-1))) / 2 }
	if whole, cut := mean(0, normal), mean(1, normal); whole < 1.3 || whole > 2 || cut < 1.2 || cut > 2 {
		t.Errorf("of short records means take a clip of %.2f typical lengths, products of %.2f", whole, cut)
	}
}
