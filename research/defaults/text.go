package defaults

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Text writes the table as text: the rows, then the failures with reasons, then the verdicts of
// plans, right and wrong.
func Text(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := []string{"data", "study", "ε", "by", "what", "N", "seeds", "intervals", "undef", "cover", "worst", "of", "plain", "length", "power", "limit", "RMSE", "ref", "÷ref", "forecast", "÷fc", "plan", "outcome"}
	fmt.Fprintln(t, strings.Join(head, "\t"))
	for _, r := range rows {
		kind := string(r.Partition)
		if r.Sum != "" {
			kind = r.Sum
		}
		forecast, realised, usable := "", "", ""
		if f := r.Forecast; f != nil {
			forecast, realised, usable = fmt.Sprintf("%.3g..%.3g", f.Easiest, f.Hardest), digits(f.Realised), "not usable"
			if f.Usable {
				usable = "usable"
			}
		}
		worst, of := "–", ""
		if r.Worst != nil {
			worst, of = fmt.Sprintf("%.3f", r.Worst.Coverage), r.Worst.Of
		}
		power := ""
		if r.Power > 0 {
			power = fmt.Sprintf("%.2f", r.Power)
		}
		cells := []string{
			r.Data, kind, fmt.Sprintf("%g", r.Epsilon), r.By, r.What, fmt.Sprint(r.Records), fmt.Sprint(r.Seeds), fmt.Sprint(r.Intervals), fmt.Sprint(r.Undefined),
			part(r.Coverage), worst, of, part(r.Plain), digits(r.Length), power, r.Limit, digits(r.RMSE), digits(r.Reference), digits(r.Ratio), forecast, realised, usable, string(r.Outcome),
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	counts := map[Outcome]int{}
	for _, r := range rows {
		counts[r.Outcome]++
	}
	fmt.Fprintf(w, "\n%d rows: %d passed, %d failed, %d marked with a caution, %d inconclusive (too few seeds), %d without a limit\n",
		len(rows), counts[Pass], counts[Fail], counts[Marked], counts[Untold], counts[Reported])
	for _, r := range rows {
		if len(r.Why) > 0 {
			fmt.Fprintf(w, "  %s: %s\n", r.Name(), strings.Join(r.Why, "; "))
		}
	}
	fmt.Fprintln(w, "\nVerdicts of plans:")
	for _, right := range []string{"wrong", "right", "not told"} {
		var of []string
		for _, r := range rows {
			if f := r.Forecast; f != nil && verdict(f.Right) == right {
				of = append(of, fmt.Sprintf("    %s: %s", r.Name(), f.Verdict))
			}
		}
		fmt.Fprintf(w, "  %s: %d\n", right, len(of))
		for _, line := range of {
			fmt.Fprintln(w, line)
		}
	}
	_, err := fmt.Fprintf(w, `
Coverage is of the raw data; worst, of the number that is held least often, and of which it is; plain, of studies in which no interval was widened; length is that of intervals over
what their standard errors make. A row fails where a binomial test allowing for seeds rejects a limit at %g; power is the probability that a coverage of %.2f would be
rejected. RMSE is in the row's measure: spreads for means, the correlation itself for correlations. ref is
the best clip's by search (of masked sums, of a curator), and forecast the plan's standard errors.
`, Rejection, wrongCoverage)
	return err
}

func verdict(right *bool) string {
	switch {
	case right == nil:
		return "not told"
	case *right:
		return "right"
	}
	return "wrong"
}

// part formats a share.
func part(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *x)
}

// digits formats three significant digits.
func digits(x *float64) string {
	if x == nil {
		return "–"
	}
	return fmt.Sprintf("%.3g", *x)
}

// Failed reports whether any row fails.
func Failed(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return r.Outcome == Fail })
}
