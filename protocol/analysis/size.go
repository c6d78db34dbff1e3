package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// MaxDocument bounds a result document, without its tables, in bytes.
const MaxDocument = 1 << 27

// Size is about what the result of a study takes if all parties are in it, in bytes: at the
// aggregator, and at each party.
type Size struct {
	Document int64 `json:"document"` // JSON
	Tables   int64 `json:"tables"`   // beside it
}

// Bytes, about, of parts of a document, with their keys.
const (
	numberBytes  = 210
	pairBytes    = 60 + numberBytes
	featureBytes = 80
	entryBytes   = 24
)

// SizeOf forecasts the size of a study's result.
func SizeOf(s *study.Study) (out Size) {
	for _, a := range s.Analyses {
		one := sizeOf(s, a)
		out.Document += one.Document
		out.Tables += one.Tables
	}
	return out
}

func sizeOf(s *study.Study, a study.Analysis) (out Size) {
	n := int64(len(valuesOf(s, a)))
	out.Document = n*featureBytes + 1000
	number := func(count int64) { out.Document += count * numberBytes }
	switch a.Kind {
	case study.Covariance, study.Correlation, study.InnerProduct, study.Distance, study.Cosine:
		pairs := pairsOf(int(n), a.Kind == study.Covariance || a.Kind == study.InnerProduct)
		if n <= MostInline {
			out.Document += pairs*pairBytes + n*n*entryBytes
		} else {
			out.Tables = pairs * int64(len(fields)*field+1)
			out.Document += mostClearest*pairBytes + out.Tables/PartSize*100
		}
	case study.Mean, study.Regression:
		number(n)
	case study.LDA:
		if label, ok := s.Label(); ok {
			number(n * int64(2*len(label.Classes())))
		}
	case study.Sums:
		number(2 * n * int64(len(s.Parties)))
	case study.PCA:
		number(2 * n)
		if o, ok := a.Options.(study.PCAOptions); ok {
			out.Document += int64(min(o.Components, int(n))) * n * (numberBytes + entryBytes)
		}
	case study.Clustering:
		number(n)
	}
	return out
}

// valuesOf lists the columns of the values, with one for each value of a categorical column, that
// an analysis is about.
func valuesOf(s *study.Study, a study.Analysis) (out []int) {
	index, ok := s.SketchFor(a)
	if !ok || s.Sketches[index].Side == sketch.Records {
		return nil
	}
	var only []string // empty: all
	switch o := a.Options.(type) {
	case study.RegressionOptions:
		if only = o.On; len(only) > 0 {
			only = append(slices.Clip(only), o.Target)
		}
	case study.LDAOptions:
		only = o.On
	}
	for party := range s.Parties {
		for _, f := range s.Features(party, index) {
			if (f.Kind == study.Value || f.Kind == study.OneHot) && (len(only) == 0 || slices.Contains(only, s.Columns[f.Column].Name)) {
				out = append(out, f.Column)
			}
		}
		if s.Merge(index) == study.Add {
			break // all parties have the same
		}
	}
	return out
}

// Deliverable refuses a study whose result could not be computed, or not be fetched by its
// parties, and says what it would cost.
func Deliverable(s *study.Study) error {
	for i, a := range s.Analyses {
		if why := undeliverable(a.Kind, len(valuesOf(s, a))); why != "" {
			return fmt.Errorf("analyses[%d]: %s", i, why)
		}
	}
	if size := SizeOf(s); size.Document > MaxDocument {
		return fmt.Errorf("the result document would have about %s, at most %s are possible: ask for fewer analyses, or of fewer columns", block.Bytes(size.Document), block.Bytes(MaxDocument))
	}
	return nil
}

// undeliverable is why an analysis of n values has no answer, or "".
func undeliverable(kind study.AnalysisKind, n int) string {
	most, does, matrices := 0, "", int64(0) // matrices of n² numbers
	seconds := 0.0                          // at the most values
	switch kind {
	case study.Covariance, study.Correlation, study.InnerProduct, study.Distance, study.Cosine:
		if n <= MostDense {
			return ""
		}
		return fmt.Sprintf("%s of %d columns is refused: at most %d are possible. Its table would have %d pairs and take %s; ask for it of fewer columns, in studies of their own",
			kind, n, MostDense, pairsOf(n, false), block.Bytes(pairsOf(n, false)*int64(len(fields)*field+1)))
	case study.PCA:
		most, does, matrices, seconds = decompose.MaxEigen, "decomposed", 8, 10
	case study.Regression, study.LDA:
		most, does, matrices, seconds = decompose.MaxEigen, "in one equation", 8, 10
	case study.Clustering:
		most, does, matrices, seconds = MostClustered, "clustered", 12, 10
	}
	if most == 0 || n <= most {
		return ""
	}
	grown := float64(n) / float64(most)
	return fmt.Sprintf("%s of %d columns is refused: at most %d are %s. The work grows with their cube and the memory with their square: here about %s of all processors, and %s of memory. Ask for it of fewer columns",
		kind, n, most, does, minutes(seconds*math.Pow(grown, 3)), block.Bytes(matrices*8*int64(n)*int64(n)))
}

func minutes(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f seconds", seconds)
	}
	return fmt.Sprintf("%.0f minutes", math.Ceil(seconds/60))
}

// Says says what a result takes.
func (s Size) Says() string {
	text := fmt.Sprintf("The result takes about %s at the aggregator and at each party", block.Bytes(s.Document+s.Tables))
	if s.Tables > 0 {
		text += fmt.Sprintf(": %s of tables, and a document of %s", block.Bytes(s.Tables), block.Bytes(s.Document))
	}
	return text + "."
}
