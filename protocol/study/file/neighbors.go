package file

import (
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Ranges and defaults of the options.
const (
	maxNeighbors     = 100
	defaultNeighbors = 10
	outlierNeighbors = 20
	maxTop           = 10_000
	defaultTop       = 10
)

var neighborsEntry = entry{
	kind: study.Neighbors,
	keys: []string{"neighbors"},
	read: func(o object) study.Options {
		return study.NeighborsOptions{Neighbors: o.WholeOr("neighbors", defaultNeighbors)}
	},
	check: func(r *reader, _ *study.Study, a study.Analysis, path string) {
		o, _ := a.Options.(study.NeighborsOptions)
		r.Within(path+".neighbors", o.Neighbors, 1, maxNeighbors)
	},
}

var outliersEntry = entry{
	kind: study.Outliers,
	keys: []string{"neighbors", "score", "top"},
	read: func(o object) study.Options {
		return study.OutliersOptions{
			Neighbors: o.WholeOr("neighbors", outlierNeighbors),
			Score:     schema.Choice(o.Object, "score", scores, study.ScoreLOF),
			Top:       o.WholeOr("top", defaultTop),
		}
	},
	check: func(r *reader, _ *study.Study, a study.Analysis, path string) {
		o, _ := a.Options.(study.OutliersOptions)
		r.Within(path+".neighbors", o.Neighbors, 1, maxNeighbors)
		r.Within(path+".top", o.Top, 1, maxTop)
	},
}
