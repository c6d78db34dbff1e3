package coverage

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/node/present"
)

// Text writes one table per condition.
func Text(w io.Writer, rows []Row) error {
	fmt.Fprintf(w, "Coverage of intervals of %.0f %%: how often they hold the truth of the pooled data. It has to be\n", 100*Nominal)
	fmt.Fprintf(w, "from %.2f to %.2f, or to 1 where an interval is conservative by construction (c), within %d of its\n", Least, Most, Allowed)
	fmt.Fprintln(w, "standard errors, which are taken between seeds: all numbers of a seed err together.")
	for from := 0; from < len(rows); {
		c := rows[from].Condition
		fmt.Fprintf(w, "\n%s, %d studies\n", c, rows[from].Seeds)
		t := present.NewTable("number", ">coverage", ">± error", ">intervals", ">undefined", "", "")
		var notes, targets []string
		for ; from < len(rows) && rows[from].Condition == c; from++ {
			r := rows[from]
			mark, verdict := "", "ok"
			if r.Conservative != "" {
				mark = fmt.Sprintf("c%d", noted(&notes, r.Conservative))
			}
			if !r.OK() {
				verdict = "OUTSIDE"
			}
			of := noted(&targets, r.Target)
			t.Add(fmt.Sprintf("%s [%d]", r.Number, of), fmt.Sprintf("%.3f", r.Coverage), fmt.Sprintf("%.3f", r.StandardError),
				strconv.Itoa(r.Intervals), strconv.Itoa(r.Undefined), mark, verdict)
		}
		t.Write(w)
		for i, of := range targets {
			present.Paragraph(w, "  ", fmt.Sprintf("[%d] of %s", i+1, of))
		}
		for i, why := range notes {
			present.Paragraph(w, "  ", fmt.Sprintf("c%d: %s", i+1, why))
		}
	}
	return nil
}

// noted returns the index of a text, from 1, and appends it if it is new.
func noted(of *[]string, text string) int {
	at := slices.Index(*of, text)
	if at < 0 {
		at, *of = len(*of), append(*of, text)
	}
	return at + 1
}
