package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/audit"
)

// A failed audit says so first, and beside the sketch that failed.
func TestFailedAuditIsShown(t *testing.T) {
	a := audit.AuditReport{
		Study: "0123456789abcdef", Name: "trial", Doubt: 1e-6,
		Sketches: []audit.AuditedSketch{
			{Party: "north", Sketch: 1, Side: "records", Mechanism: "gaussian", Unit: "record", Claimed: 1, Delta: 1e-6, Found: 0.8, Reach: 45, Trials: 20000, Declared: &[2]int64{10, 20}, Realised: &[2]int64{9, 18}, Passed: true, Conclusive: true},
			{Party: "north", Sketch: 2, Side: "columns", Mechanism: "randomised-response", Unit: "attribute", Claimed: 1, Found: 1.8, Reach: 6, Drawn: 1.9, Trials: 20000, Remarks: []string{"something"}},
		},
	}
	var b strings.Builder
	writeReport(&b, a.Name, a.Study, audit.Report{Audited: &a})
	text := b.String()
	for _, want := range []string{
		"trial (study 01234567): FAIL: a release gives away more than the study claims.",
		"20000  PASS\n", "20000  FAIL\n",
		"largest change of the exact sketch, sum of squares", "ε of the flips as drawn", "Note: something.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > 101 {
			t.Errorf("a long line: %s", line)
		}
	}
}
