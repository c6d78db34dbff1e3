package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
)

// Kinds of analyses that compare records.
const (
	KMeans        AnalysisKind = "k-means"        // cells, or records side
	GroupDistance AnalysisKind = "group-distance" // records side: mean squared distances of records within and between parties
)

// KMeansOptions are those of KMeans.
type KMeansOptions struct {
	Clusters int // at least 2; required
	Restarts int // default 10
}

// Ranges of the options of k-means, and how many times it starts afresh, keeping the best.
const (
	maxClusters     = 1000
	maxRestarts     = 1000
	defaultRestarts = 10
)

var kMeans = kind{
	name: KMeans, bare: true,
	needs: func(Options) []needs { return []needs{{side: sketch.Cells}, {side: sketch.Records}} },
	keys:  []string{"clusters", "restarts"},
	read: func(o object) Options {
		out := KMeansOptions{Clusters: o.integer("clusters"), Restarts: defaultRestarts}
		if o.has("restarts") {
			out.Restarts = o.integer("restarts")
		}
		return out
	},
	check: func(r *reader, _ *Study, a Analysis, path string) {
		o, _ := a.Options.(KMeansOptions)
		if !r.given(path + ".clusters") {
			r.fail(path+".clusters", "is missing").Hint = "how many clusters to look for, like 2"
		} else if o.Clusters < 2 || o.Clusters > maxClusters {
			r.fail(path+".clusters", "%d is not between 2 and %d", o.Clusters, maxClusters)
		}
		if o.Restarts < 1 || o.Restarts > maxRestarts {
			r.fail(path+".restarts", "%d is not between 1 and %d", o.Restarts, maxRestarts)
		}
	},
	says: func(a Analysis) string {
		o, _ := a.Options.(KMeansOptions)
		return fmt.Sprintf("%d clusters, best of %d starts", o.Clusters, o.Restarts)
	},
}

func (o KMeansOptions) String() string {
	return fmt.Sprintf("clusters: %d, restarts: %d", o.Clusters, o.Restarts)
}

func (o KMeansOptions) encode(e *encoder) {
	e.whole("analysis.clusters", o.Clusters)
	e.whole("analysis.restarts", o.Restarts)
}

var groupDistance = kind{
	name: GroupDistance, needs: one(needs{side: sketch.Records}),
	says: func(Analysis) string { return "mean squared distances of records within and between parties" },
}
