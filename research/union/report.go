package union

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// Options says what Report measures.
type Options struct {
	Corpus  *corpus.Corpus // real data sets; nil: only the project's own
	Trials  int            // required: trials per study of few records; large ones get a tenth, at least 1
	Epsilon []dp.Epsilon   // required: the ε for whole records in studies of the hospitals
	Figures io.Writer      // receives the page of figures; nil: no figures
}

// Sketches of the measured studies: sums, and the projection that would replace them.
func sums(l, q int, clip float64) []string {
	return []string{fmt.Sprintf("{side: moments, clip: %v}", clip), fmt.Sprintf("{side: cells, L: %d, q: %d, clip: %v, share: 0.4}", l, q, clip)}
}

func rows(clip float64) []string {
	return []string{fmt.Sprintf("{side: records, family: identity, clip: %v}", clip)}
}

// Report measures, and writes the results in lines of at most 100 columns.
func Report(ctx context.Context, o Options, w io.Writer) error {
	pictures := &pictures{}
	if err := o.report(ctx, w, pictures); err != nil || o.Figures == nil {
		return err
	}
	if err := pictures.accuracy(ctx, o); err != nil {
		return err
	}
	return pictures.write(o.Figures)
}

func (o Options) report(ctx context.Context, w io.Writer, pictures *pictures) error {
	for _, typical := range []bool{true, false} {
		p, err := Hospitals(typical)
		if err != nil {
			return err
		}
		clip := 1.5
		if !typical {
			clip = 2
		}
		if err := o.clusters(ctx, w, p, 2, sums(2, 1, clip), rows(clip), o.Trials, o.Epsilon, pictures); err != nil {
			return err
		}
	}
	few := max(o.Trials/10, 1)
	mixture := Mixture(100_000, 20, 5, rand.New(rand.NewPCG(1, 1)))
	if err := o.clusters(ctx, w, mixture, 5, sums(7, 4, 2), rows(2), few, []dp.Epsilon{1}, pictures); err != nil {
		return err
	}
	fmt.Fprintln(w, "CORRELATIONS of 30 columns, three parties, ε = 1 for whole records: root mean square error")
	fmt.Fprintln(w, "  (masked: the aggregator sees only the parties' sum; one party may collude)")
	fmt.Fprintln(w, "     records   moments  covered  half width    masked  half width      R·X, sparse, k = 1024")
	for _, n := range []int{2_000, 20_000, 200_000} {
		p := Correlated(n, 30, rand.New(rand.NewPCG(2, 2)))
		if err := correlations(ctx, w, p, []string{"{side: moments, clip: 2.5}"}, "{side: columns, family: sparse, k: 1024, clip: 2.5}"); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	if o.Corpus == nil {
		fmt.Fprintf(w, "Left out, heart and diabetes130: %v.\n", corpus.ErrNone)
		return nil
	}
	return o.real(ctx, w, few, pictures)
}

// real measures the data sets of a folder, and says which are missing.
func (o Options) real(ctx context.Context, w io.Writer, few int, pictures *pictures) error {
	heart, err := Heart(*o.Corpus)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(w, "Left out: %v.\n", err)
	case err != nil:
		return err
	default:
		if err := o.clusters(ctx, w, heart, 2, sums(2, 1, 1.2), rows(1.2), o.Trials, o.Epsilon, pictures); err != nil {
			return err
		}
	}
	for _, bounded := range []bool{true, false} {
		diabetes, err := Diabetes(*o.Corpus, bounded)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(w, "Left out: %v.\n", err)
			return nil
		}
		if err != nil {
			return err
		}
		if err := o.clusters(ctx, w, diabetes, 3, sums(6, 2, 1.4), rows(1.4), few, []dp.Epsilon{1}, pictures); err != nil {
			return err
		}
		fmt.Fprintln(w, "     records   moments  covered  half width    masked  half width      R·X, sparse, k = 1024")
		if err := correlations(ctx, w, diabetes, []string{"{side: moments, clip: 1.6}"}, "{side: columns, family: sparse, k: 1024, clip: 1.6}"); err != nil {
			return err
		}
		if !bounded {
			fmt.Fprintln(w, "  Counts far above 3 spreads are moved there: intervals hold the correlations of what is left.")
		}
		fmt.Fprintln(w)
	}
	return nil
}

// littleAgreed is the agreement below which clusters of two scalings count as different.
const littleAgreed = 0.75

// clusters measures one case at several ε, with sums and with row sketches.
func (o Options) clusters(ctx context.Context, w io.Writer, p Pooled, k int, by, instead []string, trials int, epsilons []dp.Epsilon, pictures *pictures) error {
	fmt.Fprintf(w, "CLUSTERS: %s, %d records, k = %d, whole records protected, %d trials\n", p.Name, len(p.Records), k, trials)
	fmt.Fprintln(w, "  agreement with the pooled clusters and, behind the slash, with the known grouping")
	fmt.Fprintln(w, "         ε  moments & cells  the same masked     row sketches  own scales  largest class  pooled/known")
	scales := 1.0
	for _, epsilon := range epsilons {
		ours, err := MeasureClusters(ctx, p, k, Ask{Sketches: by, Privacy: Promise(epsilon)}, trials)
		if err != nil {
			return err
		}
		masked, err := MeasureClusters(ctx, p, k, Ask{Sketches: by, Privacy: Promise(epsilon), Masked: true}, trials)
		if err != nil {
			return err
		}
		rows, err := MeasureClusters(ctx, p, k, Ask{Sketches: instead, Privacy: Promise(epsilon)}, max(trials/5, 1))
		if err != nil {
			return err
		}
		pictures.clusters(p, epsilon, ours, rows)
		note := ""
		if ours.Faint > 0 {
			note = fmt.Sprintf("  (%d without an answer)", ours.Faint)
		}
		ceiling := "–"
		if ours.Ceiling > 0 {
			ceiling = fmt.Sprintf("%.3f", ours.Ceiling)
		}
		fmt.Fprintf(w, "  %8g  %15s  %15s  %15s  %10.3f  %13.3f  %12s%s\n", float64(epsilon), ours.text(), masked.text(), rows.text(), ours.Scales, ours.Baseline, ceiling, note)
		scales = ours.Scales
	}
	if scales < littleAgreed {
		fmt.Fprintln(w, "  Scaled as in the study, the pooled records have other clusters than scaled to [0, 1]")
		fmt.Fprintln(w, "  (own scales): no study with these scales can find the latter, with or without noise.")
	}
	fmt.Fprintln(w)
	return nil
}

func (c Clusters) text() string {
	if c.Known == 0 {
		return fmt.Sprintf("%.3f / –", c.Pooled)
	}
	return fmt.Sprintf("%.3f / %.3f", c.Pooled, c.Known)
}

// correlations measures one case with moments and with a projection.
func correlations(ctx context.Context, w io.Writer, p Pooled, by []string, instead string) error {
	ours, err := MeasureCorrelations(ctx, p, Ask{Sketches: by, Privacy: Promise(1)}, 1)
	if err != nil {
		return err
	}
	projected, err := MeasureCorrelations(ctx, p, Ask{Sketches: []string{instead}, Privacy: Promise(1)}, 1)
	if err != nil {
		return err
	}
	masked, err := MeasureCorrelations(ctx, p, Ask{Sketches: by, Privacy: Promise(1), Masked: true}, 1)
	if err != nil {
		return err
	}
	other := fmt.Sprintf("%.3f", projected.RMSE)
	switch pairs := len(p.Columns) * (len(p.Columns) - 1) / 2; projected.Undefined {
	case 0:
	case pairs:
		other = "all undefined"
	default:
		other += fmt.Sprintf(" (%d undefined)", projected.Undefined)
	}
	fmt.Fprintf(w, "  %10d   %7.5f  %7.3f   %9.5f   %7.5f  %9.5f       %s\n", len(p.Records), ours.RMSE, ours.Covered, ours.Half, masked.RMSE, masked.Half, other)
	return nil
}
