package analysis_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// document returns a whole run as bytes.
func document(t *testing.T, s shipped) string {
	t.Helper()
	result, labels := s.run(t)
	text, err := json.Marshal([]any{result, labels})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRunIsAFunctionOfTheReleases: any number of processors and any number of runs give the same
// bytes, and the releases are unchanged.
func TestRunIsAFunctionOfTheReleases(t *testing.T) {
	columns := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 200, helpers: {ones: 0.3, squares: true}}",
		"{unit: attribute, mechanism: laplace, epsilon: 5}", everything))
	records := parse(t, fmt.Sprintf(horizontal, "  - {side: records, family: sparse, k: 12, s: 3}",
		"{unit: attribute, mechanism: gaussian, epsilon: 5, delta: 1e-6}", "{kind: k-means, clusters: 4}"))
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for _, sent := range []shipped{
		ship(t, columns, 9, people(rand.New(rand.NewPCG(6, 1)), 300, 0.1)),
		ship(t, records, 9, wards(rand.New(rand.NewPCG(6, 2)), 2000, 1500, 1000)), // more than one block of k-means
	} {
		var kept []sketch.Sketch
		for _, c := range sent.options.Contributions {
			for _, s := range c.Sketches {
				s.Data = slices.Clone(s.Data)
				kept = append(kept, s)
			}
		}
		want := document(t, sent)
		for _, processors := range []int{1, 3} {
			runtime.GOMAXPROCS(processors)
			if document(t, sent) != want {
				t.Errorf("%s: another document on %d processors", sent.options.Study.Partition, processors)
			}
		}
		for _, c := range sent.options.Contributions {
			for _, s := range c.Sketches {
				if !reflect.DeepEqual(s, kept[0]) {
					t.Errorf("%s: a release was changed", sent.options.Study.Partition)
				}
				kept = kept[1:]
			}
		}
	}
}

// TestResultForgetsTheOrderOfRecords: a party that sorts its file differently makes the same
// columns-side release, except for noise, and so the same document.
func TestResultForgetsTheOrderOfRecords(t *testing.T) {
	for _, s := range []struct {
		terms string
		data  files
	}{
		{fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 40, helpers: {ones: 0.3, squares: true}}", noPromise, everything), people(rand.New(rand.NewPCG(6, 3)), 60, 0.1)},
		{fmt.Sprintf(horizontal, "  - {side: columns, family: rademacher, k: 40}", noPromise, "{kind: correlation}, {kind: distance}"), wards(rand.New(rand.NewPCG(6, 4)), 30, 20, 10)},
	} {
		parsed := parse(t, s.terms)
		want := document(t, ship(t, parsed, 3, s.data))
		rng := rand.New(rand.NewPCG(6, 5))
		for range 5 {
			other := files{}
			for name, f := range s.data {
				f.ids, f.values = slices.Clone(f.ids), slices.Clone(f.values)
				f.shuffle(rng)
				other[name] = f
			}
			if document(t, ship(t, parsed, 3, other)) != want {
				t.Fatalf("%s: the order of records shows", parsed.Partition)
			}
		}
	}
}

// TestRunRefuses: releases that would be counted twice, or under another's name, are refused.
func TestRunRefuses(t *testing.T) {
	s := parse(t, fmt.Sprintf(vertical, "{side: columns, family: sparse, k: 16}", noPromise, "{kind: intersection}"))
	good := ship(t, s, 1, people(rand.New(rand.NewPCG(6, 6)), 20, 0)).options
	c := good.Contributions
	for _, test := range []struct {
		what  string
		given []analysis.Contribution
		want  string
	}{
		{"nothing", nil, "no releases"},
		{"a party twice", []analysis.Contribution{c[0], c[1], c[1]}, "party 1 after that of party 1"},
		{"another order", []analysis.Contribution{c[1], c[0]}, "party 0 after that of party 1"},
		{"a stranger", []analysis.Contribution{c[0], {Party: 3, Sketches: c[0].Sketches}}, "party 3 after that of party 0, of 3"},
		{"nobody", []analysis.Contribution{{Party: -1, Sketches: c[0].Sketches}}, "party -1"},
		{"no sketch", []analysis.Contribution{{Party: 0}}, "0 sketches of party"},
		{"a sketch too many", []analysis.Contribution{{Party: 0, Sketches: append(slices.Clone(c[0].Sketches), c[0].Sketches...)}}, "2 sketches of party"},
	} {
		o := good
		o.Contributions = test.given
		result, labels, err := analysis.Run(context.Background(), o)
		if err == nil || !strings.Contains(err.Error(), test.want) || labels != nil || result.Format != "" {
			t.Errorf("%s: %v, want %q", test.what, err, test.want)
		}
	}
}

// TestRunStops: a cancelled run gives no result, on either side.
func TestRunStops(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, terms := range []string{
		fmt.Sprintf(horizontal, "  - {side: columns, family: sparse, k: 16}", noPromise, "{kind: correlation}"),
		fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: k-means, clusters: 2}"),
		fmt.Sprintf(horizontal, "  - {side: records, family: identity}", noPromise, "{kind: group-distance}"),
	} {
		o := ship(t, parse(t, terms), 1, wards(rand.New(rand.NewPCG(6, 7)), 5, 5, 5)).options
		if _, _, err := analysis.Run(cancelled, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}
