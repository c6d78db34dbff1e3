package node

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// LabelRecords reads a party's data and writes as CSV, beside the ids of its records, the
// cluster that each belongs to by the models of a result: the id columns, then one column
// for each k-means by cells. What it writes never leaves the party; no record's label was
// ever sent. It returns how many records it labelled, and an error where the result has no
// such model.
func LabelRecords(ctx context.Context, o DataOptions, result analysis.Result, w io.Writer) (records int64, err error) {
	h, err := o.home()
	if err == nil {
		records, err = h.assign(ctx, result, w)
	}
	if err != nil {
		return records, fmt.Errorf("labelling records for study %s: %w", o.Study.ID.Short(), err)
	}
	return records, nil
}

// labelled is one analysis by which records are labelled.
type labelled struct {
	name     string
	labeller *analysis.Labeller
	picks    []int // the entries of a row of the data that it takes
}

func (r *home) assign(ctx context.Context, result analysis.Result, w io.Writer) (int64, error) {
	src, err := r.source()
	if err != nil {
		return 0, err
	}
	by, err := r.labellers(src, result)
	if err != nil {
		return 0, err
	}
	out := csv.NewWriter(w)
	header := append([]string(nil), r.study.Records.ID...)
	for _, l := range by {
		header = append(header, l.name)
	}
	if err := out.Write(header); err != nil {
		return 0, err
	}
	entries := src.schema.Entries()
	var values []int64
	summary, err := r.pass(ctx, src, func(b dataset.Batch) error {
		columns := make([][]int, len(by))
		for n, l := range by {
			values = b.Pick(values[:0], l.picks)
			for at := range len(b.Values) / entries {
				columns[n] = append(columns[n], l.labeller.Label(values[at*len(l.picks):][:len(l.picks)]))
			}
		}
		for at, id := range b.IDs {
			row, err := idFields(bytes.Clone(id), len(r.study.Records.ID))
			if err != nil {
				return err
			}
			for n := range by {
				row = append(row, strconv.Itoa(columns[n][at]))
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	out.Flush()
	return summary.Records, out.Error()
}

// labellers are those of a result, in its order.
func (r *home) labellers(src *source, result analysis.Result) (out []labelled, err error) {
	for i, a := range result.Analyses {
		if a.CellMeans == nil {
			continue
		}
		l, err := analysis.NewLabeller(r.study, a)
		if err != nil {
			return nil, err
		}
		out = append(out, labelled{fmt.Sprintf("cluster_%d", i), l, src.picks[a.Sketch]})
	}
	switch len(out) {
	case 0:
		return nil, fmt.Errorf("the result has no clusters found by cells (party result %s --output DIR writes what it has)", r.study.ID.Short())
	case 1:
		out[0].name = "cluster"
	}
	return out, nil
}
