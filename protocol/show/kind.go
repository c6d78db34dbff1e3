package show

import (
	"slices"

	"github.com/cosketch/cosketch/protocol/study"
)

// kind is how the answers of one kind of analysis are shown, beyond their pairs.
type kind struct {
	name  study.AnalysisKind
	title string           // of its section, in lower case; empty: the name's words
	own   func(s *section) // shows what its own section of the document holds; nil: it has none
}

// kinds are those that are shown in a way of their own.
func kinds() []kind {
	return []kind{
		{study.Mean, "", func(s *section) {
			if s.a.Means != nil {
				s.means(s.a.Means)
			}
		}},
		{study.KMeans, "k-means", func(s *section) {
			show(s.a.KMeans, s.clusters)
			show(s.a.CellMeans, s.cells)
		}},
		{study.RecordDistance, "", func(s *section) { show(s.a.RecordDistances, s.records) }},
		{study.Neighbors, "neighbours", func(s *section) { show(s.a.Neighbors, s.neighbors) }},
		{study.Outliers, "", func(s *section) { show(s.a.Outliers, s.outliers) }},
		{study.Perceptron, "", predicted},
		{study.VotedPerceptron, "", predicted},
		{study.SVM, "support vector machine", predicted},
		{study.RidgeClassification, "", predicted},
		{study.LDA, "linear discriminants", func(s *section) { show(s.a.LDA, s.discriminant) }},
		{study.PCA, "principal components", func(s *section) { show(s.a.PCA, s.components) }},
		{study.Regression, "", func(s *section) { show(s.a.Regression, s.regression) }},
		{study.Clustering, "", func(s *section) { show(s.a.Hierarchy, s.hierarchy) }},
		{study.Sums, "", func(s *section) { show(s.a.Sums, s.sums) }},
		{study.CountsTable, "tables", func(s *section) { s.crossTables(s.a.CrossTables) }},
		{study.QuantileKind, "quantiles", func(s *section) { s.distributions(s.a.Distributions) }},
	}
}

// kindOf returns the row of a kind; that of one without is empty.
func kindOf(name study.AnalysisKind) kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return all[i]
	}
	return kind{}
}

// show shows a section of the document, where it is there.
func show[T any](section *T, as func(T)) {
	if section != nil {
		as(*section)
	}
}

func predicted(s *section) { show(s.a.Classifier, s.classifier) }
