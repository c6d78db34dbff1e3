package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Kinds of analyses of columns.
const (
	Clustering AnalysisKind = "clustering" // a hierarchy of columns by their correlations
	Sums       AnalysisKind = "sums"       // sums and means of columns over the records that two parties share
)

// ClusteringOptions are those of Clustering.
type ClusteringOptions struct {
	Linkage  cluster.Linkage // default average
	Distance ColumnDistance  // default absolute; signed for linkage ward
}

// ColumnDistance makes distances of correlations.
type ColumnDistance string

const (
	Absolute ColumnDistance = "absolute" // 1 − |ρ|: columns that tell the same, whatever the sign, are near
	Signed   ColumnDistance = "signed"   // √(2(1 − ρ)): that of the standardised columns
)

var clustering = Kind{
	Name: Clustering, Needs: one(Needs{Side: sketch.Columns, Ones: true}),
	says: func(a Analysis) string {
		o, _ := a.Options.(ClusteringOptions)
		distance := "1 − |ρ|"
		if o.Distance == Signed {
			distance = "√(2(1 − ρ))"
		}
		return fmt.Sprintf("a hierarchy of columns, %s linkage of %s", o.Linkage, distance)
	},
}

func (o ClusteringOptions) String() string {
	return fmt.Sprintf("linkage: %s, distance: %s", o.Linkage, o.Distance)
}

func (o ClusteringOptions) Encode(e *schema.Encoder) {
	e.Text("analysis.linkage", string(o.Linkage))
	e.Text("analysis.distance", string(o.Distance))
}

var columnSums = Kind{
	Name: Sums, Needs: one(Needs{Side: sketch.Columns, Ones: true}),
	says: func(Analysis) string {
		return "and means, of each column over the records that its party shares with each other one"
	},
}
