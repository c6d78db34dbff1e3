package file

import (
	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

var (
	columnDistances = schema.Words{What: "distance", Has: []string{string(study.Absolute), string(study.Signed)}}
	linkages        = schema.Words{What: "linkage", Has: linkageNames()}
)

func linkageNames() (names []string) {
	for _, l := range cluster.Linkages() {
		names = append(names, string(l))
	}
	return names
}

var clusteringEntry = entry{
	kind: study.Clustering,
	keys: []string{"linkage", "distance"},
	read: func(o object) study.Options {
		out := study.ClusteringOptions{Linkage: schema.Choice(o.Object, "linkage", linkages, cluster.Average)}
		fallback := study.Absolute
		if out.Linkage == cluster.Ward {
			fallback = study.Signed
		}
		out.Distance = schema.Choice(o.Object, "distance", columnDistances, fallback)
		return out
	},
	check: func(r *reader, _ *study.Study, a study.Analysis, path string) {
		if o, _ := a.Options.(study.ClusteringOptions); o.Linkage == cluster.Ward && o.Distance != study.Signed {
			r.Fail(path+".distance", "%s is no Euclidean distance, which linkage ward needs", o.Distance).Hint = "distance: signed"
		}
	},
}
