package audit_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// terms are the parts of a study that decide what a party ships. The parties are
// north, south and west; in a vertical study north owns the columns.
type terms struct {
	partition study.Partition
	columns   []string // entries of columns, without owner
	sketches  []string // entries of sketches
	privacy   string
	missing   string // default centre
}

// The kinds of columns, as entries of a study file.
const (
	bounded     = "{name: bounded, kind: numeric, bounds: [-2, 6]}"
	centred     = "{name: centred, kind: numeric, centre: 10, spread: 2}"
	beside      = "{name: beside, kind: numeric, centre: 0, spread: 1}"
	binary      = "{name: binary, kind: binary}"
	second      = "{name: second, kind: binary}"
	categorical = "{name: categorical, kind: categorical, values: [a, b, c]}"
)

const noPromise = "{mechanism: none}"

// parse returns the study of the terms. Who takes part is taken from an example of
// package study.
func parse(t testing.TB, terms terms) *study.Study {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	var b strings.Builder
	fmt.Fprintf(&b, "%spartition: %s\nexpires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nrecords: {id: [patient], missing: %s}\ncolumns:\n", head, terms.partition, cmp.Or(terms.missing, "centre"))
	for _, c := range terms.columns {
		if terms.partition == study.Vertical {
			c = strings.TrimSuffix(c, "}") + ", owner: north}"
		}
		fmt.Fprintf(&b, "  - %s\n", c)
	}
	if terms.partition == study.Vertical {
		b.WriteString("  - {name: other, kind: binary, owner: south}\n  - {name: third, kind: binary, owner: west}\n")
	}
	b.WriteString("bits: 8\nsketches:\n")
	analysis := "k-means, clusters: 2"
	for _, s := range terms.sketches {
		fmt.Fprintf(&b, "  - %s\n", s)
		if strings.Contains(s, "side: columns") {
			analysis = "inner-product"
		}
		if strings.Contains(s, "side: moments") {
			analysis = "mean"
		}
	}
	fmt.Fprintf(&b, "privacy: %s\nanalyses: [{kind: %s}]\n", terms.privacy, analysis)
	s, err := file.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plan returns north's part in a sketch.
func plan(t testing.TB, s *study.Study, index int) release.Plan {
	t.Helper()
	north, ok := s.PartyByName("north")
	if !ok {
		t.Fatal("no party north")
	}
	p, err := release.For(s, north, index)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rootSeed returns the n-th of a list of fixed seeds.
func rootSeed(n int) seed.Seed {
	rng := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 's'})
	var b [seed.Size]byte
	rng.Read(b[:])
	return seed.FromBytes(b)
}

// entropy returns the n-th of a list of fixed streams of bytes.
func entropy(n int) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 'e'})
}
