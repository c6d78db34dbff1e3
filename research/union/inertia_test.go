package union

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/cosketch/cosketch/testnet/corpus"
)

// holds compares cells with a curator: within a tenth where there are clusters, a fifth where
// they are weak.
func holds(t *testing.T, c Case, trials int) {
	t.Helper()
	got, err := c.Measure(context.Background(), 1, trials)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: inertia by cells %.3f, by published centroids %.3f, a curator's %.3f, one cluster's %.2f", c.Name, mean(got.Cells), mean(got.Centroids), mean(got.Curator), got.One)
	most := 1.1
	if c.Weak {
		most = 1.2
	}
	if got.Undefined > 0 || !(mean(got.Cells) <= most*mean(got.Curator)) || !(mean(got.Centroids) <= 1.2*mean(got.Curator)) {
		t.Errorf("%s: inertia %v, of published centroids %v, a curator's %v, %d undefined", c.Name, got.Cells, got.Centroids, got.Curator, got.Undefined)
	}
	// What clusters explain, they explain for the larger part, and there is something to explain.
	if !(mean(got.Cells) <= 1+(got.One-1)/2) || got.One < 1.2 {
		t.Errorf("%s: inertia %.3f, one cluster's %.3f: clusters are not found", c.Name, mean(got.Cells), got.One)
	}
}

// One round of cells finds clusters about as good as those of a curator who holds all records
// and asks five rounds, under the same promise.
func TestInertiaBesideACurator(t *testing.T) {
	cases, trials := Generated(), 10
	if !full() {
		cases, trials = cases[:2], 2
	}
	for _, c := range cases {
		holds(t, c, trials)
	}
	// The curator of a tiny budget is none: the comparison would tell.
	c := cases[0]
	a, curator, err := c.ruled(1)
	if err != nil {
		t.Fatal(err)
	}
	curator.Mu /= 1000
	lost, err := MeasureInertia(context.Background(), c.Pooled, c.Clusters, a, curator, 1)
	if err != nil {
		t.Fatal(err)
	}
	if mean(lost.Curator) < 1.5*mean(lost.Cells) {
		t.Errorf("a curator who is told next to nothing has an inertia of %.3f", mean(lost.Curator))
	}
}

// Real records, where their data are.
func TestInertiaOfRealRecords(t *testing.T) {
	data, err := corpus.Open("", os.Getenv)
	if errors.Is(err, corpus.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Real(data)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	trials := 10
	if !full() {
		cases, trials = cases[:1], 2
	}
	for _, c := range cases {
		holds(t, c, trials)
	}
}
