package audit_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/present"
)

// auditOf is a report about one sketch, attacked and tested, with names that need escaping.
func auditOf(found float64) audit.Report {
	one := audit.AttackedResult{Name: "least norm", Knows: "R", Measure: "the values' variance", Value: 0.47, Detail: "best of all <b>"}
	for j := range 60 {
		one.Columns = append(one.Columns, audit.AttackedColumn{Name: fmt.Sprintf("col <%d>", j), Value: float64(j)/60 - 0.1})
	}
	for i := range 21 {
		one.Errors = append(one.Errors, audit.AttackedError{Share: float64(i) / 20, Recovered: float64(i) / 100, Guessed: float64(i) / 50})
	}
	attacked := audit.AttackReport{Study: strings.Repeat("ab", 32), Name: "trial <x>", Dataset: "d", Records: 400, Sample: 300, Promise: "A promise.",
		Sketches: []audit.AttackedSketch{{Sketch: 1, Side: "records", Made: "sparse", Noise: "laplace", Flags: []string{"k = 3 <z>"}, Attacks: []audit.AttackedResult{one, {Name: "linkage", Measure: "records linked", Value: 0.01, Baseline: 0.01}}}}}
	noise := &audit.AuditedNoise{Draws: 1000, Variance: 1.01, Chance: 0.4}
	for i := range 41 {
		noise.Histogram = append(noise.Histogram, audit.AuditedBin{From: int64(10*i - 205), To: int64(10*i - 195), Drawn: 20 + i, Expected: 24.4})
	}
	audited := audit.AuditReport{Name: "trial <x>", Passed: found <= 1, Doubt: 1e-6, Sketches: []audit.AuditedSketch{{
		Party: "north", Sketch: 1, Mechanism: "laplace", Claimed: 1, Found: found, Reach: 3, Trials: 1000, Declared: &[2]int64{10, 20}, Realised: &[2]int64{9, 18},
		Statement: "A statement.", OneRun: audit.AuditedOneRun{Guessed: 100, Right: 60, Found: 0.4}, Noise: noise, Remarks: []string{"something"}, Passed: found <= 1, Conclusive: true,
	}}}
	return audit.Report{Attacked: &attacked, Audited: &audited}
}

func auditHTML(t *testing.T, p audit.Report) string {
	t.Helper()
	var out strings.Builder
	if err := present.HTML(&out, present.Page{Title: "trial <x>", Headline: p.Headline(), Blocks: p.Blocks()}); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{`(?i)https?://`, `(?i)<script`, `(?i)\ssrc\s*=`, "ZgotmplZ", "NaN", "Inf", "<x>", "<b>", "<0>"} {
		if found := regexp.MustCompile(pattern).FindString(out.String()); found != "" {
			t.Errorf("the page holds %q", found)
		}
	}
	if out.Len() > 150_000 {
		t.Errorf("the page has %d bytes", out.Len())
	}
	return out.String()
}

// The verdict comes first. The page compares what attacks recover with guessing, and distinguishes
// a mechanism that reveals more than it claims from one that does not.
func TestAuditPage(t *testing.T) {
	html := auditHTML(t, auditOf(0.8))
	for _, want := range []string{
		"<h1>PASS: nothing speaks against what the study claims. Whoever knows the random matrix recovers up to 47.0 % of the values&#39; variance (0.0 % by guessing).</h1>",
		"47.0 %, guessing 0.0 %", "<strong>Flag.</strong> k = 3 &lt;z&gt;.", "300 of the records", "A promise.", "claimed 1, found ≥ 0.8",
		"<td>largest change of the exact sketch, sum of sizes (l1)<td class=\"n\">10<td class=\"n\">9", "Shows the 40 most exposed of 60 columns", "−205 up to −196: 20 drawn",
		"Note: something.",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if figures := strings.Count(html, "<svg "); figures != 5 || strings.Count(html, "<desc ") != figures {
		t.Errorf("%d figures, want 5, each described", figures)
	}
	failed := auditHTML(t, auditOf(1.2))
	for _, want := range []string{"<h1>FAIL: a release gives away more", "<strong>Do not release.</strong>", "<td>FAIL"} {
		if !strings.Contains(failed, want) {
			t.Errorf("a failed audit lacks %q", want)
		}
	}
}

// Without a promise there is nothing to test, and without data nothing to attack.
func TestAuditPageOfOneHalf(t *testing.T) {
	p := auditOf(0.8)
	p.Audited, p.Bare = nil, true
	html := auditHTML(t, p)
	if !strings.Contains(html, "No privacy guarantee.") || strings.Contains(html, "claim-epsilon") {
		t.Error("a study without noise is not marked as such")
	}
	p = auditOf(0.8)
	p.Attacked = nil
	if html = auditHTML(t, p); !strings.Contains(html, "No data were read") || strings.Contains(html, "What attacks recover") {
		t.Error("an audit without data does not say so")
	}
	p = auditOf(0.8)
	p.Attacked.Sketches[0].Attacks = p.Attacked.Sketches[0].Attacks[1:]
	if html = auditHTML(t, p); !strings.Contains(html, "recovers no more of your data than guessing does") {
		t.Error("attacks that recover nothing are not said to")
	}
}
