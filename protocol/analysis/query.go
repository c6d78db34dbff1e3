package analysis

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/neighbor"
	"github.com/cosketch/cosketch/protocol/measure"
	"github.com/cosketch/cosketch/protocol/premise"
)

// Queries are named vectors that the aggregator has projected and asks about.
type Queries struct {
	Sketch    int // index of a sketch of the records side
	Names     []string
	Points    *mat.Dense // m × k, in encoded units, without noise
	Neighbors int        // how many for each vector
}

// asked are points to compare with the records of a sketch: vectors that the aggregator projected,
// or records that a party sketched and noised.
type asked struct {
	sketch    int
	points    *mat.Dense
	noise     estimate.Noise // on one coordinate of each; zero if they are exact
	neighbors int
}

// AnswersFormat is the value of Answers.Format.
const AnswersFormat = "cosketch/answers/1"

// Answers is the document that Query returns: the records nearest to the aggregator's own vectors.
// It names a record only by its parties and a handle.
type Answers struct {
	Format     string       `json:"cosketch"`
	Study      string       `json:"study"` // id
	Name       string       `json:"name"`
	T2         string       `json:"t2"`
	Sketch     int          `json:"sketch"` // index into the study's sketches
	Parties    []string     `json:"parties"`
	Records    int          `json:"records"` // that were searched
	Joined     *Joined      `json:"joined,omitempty"`
	Level      float64      `json:"level"`      // at which all intervals of one vector hold together
	EachLevel  float64      `json:"each_level"` // at which each interval was built
	Units      measure.Unit `json:"units"`
	Assumption string       `json:"assumption"`
	Clipped    int          `json:"clipped"` // vectors that were clipped to the length of records
	Queries    []Answer     `json:"queries"`
}

// Answer is the answer for one vector.
type Answer struct {
	Query string `json:"query"` // its name
	Near  []Near `json:"near"`  // nearest first
	Said  []Said `json:"said,omitempty"`
}

// Near is a record near a vector.
type Near struct {
	Parties  []string `json:"parties"`          // that hold it; in vertical studies several do
	Handle   string   `json:"handle"`           // 8 random bytes in hexadecimal, which name the record in this document only
	Distance Number   `json:"squared_distance"` // from the record as it was before noise
}

// Said is what a model of the study's results says of a vector.
type Said struct {
	Model string `json:"model"` // as it heads a table, like "cluster"
	Value string `json:"value"`
}

// nearest holds what all answers to queries are computed from.
type nearest struct {
	asked
	all       *points
	graph     neighbor.Graph
	distances *distances
	level     estimate.Level // at which each interval is built
}

// nearest finds the records nearest to each point.
func (r *run) nearest(ctx context.Context, q asked) (*nearest, error) {
	all, err := r.points(ctx, q.sketch)
	if err != nil {
		return nil, err
	}
	m := all.len()
	if q.neighbors > m {
		return nil, unanswerable("%d neighbours are asked for, but there are only %d records", q.neighbors, m)
	}
	out := &nearest{asked: q, all: all, level: estimate.DefaultLevel.Bonferroni(m)}
	if out.distances, err = r.near(q.sketch, all, choice{estimate.DefaultLevel, q.neighbors, m}); err != nil {
		return nil, err
	}
	if err := out.told(); err != nil {
		return nil, err
	}
	out.graph, err = neighbor.Search(ctx, all.matrix, q.points, neighbor.Options{Neighbors: q.neighbors, Workers: r.Workers, Memory: r.work(q.sketch)})
	return out, err
}

// distance estimates the squared distance between a point and a record.
func (n *nearest) distance(record int, squared float64) estimate.Estimate {
	return n.distances.between(n.all.noise(record), n.noise, squared)
}

// debiased is the estimate without its interval, which may be undefined; at least zero.
func (n *nearest) debiased(record int, squared float64) float64 {
	return max(0, n.distances.unbiased(n.all.noise(record), n.noise, squared))
}

// told returns an error if the nearest records of the points cannot be told apart.
func (n *nearest) told() error {
	m, asked := n.all.len(), n.points.RawMatrix().Rows
	if m < 2 {
		return nil
	}
	// For each point, take the distances to evenly spaced records.
	of := min(m, max(mostPairs/asked, 2))
	var count, mean, within float64
	law := n.distances.law
	law.Noise = meanNoise(law.Noise, n.noise)
	for i := range min(asked, mostPairs/2) {
		var own, squares float64
		for s := range of {
			record := s * m / of
			at := n.distances.unbiased(n.all.noise(record), n.noise, squaredApart(n.points.RawRowView(i), n.all.matrix.RawRowView(record)))
			off := at - own
			own += off / float64(s+1)
			squares += off * (at - own)
		}
		count++
		mean += (own - mean) / count
		within += (squares/float64(of) - within) / count
	}
	_, err := apart(law.Reliability(mean, within))
	return err
}

// Query answers vectors that the aggregator projected. It runs after the releases, which it reads
// as Run does, and spends no privacy budget. The caller, who has the models, fills Said.
func Query(ctx context.Context, o Options, q Queries) (Answers, error) {
	out, err := query(ctx, o, q)
	if err != nil {
		return out, fmt.Errorf("answering queries: %w", err)
	}
	return out, nil
}

func query(ctx context.Context, o Options, q Queries) (Answers, error) {
	s := o.Study
	if err := o.check(); err != nil {
		return Answers{}, err
	}
	r := &run{Options: o}
	found, err := r.nearest(ctx, asked{sketch: q.Sketch, points: q.Points, neighbors: q.Neighbors})
	if err != nil {
		return Answers{}, err
	}
	out := Answers{
		Format: AnswersFormat, Study: s.ID.String(), Name: s.Name, T2: o.T2.String(), Sketch: q.Sketch,
		Records: found.all.len(), Joined: found.all.joined, Level: float64(estimate.DefaultLevel), EachLevel: float64(found.level),
		Units: measure.Squared, Assumption: premise.List{premise.NearestAsked}.String(), Queries: []Answer{},
	}
	for i := range o.Contributions {
		out.Parties = append(out.Parties, r.name(i))
	}
	handles := handles{from: o.Entropy, of: map[int]string{}}
	for i, name := range q.Names {
		one := Answer{Query: name}
		index, squared := found.graph.Of(i)
		for rank, record := range index {
			handle, err := handles.get(int(record))
			if err != nil {
				return out, err
			}
			near := Near{Handle: handle, Distance: number(found.distance(int(record), squared[rank]))}
			for c := range found.all.holders(int(record)) {
				near.Parties = append(near.Parties, out.Parties[c])
			}
			one.Near = append(one.Near, near)
		}
		out.Queries = append(out.Queries, one)
	}
	return out, nil
}

// handles draws the names of records in one document.
type handles struct {
	from io.Reader
	of   map[int]string
}

func (h handles) get(record int) (string, error) {
	if h.of[record] == "" {
		var b [8]byte
		if h.from == nil {
			return "", errors.New("no entropy for handles")
		}
		if _, err := io.ReadFull(h.from, b[:]); err != nil {
			return "", fmt.Errorf("drawing handles: %w", err)
		}
		h.of[record] = hex.EncodeToString(b[:])
	}
	return h.of[record], nil
}
