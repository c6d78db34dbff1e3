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

// Ranges of the options of pca.
const (
	maxComponents     = 100
	defaultComponents = 10
)

var pca = kind{
	name: PCA,
	needs: func(options Options) []needs {
		if o, ok := options.(PCAOptions); ok && !o.Centre {
			return []needs{{side: sketch.Columns}}
		}
		return []needs{{side: sketch.Moments}, {side: sketch.Columns, ones: true}}
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

var pcaEntry = entry{
	kind: PCA,
	keys: []string{"components", "scale", "centre"},
	read: func(o object) Options {
		out := PCAOptions{Components: defaultComponents, Scale: true, Centre: true}
		if o.Has("components") {
			out.Components = o.Whole("components")
		}
		if o.Has("centre") {
			out.Centre = o.Flag("centre")
			out.Scale = out.Centre
		}
		if o.Has("scale") {
			out.Scale = o.Flag("scale")
		}
		return out
	},
	check: func(r *reader, _ *Study, a Analysis, path string) {
		o, _ := a.Options.(PCAOptions)
		if o.Components < 1 || o.Components > maxComponents {
			r.Fail(path+".components", "%d is not between 1 and %d", o.Components, maxComponents)
		}
		if o.Scale && !o.Centre {
			r.Fail(path+".scale", "true needs centre: true").Hint = "correlations are about deviations from the means"
		}
	},
}

func (o PCAOptions) String() string {
	return fmt.Sprintf("components: %d, scale: %t, centre: %t", o.Components, o.Scale, o.Centre)
}

func (o PCAOptions) encode(e *schema.Encoder) {
	e.Whole("analysis.components", o.Components)
	e.Text("analysis.scale", strconv.FormatBool(o.Scale))
	e.Text("analysis.centre", strconv.FormatBool(o.Centre))
}
