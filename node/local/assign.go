package local

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// LabelRecords labels a party's records with the sum-based models of a result, and writes them as
// CSV: the id columns, then one column for each k-means by cells (the cluster) and each lda (the
// predicted class). The output is for the party itself; no record's label was ever sent. It returns
// the number of labelled records, and an error if the result has no such model.
func LabelRecords(ctx context.Context, o source.Options, result analysis.Result, w io.Writer) (records int64, err error) {
	h, err := o.Source()
	if err == nil {
		records, err = assign(ctx, h, result, w)
	}
	if err != nil {
		return records, fmt.Errorf("labelling records for study %s: %w", o.Study.ID.Short(), err)
	}
	return records, nil
}

// labelled is one analysis that labels records.
type labelled struct {
	name     string
	labeller *analysis.Labeller
	picks    []int // the entries of a data row that it uses
}

func assign(ctx context.Context, r *source.Source, result analysis.Result, w io.Writer) (int64, error) {
	src, err := r.Open()
	if err != nil {
		return 0, err
	}
	by, err := labellers(r, src, result)
	if err != nil {
		return 0, err
	}
	out := table.NewWriter(w, len(r.Study.Records.ID))
	header := append([]string(nil), r.Study.Records.ID...)
	for _, l := range by {
		header = append(header, l.name)
	}
	if err := out.Row(header); err != nil {
		return 0, err
	}
	entries := src.Schema.Entries()
	var values []int64
	summary, err := r.Pass(ctx, src, func(b dataset.Batch) error {
		columns := make([][]string, len(by))
		for n, l := range by {
			values = b.Pick(values[:0], l.picks)
			for at := range len(b.Values) / entries {
				columns[n] = append(columns[n], l.labeller.Text(l.labeller.Label(values[at*len(l.picks):][:len(l.picks)])))
			}
		}
		for at, id := range b.IDs {
			row, err := stored.IdFields(bytes.Clone(id), len(r.Study.Records.ID))
			if err != nil {
				return err
			}
			for n := range by {
				row = append(row, columns[n][at])
			}
			if err := out.Row(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return summary.Records, out.Flush()
}

// labellers lists a result's labelling analyses, in its order.
func labellers(r *source.Source, src *source.Dataset, result analysis.Result) (out []labelled, err error) {
	all, err := labellersOf(r.Study, result)
	if err != nil {
		return nil, err
	}
	for _, l := range all {
		var picks []int
		for _, i := range l.labeller.Takes() {
			picks = append(picks, src.Picks[l.labeller.Sketch][i])
		}
		l.picks = picks
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the result has no clusters found by cells and no lda (party result %s --output DIR writes what it has)", r.Study.ID.Short())
	}
	return out, nil
}

// labellersOf lists a result's sum-based models. If several give the same kind of label, their
// names have the analysis's number.
func labellersOf(s *study.Study, result analysis.Result) (out []labelled, err error) {
	count := map[string]int{}
	var at []int
	for i, a := range result.Analyses {
		if a.CellMeans == nil && a.LDA == nil {
			continue
		}
		l, err := analysis.NewLabeller(s, a)
		if err != nil {
			return nil, err
		}
		count[l.Name]++
		out, at = append(out, labelled{name: l.Name, labeller: l}), append(at, i)
	}
	for n := range out {
		if count[out[n].name] > 1 {
			out[n].name = fmt.Sprintf("%s_%d", out[n].name, at[n])
		}
	}
	return out, nil
}
