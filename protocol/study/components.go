package study

import (
	"fmt"
	"strconv"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// PCA is principal components of all columns: of the union by moments, otherwise of what
// the parties' columns have in common. Moments are about the means.
const PCA AnalysisKind = "pca"

// PCAOptions are those of PCA.
type PCAOptions struct {
	Components int  // of how many components the loadings are listed, with intervals; default 10
	Scale      bool // of correlations rather than of covariances; default true
	Centre     bool // of deviations from the means rather than of products; default true, and true where Scale is
}

var pca = Kind{
	Name: PCA,
	Needs: func(options Options) []Needs {
		if o, ok := options.(PCAOptions); ok && !o.Centre {
			return []Needs{{Side: sketch.Columns}}
		}
		return []Needs{{Side: sketch.Moments}, {Side: sketch.Columns, Ones: true}}
	},
	says: func(a Analysis) string {
		o, _ := a.Options.(PCAOptions)
		of := "products of columns"
		switch {
		case o.Scale:
			of = "correlations"
		case o.Centre:
			of = "covariances"
		}
		return fmt.Sprintf("principal components of %s, with the loadings of the first %d", of, o.Components)
	},
}

func (o PCAOptions) String() string {
	return fmt.Sprintf("components: %d, scale: %t, centre: %t", o.Components, o.Scale, o.Centre)
}

func (o PCAOptions) Encode(e *schema.Encoder) {
	e.Whole("analysis.components", o.Components)
	e.Text("analysis.scale", strconv.FormatBool(o.Scale))
	e.Text("analysis.centre", strconv.FormatBool(o.Centre))
}
