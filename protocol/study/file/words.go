package file

import (
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

var (
	partitions   = schema.Words{What: "partition", Has: []string{"vertical", "horizontal"}}
	columnKinds  = schema.Words{What: "column kind", Has: []string{"numeric", "binary", "categorical"}}
	transforms   = schema.Words{What: "transform", Has: []string{"log", "asinh"}}
	sides        = schema.Words{What: "side", Has: sideNames()}
	labelWords   = schema.Words{What: "way of labels", Has: []string{"plain", "randomised"}}
	families     = schema.Words{What: "family", Has: familyNames()}
	units        = schema.Words{What: "unit", Has: []string{"attribute", "record"}}
	mechanisms   = schema.Words{What: "mechanism", Has: []string{"laplace", "gaussian", "randomised-response", "none"}}
	sealedTexts  = schema.Words{What: "way of sealed texts", Has: []string{"apart"}}
	sums         = schema.Words{What: "sum", Has: []string{"plain", "masked"}}
	normalizings = schema.Words{What: "normalization", Has: []string{"nfc", "trim", "casefold", "digits"}, Planned: []string{"pad"}}
	duplicates   = schema.Words{What: "rule for duplicates", Has: []string{"refuse"}, Planned: []string{"sum"}}
	missings     = schema.Words{What: "rule for missing values", Has: []string{"refuse", "count", "centre", "skip"}}
	joins        = schema.Words{What: "rule for joining records", Has: []string{"all", "any"}}
)

func familyNames() []string {
	var names []string
	for _, f := range projection.Families() {
		names = append(names, string(f.Family))
	}
	return names
}

func sideNames() []string { return words(study.Sides()) }

// words returns names as strings.
func words[T ~string](names []T) (out []string) {
	for _, name := range names {
		out = append(out, string(name))
	}
	return out
}
