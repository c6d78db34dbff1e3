package aggregator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/mapped"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// SecretMatrixError refuses to project vectors in a study that keeps R secret.
type SecretMatrixError struct{ Study *study.Study }

func (e *SecretMatrixError) Error() string { return e.Fail().Error() }

func (e *SecretMatrixError) Fail() *fail.Error { return fail.SecretMatrix.New(e.Study.Name) }

// Vectors are public vectors of values in the units of a study's columns.
type Vectors struct {
	Source    dataset.Source // required: a table with the study's columns except the label
	Name      string         // required: the column that names each vector
	Neighbors int            // required: number of nearest records to return for each
	Limit     int64          // required: bytes of memory for the releases
}

// maxVectors bounds the vectors of one query, and maxNeighbours the neighbours listed for all of them.
const (
	maxVectors    = 100_000
	maxNeighbours = 10_000_000
)

// Query finds the records nearest to public vectors among the releases of a study's newest result,
// which stay unchanged. Vectors are projected by the study's public matrix, without noise, and no
// budget is spent. It also returns the predictions of the models in the study's results. The error
// is store.ErrNotFound if there is no result yet, *SecretMatrixError if R is secret, and
// *study.NotLaterError if the parties did not agree to neighbors.
func Query(ctx context.Context, o Options, s *study.Study, v Vectors) (out analysis.Answers, summary dataset.Summary, err error) {
	defer func() {
		if p := recover(); p != nil { // in numerics; the caller is unharmed
			what, _ := node.PanicText(p)
			err = fmt.Errorf("internal error: %s", what)
		}
	}()
	asked, err := file.Further(s, string(study.Neighbors), []string{fmt.Sprintf("neighbors=%d", v.Neighbors)})
	if err != nil {
		return out, summary, err
	}
	index, ok := s.SketchFor(asked)
	if !ok || !s.Projectable(index) {
		return out, summary, &SecretMatrixError{s}
	}
	a, err := newShared(o)
	if err != nil {
		return out, summary, err
	}
	h, err := newHosted(a, s)
	if err != nil {
		return out, summary, fmt.Errorf("reading study %s: %w", s.ID.Short(), err)
	}
	files := a.files()
	defer func() { err = errors.Join(err, files.Close()) }()
	run, models, err := h.queried(ctx, v.Limit, files)
	if err != nil {
		return out, summary, err
	}
	keys, err := h.publicKeys()
	if err != nil {
		return out, summary, err
	}
	projector, err := release.NewProjector(s, index, keys)
	if err != nil {
		return out, summary, err
	}
	q := analysis.Queries{Sketch: index, Neighbors: v.Neighbors}
	clipped := 0
	if summary, err = v.read(ctx, o.Store.Dir(), s, projector, &q, &clipped); err != nil {
		return out, summary, err
	}
	if out, err = analysis.Query(ctx, run, q); err != nil {
		return out, summary, err
	}
	out.Clipped = clipped
	for _, m := range models {
		if m.Sketch != index {
			continue
		}
		for i := range out.Queries {
			out.Queries[i].Said = append(out.Queries[i].Said, analysis.Said{Model: m.Name, Value: m.Say(q.Points.RawRowView(i))})
		}
	}
	return out, summary, nil
}

// queried returns a run on the releases of the newest result, and the models in it and the further
// results.
func (h *hosted) queried(ctx context.Context, limit int64, files *mapped.Files) (run analysis.Options, models []analysis.Model, err error) {
	result, document, err := h.resultBefore()
	if err != nil {
		return run, nil, err
	}
	if gone, err := stored.Purged(h.Store, h.study.ID); err != nil || gone {
		return run, nil, cmp.Or(err, stored.ErrPurged)
	}
	run = analysis.Options{
		Memory: limit, Scratch: files,
		Study: h.study, Attempt: document.Attempt, T2: result.T2, Complete: result.Completed, Entropy: h.Entropy, Workers: h.Workers,
	}
	index, _ := h.study.QuerySketch()
	if run.Contributions, err = h.contributionsTo(ctx, asking(h.study), index, result, limit, files); err != nil {
		return run, nil, err
	}
	if models, err = document.Models(h.study); err != nil {
		return run, nil, err
	}
	for i, name := range stored.ModelColumns(h.study, models)[len(h.study.Records.ID):] {
		models[i].Name = name
	}
	further, damaged, err := stored.FurtherResults(h.Store, h.study)
	if err = errors.Join(err, errors.Join(damaged...)); err != nil { // or their columns would be missing from the answer
		return run, nil, err
	}
	for _, f := range further {
		more, err := f.Result.Models(h.study)
		if err != nil {
			return run, nil, err
		}
		for i := range more {
			more[i].Name += "_" + f.Statement.Document.Hash.String()[:8]
		}
		models = append(models, more...)
	}
	return run, models, nil
}

// publicKeys are the row keys that the study publishes, as every release on the board shows them:
// the machine has checked each against what all have confirmed.
func (h *hosted) publicKeys() (seed.Keys, error) {
	for _, p := range h.study.Parties {
		if header, posted := h.machine.Release(p.ID); posted {
			return release.Public(h.study, header.Release.Published)
		}
	}
	return nil, errors.New("no release has come whose row keys could be used")
}

// read projects the vectors of the table. Missing values are handled as the study says, except that
// no vector is left out.
func (v Vectors) read(ctx context.Context, dir string, s *study.Study, projector *release.Projector, q *analysis.Queries, clipped *int) (dataset.Summary, error) {
	schema := dataset.Schema{
		ID: []string{v.Name}, Duplicates: study.DuplicatesRefuse, Missing: study.MissingRefuse, Bits: s.Bits,
		MaxRecords: min(maxVectors, maxNeighbours/int64(v.Neighbors)),
	}
	if s.Records.Missing == study.MissingCentre {
		schema.Missing = study.MissingCentre
	}
	for _, c := range s.Columns {
		if !c.Label {
			schema.Fields = append(schema.Fields, dataset.Field{Name: c.Name, Kind: c.Kind, Scale: c.Scale, Values: c.Values})
		}
	}
	var points []float64
	summary, err := dataset.Each(ctx, v.Source, schema, dataset.Options{SpillDir: dir}, func(b dataset.Batch) error {
		for i, values := range slices.Collect(slices.Chunk(b.Values, schema.Entries())) {
			point, cut := projector.Project(values)
			if cut {
				*clipped++
			}
			points = append(points, point...)
			q.Names = append(q.Names, string(b.IDs[i]))
		}
		return nil
	}, func(dataset.Summary) {})
	if err != nil {
		return dataset.Summary{}, err
	}
	if len(q.Names) > 0 { // a table without rows is the reader's error
		q.Points = mat.NewDense(len(q.Names), len(points)/len(q.Names), points)
	}
	return summary, nil
}
