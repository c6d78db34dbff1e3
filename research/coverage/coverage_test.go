package coverage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/research/coverage"
)

// Every kind of interval covers the truth of the pooled data as often as stated, within five
// standard errors. Seeds are fixed; over the choice of seeds, some 120 rows would fail with
// probability below 1e-4. Intervals of half the width check the power, as if the standard error
// were half as large: for kinds that are not conservative they cover .67 on average, and each less
// than .85.
func TestCoverage(t *testing.T) {
	seeds := 8
	if full.Asked() {
		seeds = 250
	}
	told := 0
	rows, err := coverage.Measure(context.Background(), coverage.Options{Seeds: seeds, Tell: func(done, total int) { told = total - done }})
	if err != nil {
		t.Fatal(err)
	}
	if told != 0 {
		t.Errorf("progress ended %d studies early", told)
	}
	conditions, halved, plain := map[coverage.Condition]int{}, 0.0, 0.0
	for _, r := range rows {
		conditions[r.Condition]++
		if !r.OK() {
			t.Errorf("%s, %s: coverage %.3f ± %.3f of %d intervals", r.Condition, r.Number, r.Coverage, r.StandardError, r.Intervals)
		}
		if r.Conservative != "" {
			continue
		}
		halved, plain = halved+r.Halved, plain+1
		if seeds > 100 && r.Halved > 0.85 {
			t.Errorf("%s, %s: intervals of half the width cover %.3f: the test could not tell", r.Condition, r.Number, r.Halved)
		}
	}
	if len(conditions) != 6 || len(rows) < 80 {
		t.Errorf("%d rows of %d conditions", len(rows), len(conditions))
	}
	if halved /= plain; halved > 0.78 {
		t.Errorf("intervals of half the width cover %.3f on average: the test could not tell", halved)
	}
	var text, document bytes.Buffer
	if err := coverage.Text(&text, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"columns of the same people, noise, overlap 60 %", "eigenvalue of covariances", "distance of a neighbour", "ok"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text has no %q", want)
		}
	}
	for line := range strings.Lines(text.String()) {
		if n := len([]rune(line)); n > 101 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
	if seeds > 100 {
		t.Log("\n" + text.String())
	}
	if err := json.NewEncoder(&document).Encode(rows); err != nil {
		t.Fatal(err)
	}
	var back []coverage.Row
	if err := json.Unmarshal(document.Bytes(), &back); err != nil || len(back) != len(rows) || back[3] != rows[3] {
		t.Errorf("the document reads back as %d rows of %d: %v", len(back), len(rows), err)
	}
}

func TestCoverageRefuses(t *testing.T) {
	if _, err := coverage.Measure(context.Background(), coverage.Options{Seeds: 1}); err == nil {
		t.Error("one seed has a standard error")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := coverage.Measure(ctx, coverage.Options{Seeds: 2}); err == nil {
		t.Error("it went on when told to stop")
	}
}
