package file

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

var correlationEntry = entry{
	kind: study.Correlation,
	keys: []string{"estimator"},
	read: func(o object) study.Options {
		return study.CorrelationOptions{Estimator: schema.Choice(o.Object, "estimator", estimators, study.E2)}
	},
	complete: func(r *reader, answering study.Sketch, options study.Options, path string) study.Options {
		if answering.Side != sketch.Moments {
			return options
		}
		if r.Given(path + ".estimator") {
			r.Fail(path+".estimator", "does not belong here: moments are of all records, and leave no choice of an estimator").Hint = "remove the key"
		}
		return study.CorrelationOptions{}
	},
}
