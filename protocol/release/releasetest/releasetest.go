// Package releasetest makes studies, plans, seeds and entropy for tests of what parties release.
package releasetest

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

// Terms holds the parts of a study that decide what a party ships. The parties are north, south and
// west; in a vertical study north owns the columns.
type Terms struct {
	Partition study.Partition
	Columns   []string // entries of columns, without owner
	Sketches  []string // entries of sketches
	Privacy   string
	Bits      int    // default 8
	Missing   string // default centre
}

// The kinds of columns, as entries of a study file.
const (
	Bounded     = "{name: bounded, kind: numeric, bounds: [-2, 6]}"
	Centred     = "{name: centred, kind: numeric, centre: 10, spread: 2}"
	Beside      = "{name: beside, kind: numeric, centre: 0, spread: 1}"
	Binary      = "{name: binary, kind: binary}"
	Second      = "{name: second, kind: binary}"
	Rare        = "{name: rare, kind: binary, centre: 0.03}"
	Categorical = "{name: categorical, kind: categorical, values: [a, b, c]}"
)

// Entries of privacy.
const (
	NoPromise = "{mechanism: none}"
	Laplace   = "{unit: attribute, mechanism: laplace, epsilon: 1}"
)

// Head returns the beginning of a study file, up to its partition: the parties of an example of
// package study, which is in the directory beside the package under test.
func Head(t testing.TB) string {
	t.Helper()
	example, err := os.ReadFile("../study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	return head
}

// Study returns the study of the terms.
func Study(t testing.TB, terms Terms) *study.Study {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%spartition: %s\nexpires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nrecords: {id: [patient], missing: %s}\ncolumns:\n", Head(t), terms.Partition, cmp.Or(terms.Missing, "centre"))
	for _, c := range terms.Columns {
		if terms.Partition == study.Vertical {
			c = strings.TrimSuffix(c, "}") + ", owner: north}"
		}
		fmt.Fprintf(&b, "  - %s\n", c)
	}
	if terms.Partition == study.Vertical {
		b.WriteString("  - {name: other, kind: binary, owner: south}\n  - {name: third, kind: binary, owner: west}\n")
	}
	fmt.Fprintf(&b, "bits: %d\nsketches:\n", cmp.Or(terms.Bits, 8))
	analysis := "k-means, clusters: 2"
	for _, s := range terms.Sketches {
		fmt.Fprintf(&b, "  - %s\n", s)
		if strings.Contains(s, "side: columns") {
			analysis = "inner-product"
		}
		if strings.Contains(s, "side: moments") {
			analysis = "mean"
		}
	}
	fmt.Fprintf(&b, "privacy: %s\nanalyses: [{kind: %s}]\n", terms.Privacy, analysis)
	s, err := file.Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Plan returns north's part in a sketch.
func Plan(t testing.TB, s *study.Study, index int) release.Plan {
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

// Seed returns the n-th fixed seed.
func Seed(n int) seed.Seed {
	rng := rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 's'})
	var b [seed.Size]byte
	rng.Read(b[:])
	return seed.FromBytes(b)
}

// Entropy returns the n-th fixed stream of bytes.
func Entropy(n int) *rand.ChaCha8 {
	return rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16), 'e'})
}
