package study

import "github.com/cosketch/cosketch/kernel/sketch"

// Kinds of analyses that compare columns.
const (
	InnerProduct AnalysisKind = "inner-product" // columns side; of a column with itself, its squared norm
	Distance     AnalysisKind = "distance"      // columns side: squared Euclidean distances between columns
	Cosine       AnalysisKind = "cosine"        // columns side
	Mean         AnalysisKind = "mean"          // moments: of the union
	Covariance   AnalysisKind = "covariance"    // moments, of the union; or columns side with ones, over the intersection; of a column with itself, its variance
	Intersection AnalysisKind = "intersection"  // columns side with ones: records that two parties share
)

var (
	innerProduct = kind{name: InnerProduct, needs: one(needs{side: sketch.Columns})}
	distance     = kind{name: Distance, needs: one(needs{side: sketch.Columns})}
	cosine       = kind{name: Cosine, needs: one(needs{side: sketch.Columns})}
	mean         = kind{name: Mean, needs: one(needs{side: sketch.Moments, sums: true})}
	covariance   = kind{name: Covariance, needs: func(Options) []needs {
		return []needs{{side: sketch.Moments}, {side: sketch.Columns, ones: true}}
	}}
	intersection = kind{name: Intersection, needs: one(needs{side: sketch.Columns, ones: true}), vertical: "its parties hold different records"}
)
