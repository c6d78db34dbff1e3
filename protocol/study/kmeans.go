package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Kinds of analyses that compare records.
const (
	KMeans        AnalysisKind = "k-means"        // cells, or records side
	GroupDistance AnalysisKind = "group-distance" // records side: mean squared distances of records within and between parties
)

// KMeansOptions are those of KMeans.
type KMeansOptions struct {
	Clusters    int  // at least 2; required unless Auto
	Auto        bool // the data say how many
	MaxClusters int  // Auto alone: the most that are tried, default 10
	Restarts    int  // default 10
}

const (
	DefaultMaxClusters = 10 // also of suggestions beside a given number
)

// Clusters is how many k-means looks for in a sketch, the fewest where several ask; 2 where the data say it.
func (s *Study) Clusters(index int) int {
	least := 0
	for _, a := range s.Analyses {
		o, ok := a.Options.(KMeansOptions)
		if at, answered := s.SketchFor(a); !ok || !answered || at != index {
			continue
		}
		if n := max(o.Clusters, 2); least == 0 || n < least {
			least = n
		}
	}
	return max(least, 2)
}

var kMeans = Kind{
	Name: KMeans, Bare: true,
	Needs: func(Options) []Needs { return []Needs{{Side: sketch.Cells}, {Side: sketch.Records}} },
	says: func(a Analysis) string {
		o, _ := a.Options.(KMeansOptions)
		if o.Auto {
			return fmt.Sprintf("2 to %d clusters, best of %d starts", o.MaxClusters, o.Restarts)
		}
		return fmt.Sprintf("%d clusters, best of %d starts", o.Clusters, o.Restarts)
	},
}

func (o KMeansOptions) String() string {
	if o.Auto {
		return fmt.Sprintf("clusters: auto, max_clusters: %d, restarts: %d", o.MaxClusters, o.Restarts)
	}
	return fmt.Sprintf("clusters: %d, restarts: %d", o.Clusters, o.Restarts)
}

func (o KMeansOptions) Encode(e *schema.Encoder) {
	e.Whole("analysis.clusters", o.Clusters)
	if o.Auto || o.MaxClusters != 0 {
		e.Whole("analysis.max_clusters", o.MaxClusters)
	}
	e.Whole("analysis.restarts", o.Restarts)
}

var groupDistance = Kind{
	Name: GroupDistance, Needs: one(Needs{Side: sketch.Records}),
	horizontal: "its parties hold the same records, so there are no groups of them to compare",
	says:       func(Analysis) string { return "mean squared distances of records within and between parties" },
}
