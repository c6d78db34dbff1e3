package analysis

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// RecordDistances is the section of record-distance. Features are the records in this order, like
// "north/12", and then, if asked for, the parties with whose mean records they are compared.
//
//section:record_distances of record-distance
type RecordDistances struct {
	Records []ChosenRecord `json:"records" by:"i"` // the named records
}

// ChosenRecord is a row of a party's release.
type ChosenRecord struct {
	Party string `json:"party"` // name of the party
	Row   int    `json:"row"`   // row, counted from 0
}

func (d *RecordDistances) names(n named) error {
	for _, of := range d.Records {
		if err := n.party(of.Party); err != nil {
			return err
		}
	}
	return nil
}

func (d *RecordDistances) check(a Analysis) error {
	if len(d.Records) > len(a.Features) {
		return fmt.Errorf("%d records among %d features", len(d.Records), len(a.Features))
	}
	for i, c := range d.Records {
		if name := (study.RecordName{Party: c.Party, Row: c.Row}); c.Row < 0 || a.Features[i].Party != name.String() {
			return fmt.Errorf("record %d is %.80q and row %d", i+1, a.Features[i].Party, c.Row)
		}
	}
	return nil
}

// recordDistance answers the squared distances between chosen records.
func (r *run) recordDistance(ctx context.Context, _, sk int, a study.Analysis) (Analysis, error) {
	o, ok := a.Options.(study.RecordDistanceOptions)
	if !ok {
		return Analysis{}, fmt.Errorf("options %T", a.Options)
	}
	all, err := r.points(ctx, sk)
	if err != nil {
		return Analysis{}, err
	}
	if o.To == study.ToParties && all.joined != nil {
		return Analysis{}, errors.New("parties that hold the same records have no mean records of their own")
	}
	chosen, err := r.choose(all, o.Of)
	if err != nil {
		return Analysis{}, err
	}
	out := Analysis{Kind: a.Kind, Sketch: sk, Joined: all.joined, Assumptions: premise.List{premise.ChosenBlindly}, Units: measure.Squared, Sections: Sections{RecordDistances: &RecordDistances{}}}
	for _, name := range o.Of {
		out.Features = append(out.Features, Feature{Party: name.String()})
		out.RecordDistances.Records = append(out.RecordDistances.Records, ChosenRecord{name.Party, name.Row})
	}
	n := len(chosen)
	count := n * (n - 1) / 2
	if o.To == study.ToParties {
		count += n * len(r.Contributions)
	}
	level := out.promise(a, count)
	d, err := r.distances(sk, all, level)
	if err != nil {
		return Analysis{}, err
	}
	for i, x := range chosen {
		for j := i + 1; j < n; j++ {
			y := chosen[j]
			out.Pairs = append(out.Pairs, pair(i, j, d.of(x, y, squaredApart(all.matrix.RawRowView(x), all.matrix.RawRowView(y)))))
		}
	}
	if o.To == study.ToParties {
		err = r.fromMeans(ctx, &out, all, chosen, estimatesFromMeans{d.law, level})
	}
	return out, err
}

// choose returns the records that were named.
func (r *run) choose(all *points, of []study.RecordName) (chosen []int, err error) {
	named := map[int]study.RecordName{}
	for _, name := range of {
		rows, in := r.rowsOf(all, name.Party)
		switch {
		case !in:
			return nil, unanswerable("%s has no release in this result", name.Party)
		case name.Row >= rows.len():
			return nil, unanswerable("the release of %s has %d rows, numbered from 0, and none %d", name.Party, rows.len(), name.Row)
		}
		record := rows.at(name.Row)
		if record == notJoined {
			return nil, unanswerable("%s is a record that other parties lack, and the study joins those that all have", name)
		}
		if other, twice := named[record]; twice {
			return nil, unanswerable("%s and %s are rows of one record", other, name)
		}
		named[record] = name
		chosen = append(chosen, record)
	}
	return chosen, nil
}

// rowsOf returns the record of each row of a party's release.
func (r *run) rowsOf(all *points, party string) (of rows, in bool) {
	for i := range r.Contributions {
		if r.name(i) == party {
			return all.of[i], true
		}
	}
	return of, false
}

func squaredApart(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += float64((v - y[i]) * (v - y[i]))
	}
	return sum
}

// estimatesFromMeans holds what estimates distances from mean records.
type estimatesFromMeans struct {
	law   estimate.Records
	level estimate.Level
}

// fromMeans adds the parties as features, and the squared distance of each record from each party's
// mean record. All rows of a stacked sketch have the same noise, that of the law.
func (r *run) fromMeans(ctx context.Context, out *Analysis, all *points, chosen []int, by estimatesFromMeans) error {
	for i := range r.Contributions {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := all.of[i]
		mean := meanRecord(all.matrix, rows)
		out.Features = append(out.Features, Feature{Party: r.name(i)})
		for at, record := range chosen {
			own := all.holder(record) == i
			e, err := by.law.DistanceFromMean(all.matrix.RawRowView(record), mean, own, by.level)
			if err != nil {
				return err
			}
			out.Pairs = append(out.Pairs, pair(at, len(out.Features)-1, e))
		}
	}
	return nil
}

func meanRecord(matrix *mat.Dense, of rows) estimate.Mean {
	out := estimate.Mean{Sketch: make([]float64, matrix.RawMatrix().Cols), Size: of.len()}
	for _, record := range of.all() {
		for j, v := range matrix.RawRowView(record) {
			out.Sketch[j] += v / float64(of.len())
		}
	}
	return out
}

func ofRecordDistance() kind {
	return kind{
		name: study.RecordDistance, ways: []way{onRecords((*run).recordDistance)},
		most: func(t *taken) int64 {
			o, _ := t.asked.Options.(study.RecordDistanceOptions)
			of := int64(len(o.Of))
			return mostNumbers(2, of, of+t.parties)
		},
		asked: study.RecordDistanceOptions{Of: make([]study.RecordName, 100)},
	}
}
