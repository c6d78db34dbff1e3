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

var (
	columnDistances = schema.Words{What: "distance", Has: []string{string(Absolute), string(Signed)}}
	linkages        = schema.Words{What: "linkage", Has: linkageNames()}
)

func linkageNames() (names []string) {
	for _, l := range cluster.Linkages() {
		names = append(names, string(l))
	}
	return names
}

var clustering = kind{
	name: Clustering, needs: one(needs{side: sketch.Columns, ones: true}),
	says: func(a Analysis) string {
		o, _ := a.Options.(ClusteringOptions)
		distance := "1 − |ρ|"
		if o.Distance == Signed {
			distance = "√(2(1 − ρ))"
		}
		return fmt.Sprintf("a hierarchy of columns, %s linkage of %s", o.Linkage, distance)
	},
}

var clusteringEntry = entry{
	kind: Clustering,
	keys: []string{"linkage", "distance"},
	read: func(o object) Options {
		out := ClusteringOptions{Linkage: schema.Choice(o.Object, "linkage", linkages, cluster.Average)}
		fallback := Absolute
		if out.Linkage == cluster.Ward {
			fallback = Signed
		}
		out.Distance = schema.Choice(o.Object, "distance", columnDistances, fallback)
		return out
	},
	check: func(r *reader, _ *Study, a Analysis, path string) {
		if o, _ := a.Options.(ClusteringOptions); o.Linkage == cluster.Ward && o.Distance != Signed {
			r.Fail(path+".distance", "%s is no Euclidean distance, which linkage ward needs", o.Distance).Hint = "distance: signed"
		}
	},
}

func (o ClusteringOptions) String() string {
	return fmt.Sprintf("linkage: %s, distance: %s", o.Linkage, o.Distance)
}

func (o ClusteringOptions) encode(e *schema.Encoder) {
	e.Text("analysis.linkage", string(o.Linkage))
	e.Text("analysis.distance", string(o.Distance))
}

var columnSums = kind{
	name: Sums, needs: one(needs{side: sketch.Columns, ones: true}),
	says: func(Analysis) string {
		return "and means, of each column over the records that its party shares with each other one"
	},
}
