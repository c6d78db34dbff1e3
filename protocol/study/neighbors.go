package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Kinds of analyses that look for the records nearest to each.
const (
	Neighbors AnalysisKind = "neighbors" // records side
	Outliers  AnalysisKind = "outliers"  // records side
)

// NeighborsOptions are those of Neighbors.
type NeighborsOptions struct {
	Neighbors int // of each record; default 10
}

// OutliersOptions are those of Outliers.
type OutliersOptions struct {
	Neighbors int   // that a record is compared with; default 20
	Score     Score // default ScoreLOF
	Top       int   // how many records are ranked; default 10
}

// Score says what makes a record an outlier.
type Score string

const (
	ScoreLOF      Score = "lof"      // the local outlier factor: thinner around it than around its neighbours
	ScoreDistance Score = "distance" // the distance of the last of its neighbours
)

var neighbors = Kind{
	Name: Neighbors, Needs: one(Needs{Side: sketch.Records}),
	says: func(a Analysis) string {
		o, _ := a.Options.(NeighborsOptions)
		return fmt.Sprintf("the %d nearest records of each, told to its party", o.Neighbors)
	},
}

func (o NeighborsOptions) String() string { return fmt.Sprintf("neighbors: %d", o.Neighbors) }

func (o NeighborsOptions) Encode(e *schema.Encoder) { e.Whole("analysis.neighbors", o.Neighbors) }

var outliers = Kind{
	Name: Outliers, Bare: true, Needs: one(Needs{Side: sketch.Records}),
	says: func(a Analysis) string {
		o, _ := a.Options.(OutliersOptions)
		by := "local outlier factor"
		if o.Score == ScoreDistance {
			by = "distance"
		}
		return fmt.Sprintf("by %s among %d neighbours; the first %d are ranked", by, o.Neighbors, o.Top)
	},
}

func (o OutliersOptions) String() string {
	return fmt.Sprintf("neighbors: %d, score: %s, top: %d", o.Neighbors, o.Score, o.Top)
}

func (o OutliersOptions) Encode(e *schema.Encoder) {
	e.Whole("analysis.neighbors", o.Neighbors)
	e.Text("analysis.score", string(o.Score))
	e.Whole("analysis.top", o.Top)
}
