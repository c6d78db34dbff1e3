package study

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

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

// Ranges of the options of k-means, how many times it starts afresh, keeping the best, and
// how many clusters auto tries.
const (
	maxClusters        = 1000
	maxRestarts        = 1000
	defaultRestarts    = 10
	mostSuggested      = 50
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

var kMeans = kind{
	name: KMeans, bare: true,
	needs: func(Options) []needs { return []needs{{side: sketch.Cells}, {side: sketch.Records}} },
	says: func(a Analysis) string {
		o, _ := a.Options.(KMeansOptions)
		if o.Auto {
			return fmt.Sprintf("2 to %d clusters, best of %d starts", o.MaxClusters, o.Restarts)
		}
		return fmt.Sprintf("%d clusters, best of %d starts", o.Clusters, o.Restarts)
	},
}

var kMeansEntry = entry{
	kind: KMeans,
	keys: []string{"clusters", "max_clusters", "restarts"},
	read: func(o object) Options {
		var out KMeansOptions
		if n := o.Values["clusters"]; n != nil && n.Kind == yaml.ScalarNode && n.Value == "auto" {
			out.Auto, out.MaxClusters = true, o.WholeOr("max_clusters", DefaultMaxClusters)
		} else {
			out.Clusters = o.Whole("clusters")
			if o.Has("max_clusters") {
				o.forbid("max_clusters", "belongs to clusters: auto")
			}
		}
		out.Restarts = o.WholeOr("restarts", defaultRestarts)
		return out
	},
	check: func(r *reader, s *Study, a Analysis, path string) {
		o, _ := a.Options.(KMeansOptions)
		if o.Auto && !hasMoments(s) && slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Cells }) {
			r.Fail(path+".clusters", "auto needs a moments sketch beside the cells").Hint = "the spread of all records, to compare with; or give a number"
		}
		switch {
		case !r.Given(path + ".clusters"):
			r.Fail(path+".clusters", "is missing").Hint = "how many clusters to look for, like 2, or auto"
		case o.Auto:
			r.Within(path+".max_clusters", o.MaxClusters, 2, mostSuggested)
		default:
			r.Within(path+".clusters", o.Clusters, 2, maxClusters)
		}
		r.Within(path+".restarts", o.Restarts, 1, maxRestarts)
	},
}

func (o KMeansOptions) String() string {
	if o.Auto {
		return fmt.Sprintf("clusters: auto, max_clusters: %d, restarts: %d", o.MaxClusters, o.Restarts)
	}
	return fmt.Sprintf("clusters: %d, restarts: %d", o.Clusters, o.Restarts)
}

func (o KMeansOptions) encode(e *schema.Encoder) {
	e.Whole("analysis.clusters", o.Clusters)
	if o.Auto || o.MaxClusters != 0 {
		e.Whole("analysis.max_clusters", o.MaxClusters)
	}
	e.Whole("analysis.restarts", o.Restarts)
}

var groupDistance = kind{
	name: GroupDistance, needs: one(needs{side: sketch.Records}),
	horizontal: "its parties hold the same records, so there are no groups of them to compare",
	says:       func(Analysis) string { return "mean squared distances of records within and between parties" },
}
