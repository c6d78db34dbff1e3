package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// width is the widest line of the text.
const width = 100

// shownPairs is how many estimates of one analysis the text lists.
const shownPairs = 12

// Text writes the run for a terminal, at most 100 columns wide.
func Text(w io.Writer, run Run) error {
	var out strings.Builder
	for _, s := range run.Studies {
		writeStudy(&out, s)
	}
	writeSummary(&out, run)
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

func writeStudy(out *strings.Builder, s outcome.Study) {
	fmt.Fprintf(out, "%s: %s\n", s.Scenario.Name, s.Scenario.Title)
	fmt.Fprintf(out, "  sketch   %s\n", sketchLine(s.Scenario))
	fmt.Fprintf(out, "  privacy  %s\n", promise(s))
	for _, sketch := range s.Result.Sketches {
		paragraph(out, "           ", sketch.Statement)
	}
	paragraph(out, "           ", s.Exposure)
	fmt.Fprintf(out, "  study    %s\n", s.Result.Study)
	rows := [][]string{{"party", "records", "shipped", "its ledger holds"}}
	for _, p := range s.Result.Parties {
		rows = append(rows, []string{p.Name, fmt.Sprint(p.Records), bytes(p.Bytes), ledgerLine(s, p.Name)})
	}
	columns(out, "  ", "lrrl", rows)
	fmt.Fprintf(out, "  shipped %s where the data files hold %s, in %.1f s\n",
		bytes(s.ShippedBytes()), bytes(s.RawBytes), s.Elapsed.Seconds())
	for _, m := range s.Matrices {
		writeMatrix(out, m)
	}
	if s.Clusters != nil {
		writeClusters(out, *s.Clusters)
	}
	out.WriteString("\n")
}

func writeMatrix(out *strings.Builder, m outcome.Matrix) {
	fmt.Fprintf(out, "\n  %s: RMSE %s; %s.\n", title(m.Kind), rmse(m), coverage(m))
	pairs := m.Cross()
	if len(pairs) > shownPairs {
		fmt.Fprintf(out, "  The %d pairs across parties farthest from the truth by their own intervals, and the strongest:\n", shownPairs/2)
		pairs = extremes(m)
	}
	rows := [][]string{{"pair", "truth", "estimate", "interval", ""}}
	for _, p := range pairs {
		if p.Undefined != "" {
			rows = append(rows, []string{pairLabel(m, p), number(m.Kind, p.Truth), "undefined", "", p.Undefined})
			continue
		}
		miss := ""
		if !p.Covered() {
			miss = "misses"
		}
		rows = append(rows, []string{pairLabel(m, p), number(m.Kind, p.Truth), number(m.Kind, p.Estimate),
			fmt.Sprintf("[%s, %s]", number(m.Kind, p.Low), number(m.Kind, p.High)), miss})
	}
	columns(out, "  ", "lrrrl", rows)
}

// extremes picks the estimates farthest from the truth, in half-widths of their
// intervals, and the strongest of the others.
func extremes(m outcome.Matrix) []outcome.Pair {
	pairs := m.Cross()
	slices.SortStableFunc(pairs, func(a, b outcome.Pair) int { return descending(m.Distance(a), m.Distance(b)) })
	far, rest := pairs[:shownPairs/2], pairs[shownPairs/2:]
	slices.SortStableFunc(rest, func(a, b outcome.Pair) int { return descending(math.Abs(a.Truth), math.Abs(b.Truth)) })
	return append(slices.Clone(far), rest[:shownPairs-shownPairs/2]...)
}

func descending(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func pairLabel(m outcome.Matrix, p outcome.Pair) string {
	a, b := m.Features[p.I], m.Features[p.J]
	if a.Party > b.Party {
		a, b = b, a
	}
	return longLabel(a) + ", " + longLabel(b)
}

// longLabel is a column with its party, or a party as a whole.
func longLabel(f outcome.Feature) string {
	return strings.TrimSpace(scenario.PartyNames[f.Party] + " " + f.Column)
}

// rmse writes the error in the unit of the estimates.
func rmse(m outcome.Matrix) string {
	if m.Features[0].Column == "" {
		return fmt.Sprintf("%.0f records", m.RMSE())
	}
	return fmt.Sprintf("%.3f", m.RMSE())
}

func writeClusters(out *strings.Builder, c outcome.Clusters) {
	fmt.Fprintf(out, "\n  Clusters of %d and %d records.\n", c.Sizes[0], c.Sizes[1])
	columns(out, "  ", "lrrr", [][]string{
		{"agreement with", "the study", "largest class", "pooled k-means"},
		{"k-means on the pooled records", percent(c.Pooled.Agreement), percent(c.Pooled.Baseline), ""},
		{"the diagnosis", percent(c.Known.Agreement), percent(c.Known.Baseline), percent(c.Ceiling)},
	})
}

func writeSummary(out *strings.Builder, run Run) {
	rows := [][]string{{"study", "analysis", "RMSE or agreement", "covered", "raw", "shipped", "seconds"}}
	for _, s := range run.Studies {
		size := []string{bytes(s.RawBytes), bytes(s.ShippedBytes()), fmt.Sprintf("%.1f", s.Elapsed.Seconds())}
		for _, m := range s.Matrices {
			covered, pairs := m.Coverage()
			rows = append(rows, append([]string{s.Scenario.Name, string(m.Kind), rmse(m), fmt.Sprintf("%d of %d", covered, pairs)}, size...))
		}
		if c := s.Clusters; c != nil {
			agreement := fmt.Sprintf("%s (baseline %s)", percent(c.Pooled.Agreement), percent(c.Pooled.Baseline))
			rows = append(rows, append([]string{s.Scenario.Name, "k-means", agreement, ""}, size...))
		}
	}
	columns(out, "", "lllrrrr", rows)
	out.WriteString("\n")
	paragraph(out, "", run.Verdict.Rule())
	for _, check := range run.Verdict.Checks {
		paragraph(out, "  ", check.String())
	}
}

// paragraph wraps a text at the width, with an indent.
func paragraph(out *strings.Builder, indent, text string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(indent+line+" "+word)) > width {
			out.WriteString(indent + line + "\n")
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		out.WriteString(indent + line + "\n")
	}
}

// columns writes a table. align holds one letter for each column, l or r.
func columns(out *strings.Builder, indent, align string, rows [][]string) {
	widths := make([]int, len(align))
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		line := indent
		for j, cell := range row {
			pad := strings.Repeat(" ", widths[j]-len([]rune(cell)))
			if align[j] == 'r' {
				line += pad + cell
			} else {
				line += cell + pad
			}
			line += "  "
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
