package errortable

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Attacked is what a party's attack on its own release recovered.
type Attacked struct {
	Party    string  `json:"party"`
	Knows    string  `json:"knows"`   // what the attacker knows besides the release
	Measure  string  `json:"measure"` // the unit that Value and Baseline are shares of
	Value    float64 `json:"value"`
	Baseline float64 `json:"baseline"` // Value if guessed without the release
}

// String describes it in words.
func (a Attacked) String() string {
	commas := strings.Replace(a.Knows, "; ", ", ", strings.Count(a.Knows, "; ")-1)
	return fmt.Sprintf("from the release of %s an attacker who knows %s recovers %s of %s (%s without the release)",
		a.Party, strings.Replace(commas, "; ", " and ", 1), block.Percent(a.Value), a.Measure, block.Percent(max(a.Baseline, 0)))
}

// Seen returns the findings, one sentence for each sort of study that was run: whole records
// protected, of parties with different records and of parties with different columns; and studies
// without noise.
func Seen(all []Study) (out []string) {
	add := func(is func(Study) bool, says func(Study) string) {
		if i := slices.IndexFunc(all, is); i >= 0 {
			out = append(out, says(all[i]))
		}
	}
	protected := func(by study.Partition) func(Study) bool {
		return func(s Study) bool { return s.Partition == by && s.Unit == dp.Record && len(s.Table.Numbers) > 0 }
	}
	add(protected(study.Horizontal), func(s Study) string {
		return fmt.Sprintf("Parties that hold different people (%s), with %s, learn what the pooled data say: %s.", s.Name, s.Promise, s.Table.found())
	})
	add(protected(study.Vertical), func(s Study) string {
		return fmt.Sprintf("So do parties that hold different columns of the same people (%s), with the same promise and without matching records, but less exactly: %s.", s.Name, s.Table.found())
	})
	add(func(s Study) bool { return s.Attacked != nil }, func(s Study) string {
		return fmt.Sprintf("A sketch without noise (%s) protects nobody: %s.", s.Name, s.Attacked)
	})
	return out
}

// found summarises how accurate the numbers are, and how many of their intervals cover the truth.
func (t Table) found() string {
	covered, defined := 0, 0
	var parts []string
	for _, n := range t.Numbers {
		covered, defined = covered+n.Covered, defined+n.Answers-n.Undefined
		if n.Answers > n.Undefined {
			parts = append(parts, fmt.Sprintf("%d %s err by %s", n.Answers-n.Undefined, cmp.Or(n.Of, string(n.Kind)+"s"), n.amount(n.RMSE)))
		}
	}
	return fmt.Sprintf("%s, and %d of %d intervals hold the truth", strings.Join(parts, ", "), covered, defined)
}

// Checks returns the checks of all studies.
func Checks(all []Study) (out []Check) {
	for _, s := range all {
		out = append(out, s.Checks...)
	}
	return out
}
