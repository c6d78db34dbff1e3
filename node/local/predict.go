package local

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Reasons why new records cannot be placed.
var (
	ErrPartsAlone error = fail.PartsAlone
	ErrNoModel    error = fail.NoModel
)

// ForgetKept destroys what is kept of the seeds of studies whose date for new records has passed.
func ForgetKept(st node.PartyState, now protocol.Instant) error {
	kept, err := st.KeptStudies()
	if err != nil {
		return err
	}
	for _, id := range kept {
		source, err := st.Study(id)
		if err != nil {
			return err
		}
		s, err := stored.Parse(id, source)
		if err != nil {
			return err
		}
		if now >= s.NewRecords {
			if err := st.DestroyKept(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// Prediction has the predictions of a study's models for new records.
type Prediction struct {
	Columns []string   // of the ids, then one for each model
	Records [][]string // by record, in the order of the files; ids are normalised
	Summary dataset.Summary
}

// Predict places the records of files, in the form of the study's data, among a study's results,
// with the same rows of R as the release but without noise. Nothing is sent or spent. It needs the
// study's result here (else store.ErrNotFound). Except for sum-based models it also needs what is
// kept of the seed (else ErrNothingKept or ErrKeptNoMore).
func Predict(ctx context.Context, o source.Options, files []string) (Prediction, error) {
	out, err := predict(ctx, o, files)
	if err != nil {
		return out, fmt.Errorf("placing new records in study %s: %w", o.Study.ID.Short(), err)
	}
	return out, nil
}

func predict(ctx context.Context, o source.Options, files []string) (Prediction, error) {
	o.Env = o.Env.OrDefaults()
	var out Prediction
	if o.Study.Partition == study.Vertical {
		return out, ErrPartsAlone
	}
	if err := ForgetKept(o.Store, o.Now()); err != nil {
		return out, err
	}
	keys, lost := keptKeys(o)
	sums := slices.ContainsFunc(o.Study.Sketches, func(sk study.Sketch) bool { return sk.Side.Sums() })
	if lost != nil && !sums {
		return out, lost
	}
	result, _, err := stored.Result(o.Store, o.Study.ID)
	if err != nil {
		return out, err
	}
	models, err := result.Models(o.Study)
	if err != nil {
		return out, err
	}
	labellers, err := labellersOf(o.Study, result)
	if err != nil {
		return out, err
	}
	if len(models) > 0 && lost != nil {
		return out, lost
	}
	if len(models)+len(labellers) == 0 {
		return out, ErrNoModel
	}
	home, err := o.Source()
	if err != nil {
		return out, err
	}
	src, err := home.NewRecords(files)
	if err != nil {
		return out, err
	}
	out.Columns = stored.ModelColumns(o.Study, models)
	for _, l := range labellers {
		out.Columns = append(out.Columns, l.name)
	}
	placers, err := placersOf(o, models, src, keys)
	if err != nil {
		return out, err
	}
	out.Summary, err = home.Pass(ctx, src, func(b dataset.Batch) error {
		return out.place(b, o.Study, models, placers, labellers, src)
	})
	return out, err
}

// keptKeys returns the keys of R's rows, if they are kept.
func keptKeys(o source.Options) (seed.Kept, error) {
	if s := o.Study; s.NewRecords != 0 && o.Now() >= s.NewRecords {
		return seed.Kept{}, node.ErrKeptNoMore
	}
	raw, err := o.Store.Kept(o.Study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return seed.Kept{}, node.ErrNothingKept
	}
	if err != nil {
		return seed.Kept{}, err
	}
	return seed.ParseKept(raw)
}

func placersOf(o source.Options, models []analysis.Model, src *source.Dataset, keys seed.Kept) (map[int]*release.Placer, error) {
	out := map[int]*release.Placer{}
	for _, m := range models {
		if out[m.Sketch] != nil {
			continue
		}
		var err error
		if out[m.Sketch], err = src.Plans[m.Sketch].NewPlacer(keys, o.Workers); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// place adds a batch. Apart from the label, a record's values are exactly what a sketch of the
// records side uses, in its order.
func (p *Prediction) place(b dataset.Batch, s *study.Study, models []analysis.Model, placers map[int]*release.Placer, labellers []labelled, src *source.Dataset) error {
	points := map[int][]float64{}
	for sk, placer := range placers {
		var err error
		if points[sk], err = placer.Place(b.IDs, b.Values); err != nil {
			return err
		}
	}
	for i, id := range b.IDs {
		record, err := stored.IdFields(id, len(s.Records.ID))
		if err != nil {
			return err
		}
		for _, m := range models {
			k := src.Plans[m.Sketch].Spec().K
			record = append(record, m.Say(points[m.Sketch][i*k:(i+1)*k]))
		}
		for _, l := range labellers { // which use all values except the label, as in the row
			n := len(l.labeller.Takes())
			record = append(record, l.labeller.Text(l.labeller.Label(b.Values[i*n:(i+1)*n])))
		}
		p.Records = append(p.Records, record)
	}
	return nil
}
