package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// Result prints a stored result, or writes it to files.
type Result struct {
	Study  *study.Study
	Store  *store.Store
	Output string // directory; empty: print
	Labels []byte // labels.csv beside the result; nil: none
	Hint   string // what to do where there is no result yet
}

// Print does it.
func (r Result) Print(c *Console) error {
	result, raw, err := node.StoredResult(r.Store, r.Study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return WithCode(Absent, fmt.Errorf("study %s (%s) has no result here yet: %s", r.Study.Name, r.Study.ID.Short(), r.Hint))
	}
	if err != nil {
		return err
	}
	if r.Output == "" {
		return c.Print(json.RawMessage(raw), func(w io.Writer) { WriteResult(w, result) })
	}
	if err := os.MkdirAll(r.Output, 0o700); err != nil {
		return fmt.Errorf("writing result: %w", err)
	}
	var written []string
	for name, data := range map[string][]byte{"result.json": raw, "labels.csv": r.Labels} {
		if data == nil {
			continue
		}
		path := filepath.Join(r.Output, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("writing result: %w", err)
		}
		written = append(written, path)
	}
	slices.Sort(written)
	return c.Print(map[string]any{"study": r.Study.ID.String(), "files": written}, func(w io.Writer) {
		fmt.Fprintln(w, strings.Join(written, "\n"))
	})
}

// mostPairs bounds how many pairs of one analysis are printed as text.
const mostPairs = 20

// WriteResult prints a result for people: who is in it, what was promised, then
// the numbers with their intervals.
func WriteResult(w io.Writer, r analysis.Result) {
	fmt.Fprintf(w, "%s (study %s): %s result from %d parties\n", r.Name, r.Study[:8], r.Completeness, len(r.Parties))
	for _, p := range r.Parties {
		fmt.Fprintf(w, "  %s: %d records, %d bytes shipped\n", p.Name, p.Records, p.Bytes)
	}
	if len(r.Absent) > 0 {
		fmt.Fprintf(w, "  not in it: %s\n", strings.Join(r.Absent, ", "))
	}
	for i, s := range r.Sketches {
		fmt.Fprintf(w, "sketch %d: %s side, %s, k = %d. %s\n", i, s.Side, s.Family, s.K, s.Statement)
		if s.EpsilonPerPerson != nil {
			fmt.Fprintf(w, "  about one person, over all releases of the study: ε = %.4g\n", *s.EpsilonPerPerson)
		}
	}
	for _, a := range r.Analyses {
		writeAnalysis(w, a)
	}
}

func writeAnalysis(w io.Writer, a analysis.Analysis) {
	fmt.Fprintf(w, "\n%s", a.Kind)
	if a.Estimator != "" {
		fmt.Fprintf(w, ", estimator %s (assumes: %s)", a.Estimator, a.Assumption)
	}
	if a.Units != "" {
		fmt.Fprintf(w, ", units: %s", a.Units)
	}
	fmt.Fprintln(w)
	if a.Clusters > 0 {
		for c, n := range a.Sizes {
			fmt.Fprintf(w, "  cluster %d: %d records\n", c, n)
		}
		return
	}
	table := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	pairs := strongest(a.Pairs)
	for _, p := range pairs {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", featureText(a.Features[p.I]), featureText(a.Features[p.J]), pairText(p, a.Level))
	}
	table.Flush()
	if len(pairs) < len(a.Pairs) {
		fmt.Fprintf(w, "  … and %d more pairs, weaker or undefined; --format json prints all\n", len(a.Pairs)-len(pairs))
	}
}

// strongest returns the pairs of greatest absolute estimate, the first first.
func strongest(all []analysis.Pair) []analysis.Pair {
	size := func(p analysis.Pair) float64 {
		if p.Estimate == nil {
			return -1
		}
		return math.Abs(*p.Estimate)
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b analysis.Pair) int { return cmp.Compare(size(b), size(a)) })
	return sorted[:min(len(sorted), mostPairs)]
}

func featureText(f analysis.Feature) string {
	name := f.Column
	if f.Value != "" {
		name += "=" + f.Value
	}
	switch {
	case f.Party == "":
		return name
	case name == "":
		return f.Party
	}
	return f.Party + ": " + name
}

// pairText rounds a number to its uncertainty: two digits of the interval's width.
func pairText(p analysis.Pair, level float64) string {
	if p.Estimate == nil {
		return "undefined: " + p.Undefined
	}
	digits := 2
	if width := *p.High - *p.Low; width > 0 && !math.IsInf(width, 0) {
		digits = max(0, 1-int(math.Floor(math.Log10(width))))
	}
	return fmt.Sprintf("%.*f\t[%.*f, %.*f]\t%g %%", digits, *p.Estimate, digits, *p.Low, digits, *p.High, 100*level)
}
