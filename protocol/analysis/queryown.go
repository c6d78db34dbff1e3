package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
)

// OwnQuery is a party's query about records that are in no release. The party has sketched and
// noised them like its release.
type OwnQuery struct {
	Party  int // index into the study's parties
	Number int // counts the party's queries from 1
	Sketch sketch.Sketch
}

// QueryFormat is the value of QueryAnswer.Format.
const QueryFormat = "cosketch/query/1"

// QueryAnswer is the document that answers a query, for the party only: by row of its query, the
// nearest records, in columns like those of neighbors. The party's own records are named by their
// row in the party's release, others by their party and a handle.
type QueryAnswer struct {
	Format    string      `json:"cosketch"`            // cosketch/query/1
	Study     string      `json:"study"`               // id
	Party     string      `json:"party"`               // name of the party that asked
	Number    int         `json:"number"`              // number of the query
	Records   int         `json:"records"`             // number of records that were searched
	Level     float64     `json:"level"`               // level at which the intervals of one row hold together
	EachLevel float64     `json:"each_level"`          // level at which each interval was built
	Undefined string      `json:"undefined,omitempty"` // why there are no intervals, or no columns at all
	Columns   []RowColumn `json:"columns"`             // by row of the query
}

// DecodeQueryAnswer decodes a document from the aggregator. It checks that it answers this query of
// so many rows, of a party whose release has so many rows.
func DecodeQueryAnswer(data []byte, id protocol.StudyID, number, rows int, released int64) (QueryAnswer, error) {
	var a QueryAnswer
	err := json.Unmarshal(data, &a)
	if err == nil {
		err = known(a.Format, QueryFormat)
	}
	if err == nil && (a.Study != id.String() || a.Number != number) {
		err = fmt.Errorf("it is of query %d of study %.64q", a.Number, a.Study)
	}
	for _, c := range a.Columns {
		if err == nil && c.Rows() != rows {
			err = fmt.Errorf("column %.40q has %d rows, the query %d", c.Name, c.Rows(), rows)
		}
		if err == nil {
			err = c.checkOf(released)
		}
	}
	if err != nil {
		return QueryAnswer{}, fmt.Errorf("decoding the answer to query %d: %w", number, err)
	}
	return a, nil
}

// AnswerQuery finds the records nearest to those of a party's query, in the space of the sketch
// that the study names. It reads the releases as Run does, and changes nothing.
func AnswerQuery(ctx context.Context, o Options, q OwnQuery) (QueryAnswer, error) {
	out, err := answerQuery(ctx, o, q)
	if err != nil {
		return out, fmt.Errorf("answering query %d of %s: %w", q.Number, o.Study.Parties[q.Party].Name, err)
	}
	return out, nil
}

func answerQuery(ctx context.Context, o Options, q OwnQuery) (QueryAnswer, error) {
	index, ok := o.Study.QuerySketch()
	if !ok {
		return QueryAnswer{}, fmt.Errorf("the study admits no queries")
	}
	if err := o.check(); err != nil {
		return QueryAnswer{}, err
	}
	plan, err := release.For(o.Study, q.Party, index)
	if err != nil {
		return QueryAnswer{}, err
	}
	if q.Sketch.Cols != plan.Spec().K || q.Sketch.Rows < 1 {
		return QueryAnswer{}, fmt.Errorf("%d × %d integers, want rows of %d", q.Sketch.Rows, q.Sketch.Cols, plan.Spec().K)
	}
	r, unit := &run{Options: o}, plan.Unit()
	points := mat.NewDense(q.Sketch.Rows, q.Sketch.Cols, nil)
	for i, v := range q.Sketch.Data {
		points.RawMatrix().Data[i] = float64(v) * unit
	}
	out := QueryAnswer{
		Format: QueryFormat, Study: o.Study.ID.String(), Party: o.Study.Parties[q.Party].Name, Number: q.Number,
		Level: float64(estimate.DefaultLevel),
	}
	found, err := r.nearest(ctx, asked{sketch: index, points: points, noise: plan.NoiseOf(0, 1, 1), neighbors: o.Study.Queries.Neighbors})
	if why := (*noAnswer)(nil); errors.As(err, &why) { // the query is spent, so the party is told why there is no answer
		out.Undefined = why.Error()
		return out, nil
	}
	if err != nil {
		return QueryAnswer{}, err
	}
	out.Records, out.EachLevel = found.all.len(), float64(found.level)
	own := map[int]int{} // the party's row of each record it is told of and holds
	for _, record := range found.graph.Index {
		own[int(record)] = -1
	}
	if at := slices.IndexFunc(o.Contributions, func(c Contribution) bool { return c.Party == q.Party }); at >= 0 {
		for row, record := range found.all.of[at].all() {
			if _, told := own[record]; told {
				own[record] = row
			}
		}
	}
	return out, found.tell(r, own, &out)
}

// tell adds, for each rank, who the neighbour is, and its distance with the interval.
func (n *nearest) tell(r *run, own map[int]int, out *QueryAnswer) error {
	handles := handles{from: r.Entropy, of: map[int]string{}}
	t := teller{column: RowColumn{Sketch: n.sketch}}
	for rank := range n.neighbors {
		who, distance, low, high := t.named(neighborColumn, rank), t.named(distanceColumn, rank), t.named(distanceLowColumn, rank), t.named(distanceHighColumn, rank)
		for i := range n.graph.Len() {
			index, squared := n.graph.Of(i)
			record := int(index[rank])
			name := ""
			if own[record] < 0 {
				handle, err := handles.get(record)
				if err != nil {
					return err
				}
				name = r.name(n.all.holder(record)) + ":" + handle
			}
			who.add(name, own[record])
			e := n.distance(record, squared[rank])
			if !e.Defined() {
				out.Undefined = e.Undefined
			}
			distance.Numbers = append(distance.Numbers, n.debiased(record, squared[rank]))
			low.Numbers, high.Numbers = append(low.Numbers, e.Low), append(high.Numbers, e.High)
		}
		out.Columns = append(out.Columns, who, distance)
		if out.Undefined == "" {
			out.Columns = append(out.Columns, low, high)
		}
	}
	return nil
}
