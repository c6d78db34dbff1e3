package file

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Ranges of the options of k-means, how many times it starts afresh, keeping the best, and
// how many clusters auto tries.
const (
	maxClusters     = 1000
	maxRestarts     = 1000
	defaultRestarts = 10
	mostSuggested   = 50
)

var kMeansEntry = entry{
	kind: study.KMeans,
	keys: []string{"clusters", "max_clusters", "restarts"},
	read: func(o object) study.Options {
		var out study.KMeansOptions
		if n := o.Values["clusters"]; n != nil && n.Kind == yaml.ScalarNode && n.Value == "auto" {
			out.Auto, out.MaxClusters = true, o.WholeOr("max_clusters", study.DefaultMaxClusters)
		} else {
			out.Clusters = o.Whole("clusters")
			if o.Has("max_clusters") {
				o.forbid("max_clusters", "belongs to clusters: auto")
			}
		}
		out.Restarts = o.WholeOr("restarts", defaultRestarts)
		return out
	},
	check: func(r *reader, s *study.Study, a study.Analysis, path string) {
		o, _ := a.Options.(study.KMeansOptions)
		if o.Auto && !hasMoments(s) && slices.ContainsFunc(s.Sketches, func(sk study.Sketch) bool { return sk.Side == sketch.Cells }) {
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
