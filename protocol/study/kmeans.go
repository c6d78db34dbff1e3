package study

import (
	"fmt"
	"strconv"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Kinds of analyses that compare records.
const (
	KMeans        AnalysisKind = "k-means"        // codes or cells, or records side
	GroupDistance AnalysisKind = "group-distance" // records side: mean squared distances of records within and between parties
)

// KMeansOptions are the options of KMeans.
type KMeansOptions struct {
	Clusters    int  // at least 2; required unless Auto
	Auto        bool // the number of clusters is estimated from the data
	MaxClusters int  // with Auto only: the most clusters tried, default 10
	Restarts    int  // default 10
}

// Ranges of the options of k-means: the number of restarts, of which the best is kept, and the
// number of clusters that auto tries.
const (
	DefaultMaxClusters = 10 // also of suggestions next to a given number
	maxClusters        = 1000
	maxRestarts        = 1000
	mostSuggested      = 50
)

// Clusters returns the number of clusters that k-means looks for in a sketch, the smallest if
// several analyses ask; 2 if it is estimated from the data.
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

func ofKMeans() Kind {
	return Kind{
		Name: KMeans, Bare: true,
		Needs: func(Options) []Needs {
			return []Needs{{Side: sketch.Codes}, {Side: sketch.Cells}, {Side: sketch.Records}}
		},
		says: func(a Analysis) string {
			o, _ := a.Options.(KMeansOptions)
			if o.Auto {
				return fmt.Sprintf("2 to %d clusters, best of %d starts", o.MaxClusters, o.Restarts)
			}
			return fmt.Sprintf("%d clusters, best of %d starts", o.Clusters, o.Restarts)
		},
		keys: optionKeys[KMeansOptions]{Keys: kMeansKeys},
		check: func(r *schema.Reader, s *Study, a Analysis, path string) {
			if o, _ := a.Options.(KMeansOptions); o.Auto && s.moments() < 0 && s.Has(sketch.Cells) {
				r.Fail(path+".clusters", "auto needs a moments sketch beside the cells").Hint = "the spread of all records, to compare with; or give a number"
			}
		},
	}
}

var kMeansKeys = schema.Keys[KMeansOptions]{
	{
		Name: "clusters", Path: "analysis.clusters", Required: true, Doc: "how many clusters to look for; `auto` of cells needs `moments` beside", Hint: "how many clusters to look for, like 2, or auto",
		Form: schema.Or("auto", schema.Whole(func(o *KMeansOptions) *int { return &o.Clusters }, 2, maxClusters), func(o *KMeansOptions) { o.Auto = true }),
	},
	{
		Name: "max_clusters", Path: "analysis.max_clusters", Unset: strconv.Itoa(DefaultMaxClusters), Doc: "with `clusters: auto`: 2 to so many are tried",
		Forbidden: func(o *KMeansOptions) string {
			if o.Auto {
				return ""
			}
			return "it belongs to clusters: auto"
		},
		Form: schema.Whole(func(o *KMeansOptions) *int { return &o.MaxClusters }, 2, mostSuggested).Absent(func(o *KMeansOptions) {
			if o.Auto {
				o.MaxClusters = DefaultMaxClusters
			}
		}).Encoded(func(e *schema.Encoder, path string, o *KMeansOptions) {
			if o.Auto || o.MaxClusters != 0 {
				e.Whole(path, o.MaxClusters)
			}
		}),
	},
	{
		Name: "restarts", Path: "analysis.restarts", Default: "10", Doc: "starts of k-means, of which the best counts",
		Form: schema.Whole(func(o *KMeansOptions) *int { return &o.Restarts }, 1, maxRestarts),
	},
}

func (o KMeansOptions) String() string {
	if o.Auto {
		return fmt.Sprintf("clusters: auto, max_clusters: %d, restarts: %d", o.MaxClusters, o.Restarts)
	}
	return fmt.Sprintf("clusters: %d, restarts: %d", o.Clusters, o.Restarts)
}

func (o KMeansOptions) Encode(e *schema.Encoder) {
	kMeansKeys.Encode(e, &o)
}

func ofGroupDistance() Kind {
	return Kind{
		Name: GroupDistance, Needs: one(Needs{Side: sketch.Records}),
		horizontal: "its parties hold the same records, so there are no groups of them to compare",
		says:       func(Analysis) string { return "mean squared distances of records within and between parties" },
	}
}
