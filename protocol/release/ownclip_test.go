package release

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// momentStudy is a horizontal study with these terms.
func momentStudy(t *testing.T, terms string) *study.Study {
	t.Helper()
	return registryWith(t, "horizontal", terms)
}

// registryWith is a study of the registry's parties with another partition and terms.
func registryWith(t *testing.T, partition, terms string) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	s, err := study.Parse([]byte(head + "partition: " + partition + "\nexpires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\n" + terms))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A party takes a clip that few records exceed, and noise in the counts of the many longer
// ones does not lead it to those: taking the first that seems to cut too much, from the
// longest down, would end at eight typical lengths two times in five.
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
				noisy[i] = int64(share*records) * countWeight
			}
			if err := p.Moments.counts.AddParallel(noisy, entropy, 1); err != nil {
				t.Fatal(err)
			}
			chosen = append(chosen, p.chooseClip(noisy, records))
		}
		return chosen
	}
	short := 0
	for _, edge := range choose(0.5, 0.28, 0.15, 0.07) { // none is beyond clip 3
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
