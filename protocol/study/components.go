package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// PCA is principal components of all columns: by moments of the union, otherwise over the
// intersection of the parties' records. Moments are about the means.
const PCA AnalysisKind = "pca"

// PCAOptions are the options of PCA.
type PCAOptions struct {
	Components int  // number of components whose loadings are listed, with intervals; default 10
	Scale      bool // of correlations instead of covariances; default true
	Centre     bool // of deviations from the means instead of products; default true, and always true if Scale is
}

func ofPCA() Kind {
	return Kind{
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
		keys: optionKeys[PCAOptions]{Keys: pcaKeys, finish: func(o *PCAOptions, has func(string) bool) {
			if !has("scale") {
				o.Scale = o.Centre
			}
		}},
		check: func(r *schema.Reader, _ *Study, a Analysis, path string) {
			if o, _ := a.Options.(PCAOptions); o.Scale && !o.Centre {
				r.Fail(path+".scale", "true needs centre: true").Hint = "correlations are about deviations from the means"
			}
		},
	}
}

const maxComponents = 100

var pcaKeys = schema.Keys[PCAOptions]{
	{
		Name: "components", Path: "analysis.components", Default: "10", Doc: "of how many the loadings are listed",
		Form: schema.Whole(func(o *PCAOptions) *int { return &o.Components }, 1, maxComponents),
	},
	{
		Name: "scale", Path: "analysis.scale", Default: "true", Unset: "as centre", Doc: "of correlations, or with false of covariances",
		Form: schema.Flag(func(o *PCAOptions) *bool { return &o.Scale }),
	},
	{
		Name: "centre", Path: "analysis.centre", Default: "true", Doc: "with false: of products, not centred",
		Form: schema.Flag(func(o *PCAOptions) *bool { return &o.Centre }),
	},
}

func (o PCAOptions) String() string {
	return fmt.Sprintf("components: %d, scale: %t, centre: %t", o.Components, o.Scale, o.Centre)
}

func (o PCAOptions) Encode(e *schema.Encoder) {
	pcaKeys.Encode(e, &o)
}
