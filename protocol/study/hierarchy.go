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
	Sums       AnalysisKind = "sums"       // sums and means of columns over the records that two parties have in common
)

// ClusteringOptions are the options of Clustering.
type ClusteringOptions struct {
	Linkage  cluster.Linkage // default average
	Distance ColumnDistance  // default absolute; signed with linkage ward
}

// ColumnDistance says how correlations become distances.
type ColumnDistance string

const (
	Absolute ColumnDistance = "absolute" // 1 − |ρ|: strongly correlated columns are near, whatever the sign
	Signed   ColumnDistance = "signed"   // √(2(1 − ρ)): the distance of the standardised columns
)

func ofClustering() Kind {
	return Kind{
		Name: Clustering, Needs: one(Needs{Side: sketch.Columns, Ones: true}),
		says: func(a Analysis) string {
			o, _ := a.Options.(ClusteringOptions)
			distance := "1 − |ρ|"
			if o.Distance == Signed {
				distance = "√(2(1 − ρ))"
			}
			return fmt.Sprintf("a hierarchy of columns, %s linkage of %s", o.Linkage, distance)
		},
		keys: optionKeys[ClusteringOptions]{Keys: clusteringKeys},
		check: func(r *schema.Reader, _ *Study, a Analysis, path string) {
			if o, _ := a.Options.(ClusteringOptions); o.Linkage == cluster.Ward && o.Distance != Signed {
				r.Fail(path+".distance", "%s is no Euclidean distance, which linkage ward needs", o.Distance).Hint = "distance: signed"
			}
		},
	}
}

var clusteringKeys = schema.Keys[ClusteringOptions]{
	{
		Name: "linkage", Path: "analysis.linkage", Default: string(cluster.Average), Doc: "how far apart two groups of columns are",
		Form: schema.Word(func(o *ClusteringOptions) *cluster.Linkage { return &o.Linkage }, schema.Words{What: "linkage", Has: linkageNames()}),
	},
	{
		Name: "distance", Path: "analysis.distance", Unset: "absolute; signed for ward", Doc: "absolute: correlations of either sign are near; signed: positive ones alone",
		Form: schema.Word(func(o *ClusteringOptions) *ColumnDistance { return &o.Distance }, schema.Words{What: "distance", Has: []string{string(Absolute), string(Signed)}}).Absent(func(o *ClusteringOptions) {
			if o.Distance = Absolute; o.Linkage == cluster.Ward {
				o.Distance = Signed
			}
		}),
	},
}

func linkageNames() (names []string) {
	for _, l := range cluster.Linkages() {
		names = append(names, string(l))
	}
	return names
}

func (o ClusteringOptions) String() string {
	return fmt.Sprintf("linkage: %s, distance: %s", o.Linkage, o.Distance)
}

func (o ClusteringOptions) Encode(e *schema.Encoder) {
	clusteringKeys.Encode(e, &o)
}

func ofColumnSums() Kind {
	return Kind{
		Name: Sums, Needs: one(Needs{Side: sketch.Columns, Ones: true}),
		says: func(Analysis) string {
			return "and means, of each column over the records that its party shares with each other one"
		},
	}
}
