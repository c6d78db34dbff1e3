package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Kinds of analyses that search for the nearest neighbours of each record.
const (
	Neighbors AnalysisKind = "neighbors" // records side
	Outliers  AnalysisKind = "outliers"  // records side
)

// NeighborsOptions are the options of Neighbors.
type NeighborsOptions struct {
	Neighbors int // of each record; default 10
}

// OutliersOptions are the options of Outliers.
type OutliersOptions struct {
	Neighbors int   // neighbours that a record is compared with; default 20
	Score     Score // default ScoreLOF
	Top       int   // number of records ranked; default 10
}

// Score says how outliers are scored.
type Score string

const (
	ScoreLOF      Score = "lof"      // the local outlier factor: large where density is lower than around its neighbours
	ScoreDistance Score = "distance" // the distance to the last of its neighbours
)

func ofNeighbors() Kind {
	return Kind{
		Name: Neighbors, Needs: one(Needs{Side: sketch.Records}),
		says: func(a Analysis) string {
			o, _ := a.Options.(NeighborsOptions)
			return fmt.Sprintf("the %d nearest records of each, told to its party", o.Neighbors)
		},
		keys: optionKeys[NeighborsOptions]{Keys: neighborsKeys},
	}
}

// Ranges of the options.
const (
	maxNeighbors = 100
	maxTop       = 10_000
)

var neighborsKeys = schema.Keys[NeighborsOptions]{{
	Name: "neighbors", Path: "analysis.neighbors", Default: "10", Doc: "how many of each record",
	Form: schema.Whole(func(o *NeighborsOptions) *int { return &o.Neighbors }, 1, maxNeighbors),
}}

var outliersKeys = schema.Keys[OutliersOptions]{
	{
		Name: "neighbors", Path: "analysis.neighbors", Default: "20", Doc: "how many of each record",
		Form: schema.Whole(func(o *OutliersOptions) *int { return &o.Neighbors }, 1, maxNeighbors),
	},
	{
		Name: "score", Path: "analysis.score", Default: string(ScoreLOF), Doc: "local outlier factor, or the distance to the last neighbour",
		Form: schema.Word(func(o *OutliersOptions) *Score { return &o.Score }, schema.Words{What: "score", Has: []string{string(ScoreLOF), string(ScoreDistance)}}),
	},
	{
		Name: "top", Path: "analysis.top", Default: "10", Doc: "how many records get a rank",
		Form: schema.Whole(func(o *OutliersOptions) *int { return &o.Top }, 1, maxTop),
	},
}

func (o NeighborsOptions) String() string { return fmt.Sprintf("neighbors: %d", o.Neighbors) }

func (o NeighborsOptions) Encode(e *schema.Encoder) { neighborsKeys.Encode(e, &o) }

func ofOutliers() Kind {
	return Kind{
		Name: Outliers, Bare: true, Needs: one(Needs{Side: sketch.Records}),
		says: func(a Analysis) string {
			o, _ := a.Options.(OutliersOptions)
			by := "local outlier factor"
			if o.Score == ScoreDistance {
				by = "distance"
			}
			return fmt.Sprintf("by %s among %d neighbours; the first %d are ranked", by, o.Neighbors, o.Top)
		},
		keys: optionKeys[OutliersOptions]{Keys: outliersKeys},
	}
}

func (o OutliersOptions) String() string {
	return fmt.Sprintf("neighbors: %d, score: %s, top: %d", o.Neighbors, o.Score, o.Top)
}

func (o OutliersOptions) Encode(e *schema.Encoder) { outliersKeys.Encode(e, &o) }
