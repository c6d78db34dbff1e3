package networks

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// Embedded is the data set that needs no folder.
const Embedded = "cancer"

// Load reads a data set, one row per record, with the columns of its archive and derived columns.
// Every set has a column of record ids; binary columns are 0 and 1. folder may be nil for Embedded
// and for the registry, which is drawn from it.
func Load(set string, folder *corpus.Corpus) (corpus.Table, error) {
	switch set {
	case Embedded:
		return patients()
	case "registry":
		return registry()
	}
	if folder == nil {
		return corpus.Table{}, fmt.Errorf("the data set %s: %w", set, corpus.ErrNone)
	}
	switch set {
	case "heart":
		return heart(*folder)
	case "diabetes130":
		return admissions(*folder)
	case "adult":
		return people(*folder)
	}
	return corpus.Table{}, fmt.Errorf("no data set %q", set)
}

// patients returns the breast cancer data, with the columns "patient" and "malignant".
func patients() (corpus.Table, error) {
	table, err := cancer.Load()
	if err != nil {
		return corpus.Table{}, err
	}
	out := corpus.Table{Names: append([]string{"patient"}, table.Names...)}
	for i, values := range table.Values {
		row := []string{fmt.Sprintf("P%03d", i+1)}
		for _, v := range values {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		out.Rows = append(out.Rows, row)
	}
	return with(out, "malignant", func(i int) string { return binary(table.Malignant[i]) }), nil
}

// registry returns people drawn from the normal distribution with the means and covariances of some
// columns of the breast cancer data, with a column "patient". The draw is always the same.
func registry() (corpus.Table, error) {
	table, err := cancer.Load()
	if err != nil {
		return corpus.Table{}, err
	}
	out := corpus.Table{Names: []string{"patient"}, Rows: make([][]string, 200_000)}
	// Some pairs are strongly correlated, some weakly, some negatively.
	names := []string{"mean radius", "mean texture", "area error", "smoothness error", "worst concavity", "worst texture"}
	sample, means := mat.NewDense(len(table.Values), len(names), nil), make([]float64, len(names))
	for j, name := range names {
		at := slices.Index(table.Names, name)
		for i, values := range table.Values {
			sample.Set(i, j, values[at])
		}
		means[j] = stat.Mean(mat.Col(nil, j, sample), nil)
	}
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, sample, nil)
	population, ok := distmv.NewNormal(means, &covariance, rand.New(rand.NewPCG(1, 2)))
	if !ok {
		return corpus.Table{}, errors.New("drawing the registry: the covariance is not positive definite")
	}
	out.Names = append(out.Names, names...)
	for i := range out.Rows {
		row := []string{fmt.Sprintf("R%06d", i+1)}
		for _, v := range population.Rand(nil) {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		out.Rows[i] = row
	}
	return out, nil
}

// heart returns the patients of four hospitals, with the columns "patient", which each hospital
// counts from 1, "hospital", and "disease", some narrowing of the vessels. It removes the ".0" of
// whole numbers, which three of the files have.
func heart(folder corpus.Corpus) (corpus.Table, error) {
	hospitals, err := folder.Heart()
	if err != nil {
		return corpus.Table{}, err
	}
	var out corpus.Table
	for _, h := range hospitals {
		out.Names = append([]string{"hospital", "patient"}, h.Names...)
		for i, cells := range h.Rows {
			row := []string{h.Name, strconv.Itoa(i + 1)}
			for _, cell := range cells {
				row = append(row, strings.TrimSuffix(cell, ".0"))
			}
			out.Rows = append(out.Rows, row)
		}
	}
	degree, err := out.Column("num")
	if err != nil {
		return corpus.Table{}, err
	}
	return with(out, "disease", func(i int) string { return binary(degree[i] != "0") }), nil
}

// admissions returns the diabetes data; "insulin" becomes whether any was given.
func admissions(folder corpus.Corpus) (corpus.Table, error) {
	out, err := folder.Diabetes130()
	if err != nil {
		return corpus.Table{}, err
	}
	insulin, err := out.Column("insulin")
	if err != nil {
		return corpus.Table{}, err
	}
	return with(out, "insulin", func(i int) string { return binary(insulin[i] != "No") }), nil
}

// people returns the census data, with the columns "person", counted from 1, "male", "married" and
// "high_income", above 50,000 a year.
func people(folder corpus.Corpus) (corpus.Table, error) {
	out, err := folder.Adult()
	if err != nil {
		return corpus.Table{}, err
	}
	for _, made := range []struct{ name, of, is string }{
		{"male", "sex", "Male"}, {"married", "marital-status", "Married"}, {"high_income", "income", ">50K"},
	} {
		cells, err := out.Column(made.of)
		if err != nil {
			return corpus.Table{}, err
		}
		out = with(out, made.name, func(i int) string {
			return binary(strings.HasPrefix(cells[i], made.is) && cells[i] != "Married-spouse-absent")
		})
	}
	return with(out, "person", func(i int) string { return strconv.Itoa(i + 1) }), nil
}

// with adds a column, or replaces the column of this name.
func with(t corpus.Table, name string, value func(i int) string) corpus.Table {
	out := corpus.Table{Rows: make([][]string, len(t.Rows))}
	at := len(t.Names)
	for j, n := range t.Names {
		if n == name {
			at = j
		}
	}
	out.Names = append(t.Names[:at:at], name)
	if at < len(t.Names) {
		out.Names = append(out.Names, t.Names[at+1:]...)
	}
	for i, row := range t.Rows {
		out.Rows[i] = append(row[:at:at], value(i))
		if at < len(row) {
			out.Rows[i] = append(out.Rows[i], row[at+1:]...)
		}
	}
	return out
}

func binary(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}
