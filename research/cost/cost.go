// Package cost measures the processor time of the steps of a study, and compares it with the
// forecasts of package plan.
package cost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/research/rehearsal"
	"github.com/cosketch/cosketch/seed"
)

// Row is one measurement.
type Row struct {
	What     string  `json:"what"`
	Measured float64 `json:"measured"` // nanoseconds of one core, per record, entry or party
	Planned  float64 `json:"planned"`
}

// shape is a sketch with a number of columns.
type shape struct {
	columns int
	sketch  string
	privacy string
}

func shapes() (out []shape) {
	const attribute, record = "{unit: attribute, mechanism: laplace, epsilon: 1}", "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"
	for _, d := range []int{20, 200} {
		for _, s := range []string{
			"side: columns, family: sparse, k: 4096, s: 1", "side: columns, family: rademacher, k: 512",
			"side: records, family: sparse, k: 64, s: 1", "side: records, family: rademacher, k: 64", "side: records, family: hadamard, k: 16",
		} {
			out = append(out, shape{d, s, attribute})
		}
		out = append(out, shape{d, "side: moments, clip: 3", record}, shape{d, "side: moments, clip: 3, products: false", record})
	}
	return append(out, shape{20, "side: cells, L: 8, clip: 3", record})
}

// batch is the number of records added at once.
const batch = 4096

// Measure measures seed agreement, reading, projecting and noise, per record, entry or party.
func Measure(ctx context.Context, dir string, records int) (out []Row, err error) {
	if out, err = agreement(); err != nil {
		return nil, err
	}
	for _, d := range []int{5, 20, 100} {
		row, err := reading(ctx, dir, records, d)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	for _, s := range shapes() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rows, err := s.measure(records)
		if err != nil {
			return nil, fmt.Errorf("%d columns, %s: %w", s.columns, s.sketch, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// study returns a study of three parties with this sketch.
func (s shape) study() (*study.Study, error) { return s.studyOf(3) }

func (s shape) studyOf(parties int) (*study.Study, error) {
	var columns strings.Builder
	for c := range s.columns {
		fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, centre: 0, spread: 1}\n", c)
	}
	kind := "k-means, clusters: 2"
	switch {
	case strings.Contains(s.sketch, "columns"):
		kind = "inner-product"
	case strings.Contains(s.sketch, "products"):
		kind = "mean"
	case strings.Contains(s.sketch, "moments"):
		kind = "covariance"
	}
	return rehearsal.Study(parties, study.Horizontal, fmt.Sprintf("columns:\n%ssketches: [{%s}]\nprivacy: %s\nanalyses: [{kind: %s}]\n", columns.String(), s.sketch, s.privacy, kind))
}

func (s shape) measure(records int) ([]Row, error) {
	of, err := s.study()
	if err != nil {
		return nil, err
	}
	p, err := release.For(of, 0, 0)
	if err != nil {
		return nil, err
	}
	builder, err := p.NewBuilder(seed.FromBytes([seed.Size]byte{1}), 1)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(1, 1))
	values, ids := make([]int64, batch*p.Values), make([][]byte, batch)
	for i := range values {
		values[i] = int64(random.NormFloat64() * float64(of.Bits.One()) / 8)
	}
	for i := range ids {
		ids[i] = make([]byte, 16)
	}
	var took time.Duration
	done := 0
	for ; done < records/max(s.columns/20, 1); done += batch {
		for i := range ids {
			copy(ids[i], fmt.Sprintf("%016d", done+i))
		}
		began := used()
		if err := builder.AddRead(ids, values); err != nil {
			return nil, err
		}
		took += used() - began
	}
	entropy := rehearsal.Source(7)
	began := used()
	exact, err := builder.Finish(entropy)
	if err != nil {
		return nil, err
	}
	took += used() - began
	name := fmt.Sprintf("a record of %d columns: %s", s.columns, s.sketch)
	out := []Row{{name, float64(took.Nanoseconds()) / float64(done), plan.BuildTime(p)}}
	began = used()
	if err := p.Draw(&exact.Sketch, entropy, 1); err != nil {
		return nil, err
	}
	if n := len(exact.Sketch.Data); n > 1<<18 {
		out = append(out, Row{"an entry's noise: " + s.sketch, float64((used() - began).Nanoseconds()) / float64(n), plan.DrawTime})
	}
	return out, nil
}

// reading measures reading CSV.
func reading(ctx context.Context, dir string, records, columns int) (Row, error) {
	path := filepath.Join(dir, fmt.Sprintf("cost-%d.csv", columns))
	f, err := os.Create(path)
	if err != nil {
		return Row{}, err
	}
	out := bufio.NewWriter(f)
	out.WriteString("id")
	schema := dataset.Schema{ID: []string{"id"}, Normalize: []study.Normalization{study.NormalizeNFC, study.NormalizeTrim}, Bits: 12, MaxRecords: 1 << 40}
	for c := range columns {
		fmt.Fprintf(out, ",c%d", c)
	}
	of, err := shape{columns, "side: columns, family: sparse, k: 64, s: 1", "{unit: attribute, mechanism: laplace, epsilon: 1}"}.study()
	if err != nil {
		return Row{}, err
	}
	for c := range columns {
		schema.Fields = append(schema.Fields, dataset.Field{Name: fmt.Sprintf("c%d", c), Kind: study.Numeric, Scale: of.Columns[c].Scale})
	}
	random := rand.New(rand.NewPCG(2, 2))
	for r := range records {
		fmt.Fprintf(out, "\nP%015d", r)
		for range columns {
			fmt.Fprintf(out, ",%.3f", math.Abs(random.NormFloat64()))
		}
	}
	out.WriteString("\n")
	if err := errors.Join(out.Flush(), f.Close()); err != nil {
		return Row{}, err
	}
	began := used()
	_, err = dataset.Each(ctx, dataset.Files(path), schema, dataset.Options{Workers: 1}, func(dataset.Batch) error { return nil }, func(dataset.Summary) {})
	if err != nil {
		return Row{}, err
	}
	took := used() - began
	return Row{fmt.Sprintf("a record of %d columns: reading CSV", columns), float64(took.Nanoseconds()) / float64(records), plan.ReadTime(columns)}, os.Remove(path)
}

// Planned is the forecast for one study.
type Planned struct {
	Records int64     `json:"records"` // of all parties
	Columns int       `json:"columns"`
	Parties int       `json:"parties"`
	Sketch  string    `json:"sketch"`
	Most    int64     `json:"most_records"` // records that exact sums are certain to hold
	Cost    plan.Cost `json:"cost"`
}

// Plan returns forecasts for studies of these sizes.
func Plan(ctx context.Context, records []int64, columns, parties []int) (out []Planned, err error) {
	for _, d := range columns {
		for _, s := range []shape{
			{d, "side: moments, clip: 3, products: false", "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"},
			{d, "side: moments, clip: 3", "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}"},
			{d, "side: columns, family: sparse, k: 16384, s: 1", "{unit: attribute, mechanism: laplace, epsilon: 1}"},
			{d, "side: records, family: sparse, k: 64, s: 1", "{unit: attribute, mechanism: laplace, epsilon: 1}"},
		} {
			for _, n := range parties {
				of, err := s.studyOf(n)
				if err != nil {
					return nil, err
				}
				for _, m := range records {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					made, err := plan.Make(plan.Options{Study: of, Party: study.Everyone, Records: map[string]int64{"": max(m/int64(n), 1)}})
					if err != nil {
						return nil, fmt.Errorf("%d records of %d columns, %s: %w", m, d, s.sketch, err)
					}
					out = append(out, Planned{m, d, n, s.sketch, of.RecordLimit(0), made.Cost})
				}
			}
		}
	}
	return out, nil
}
