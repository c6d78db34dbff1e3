// Package cancer has the Wisconsin diagnostic breast cancer data, on which the testnet's studies
// run: 569 patients, ten measurements of their cell nuclei, each as mean, standard error and worst
// value, and the diagnosis. ATTRIBUTION.md in its folder names the authors and the licence.
package cancer

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

// Patients and Columns are the shape of the data.
const (
	Patients = 569
	Columns  = 30
)

//go:embed breast_cancer.csv
var source string

// measurements are the ten quantities, in the order of the file.
var measurements = [...]string{
	"radius", "texture", "perimeter", "area", "smoothness",
	"compactness", "concavity", "concave points", "symmetry", "fractal dimension",
}

// Table is the data set, patients in the order of its file.
type Table struct {
	Names     []string    // Columns names: ten "mean …", ten "… error", ten "worst …"
	Values    [][]float64 // Patients × Columns, in the units of the source
	Malignant []bool      // the diagnosis
}

// Load parses the embedded file.
func Load() (Table, error) {
	reader := csv.NewReader(strings.NewReader(source))
	reader.FieldsPerRecord = -1 // the number of fields of the first line differs: it gives the shape, not the columns
	lines, err := reader.ReadAll()
	if err != nil {
		return Table{}, fmt.Errorf("reading the breast cancer data: %w", err)
	}
	if len(lines) != Patients+1 {
		return Table{}, fmt.Errorf("reading the breast cancer data: %d lines, want %d", len(lines), Patients+1)
	}
	table := Table{Names: names()}
	for i, line := range lines[1:] {
		if len(line) != Columns+1 {
			return Table{}, fmt.Errorf("reading the breast cancer data: line %d has %d fields, want %d", i+2, len(line), Columns+1)
		}
		row := make([]float64, Columns)
		for j := range row {
			if row[j], err = strconv.ParseFloat(line[j], 64); err != nil {
				return Table{}, fmt.Errorf("reading the breast cancer data: line %d, field %d: %w", i+2, j+1, err)
			}
		}
		table.Values = append(table.Values, row)
		table.Malignant = append(table.Malignant, line[Columns] == "0")
	}
	return table, nil
}

func names() []string {
	var all []string
	for _, form := range []string{"mean %s", "%s error", "worst %s"} {
		for _, what := range measurements {
			all = append(all, fmt.Sprintf(form, what))
		}
	}
	return all
}
