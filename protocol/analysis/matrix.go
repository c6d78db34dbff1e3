package analysis

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/study"
)

// Matrix is a matrix of a result, for programs that read whole arrays.
type Matrix struct {
	Analysis string // like "2_correlation"; the number is the analysis's position from 0
	Name     string // like "2_correlation_estimate"
	Rows     [][]float64
	// Names label both rows and columns; nil if these are not features.
	Names []string
}

// Matrices returns the pairs of every analysis as square matrices of estimates, standard errors and
// ends of intervals, and every list of lists of numbers. Entries that are undefined or not in the
// document are NaN. The diagonal of correlations and cosines, which has no pairs, holds ones with
// errors of zero. Dense tables are not included.
func (r Result) Matrices() []Matrix {
	var out []Matrix
	for i, a := range r.Analyses {
		name := a.place(i)
		for _, m := range slices.Concat(a.squares("", a.Pairs), a.squares("shift_", a.Shifts), a.lists()) {
			m.Analysis, m.Name = name, name+"_"+m.Name
			out = append(out, m)
		}
	}
	return out
}

// DenseTable is a dense table of a result.
type DenseTable struct {
	Name  string   // like "2_correlation", the same as Matrix.Analysis
	Names []string // of the features
	*Dense
}

// DenseTables lists the dense tables of a result, in the order of its analyses.
func (r Result) DenseTables() (out []DenseTable) {
	for i, a := range r.Analyses {
		if a.Dense != nil {
			out = append(out, DenseTable{a.place(i), a.names(), a.Dense})
		}
	}
	return out
}

// place returns a name for the analysis at a position in a result.
func (a Analysis) place(at int) string {
	return fmt.Sprintf("%d_%s", at, strings.ReplaceAll(string(a.Kind), "-", "_"))
}

func (a Analysis) names() []string {
	var out []string
	for _, f := range a.Features {
		out = append(out, f.Name())
	}
	return out
}

// squares returns the matrices of one list of pairs.
func (a Analysis) squares(prefix string, pairs []Pair) []Matrix {
	if len(pairs) == 0 {
		return nil
	}
	ones := a.Kind == study.Correlation || a.Kind == study.Cosine
	var out []Matrix
	for at, part := range fields {
		if at >= required && !slices.ContainsFunc(pairs, func(p Pair) bool { return *part.of(&p.Number) != nil }) {
			continue // the kind has none
		}
		m := Matrix{Name: prefix + part.name, Names: a.names()}
		for i := range a.Features {
			m.Rows = append(m.Rows, make([]float64, len(a.Features)))
			for j := range m.Rows[i] {
				m.Rows[i][j] = math.NaN()
			}
			if ones && part.name == "standard_error" {
				m.Rows[i][i] = 0
			} else if ones {
				m.Rows[i][i] = 1
			}
		}
		for _, p := range pairs {
			if x := *part.of(&p.Number); x != nil {
				m.Rows[p.I][p.J], m.Rows[p.J][p.I] = *x, *x
			}
		}
		out = append(out, m)
	}
	return out
}

// lists returns the lists of lists of numbers in an analysis's sections.
func (a Analysis) lists() []Matrix {
	var out []Matrix
	v, names := reflect.ValueOf(a), a.names()
	for _, field := range reflect.VisibleFields(v.Type()) {
		section := v.FieldByIndex(field.Index)
		if section.Kind() != reflect.Pointer || section.Type().Elem().Kind() != reflect.Struct || section.IsNil() {
			continue
		}
		section = section.Elem()
		for k := range section.NumField() {
			if !section.Type().Field(k).IsExported() { // such as where a dense table reads its files
				continue
			}
			rows, ok := section.Field(k).Interface().([][]float64)
			if !ok || len(rows) == 0 {
				continue
			}
			m := Matrix{Name: keyOf(section.Type().Field(k)), Rows: rows}
			if of := keyOf(field); of != strings.ReplaceAll(string(a.Kind), "-", "_") {
				m.Name = of + "_" + m.Name
			}
			if len(rows) == len(names) && len(rows[0]) == len(names) {
				m.Names = names
			}
			out = append(out, m)
		}
	}
	return out
}
