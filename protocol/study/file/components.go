package file

import "github.com/cosketch/cosketch/protocol/study"

// Ranges of the options of pca.
const (
	maxComponents     = 100
	defaultComponents = 10
)

var pcaEntry = entry{
	kind: study.PCA,
	keys: []string{"components", "scale", "centre"},
	read: func(o object) study.Options {
		out := study.PCAOptions{Components: defaultComponents, Scale: true, Centre: true}
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
	check: func(r *reader, _ *study.Study, a study.Analysis, path string) {
		o, _ := a.Options.(study.PCAOptions)
		if o.Components < 1 || o.Components > maxComponents {
			r.Fail(path+".components", "%d is not between 1 and %d", o.Components, maxComponents)
		}
		if o.Scale && !o.Centre {
			r.Fail(path+".scale", "true needs centre: true").Hint = "correlations are about deviations from the means"
		}
	},
}
