package study

import "github.com/cosketch/cosketch/kernel/sketch"

// Kinds of analyses that compare columns.
const (
	InnerProduct AnalysisKind = "inner-product" // columns side; for a column with itself, its squared norm
	Distance     AnalysisKind = "distance"      // columns side: squared Euclidean distances between columns
	Cosine       AnalysisKind = "cosine"        // columns side
	Mean         AnalysisKind = "mean"          // moments: of the union
	Covariance   AnalysisKind = "covariance"    // moments, of the union; or columns side with ones, over the intersection; for a column with itself, its variance
	Intersection AnalysisKind = "intersection"  // columns side with ones: records that two parties have in common
)

func ofInnerProduct() Kind {
	return Kind{Name: InnerProduct, Needs: one(Needs{Side: sketch.Columns})}
}

func ofDistance() Kind { return Kind{Name: Distance, Needs: one(Needs{Side: sketch.Columns})} }

func ofCosine() Kind { return Kind{Name: Cosine, Needs: one(Needs{Side: sketch.Columns})} }

func ofMean() Kind { return Kind{Name: Mean, Needs: one(Needs{Side: sketch.Moments, sums: true})} }

func ofCovariance() Kind {
	return Kind{Name: Covariance, Needs: func(Options) []Needs {
		return []Needs{{Side: sketch.Moments}, {Side: sketch.Columns, Ones: true}}
	}}
}

func ofIntersection() Kind {
	return Kind{Name: Intersection, Needs: one(Needs{Side: sketch.Columns, Ones: true}), vertical: "its parties hold different records"}
}
