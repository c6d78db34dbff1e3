package mechanism

import (
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/node/present"
)

// Text prints a comparison as text.
func Text(w io.Writer, c Comparison) error {
	present.Paragraph(w, "", c.Statement)
	fmt.Fprintln(w)
	text := fmt.Sprintf("Variance of a squared distance of %d between two records of %d binary values, k = %d; one value of one record is protected, δ = %g where a mechanism needs one.",
		c.R2, c.D, c.K, c.Delta)
	if c.Trials > 0 {
		text += fmt.Sprintf(" Simulated: %d pairs, each with new matrices and new noise.", c.Trials)
	}
	present.Paragraph(w, "", text)
	said := map[string]bool{}
	for _, l := range c.Levels {
		fmt.Fprintf(w, "\nε = %g\n", l.Epsilon)
		head := []string{"mechanism", "whose", "promise", ">variance", ">× best"}
		if c.Trials > 0 {
			head = append(head, ">simulated", ">ratio")
		}
		t := present.NewTable(head...)
		for _, line := range l.Lines {
			promise := "(ε, δ)"
			if line.Pure {
				promise = "ε"
			}
			cells := []string{line.Name, whose(line.Source), promise, number(line.Variance), number(line.Times)}
			if c.Trials > 0 {
				cells = append(cells, number(line.Simulated), fmt.Sprintf("%.3f ± %.3f", line.Ratio, line.Error))
			}
			t.Add(cells...)
		}
		t.Write(w)
		for _, line := range l.Lines {
			if text := line.Name + ": " + line.Doubt + "."; line.Doubt != "" && !said[text] {
				said[text] = true
				present.Paragraph(w, "  ", text)
			}
		}
	}
	fmt.Fprintln(w)
	present.Paragraph(w, "", fmt.Sprintf("Relative error (RMSE over the distance r²) at each mechanism's best k, up to the power of two that holds a record's values. A record has %d of them, or r² where that is more.", c.D))
	head := []string{"mechanism", ">r²"}
	for _, l := range c.Levels {
		head = append(head, fmt.Sprintf(">ε = %g", l.Epsilon), ">k")
	}
	t := present.NewTable(head...)
	for at := 0; at < len(c.BestK); at += len(c.Levels) {
		row := []string{c.BestK[at].Name, strconv.Itoa(c.BestK[at].R2)}
		for _, o := range c.BestK[at:][:len(c.Levels)] {
			row = append(row, fmt.Sprintf("%.2g", o.RelativeRMSE), strconv.Itoa(o.K))
		}
		t.Add(row...)
	}
	t.Write(w)
	return nil
}

func whose(source string) string {
	if source == "" {
		return "–"
	}
	return source
}

// number formats three significant digits.
func number(x float64) string {
	if x >= 1000 && x < 1e5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
