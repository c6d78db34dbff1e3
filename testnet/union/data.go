package union

import (
	"archive/zip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/testnet/scenario"
)

// ErrNoData reports that a folder has no such data set.
var ErrNoData = errors.New("the data are not there")

// heartColumns are those that all four hospitals recorded: the others are left out, among
// them cholesterol, which one hospital wrote down as 0.
var heartColumns = []struct {
	name           string
	at             int
	centre, spread float64 // 0, 0: 0 or 1
}{
	{"age", 0, 54, 9}, {"male", 1, 0, 0}, {"chest_pain", 2, 3, 1}, {"pressure", 3, 130, 18},
	{"rate", 7, 140, 25}, {"angina", 8, 0, 0}, {"depression", 9, 0.9, 1.1},
}

// Heart are the patients of four real hospitals, each at its own; the known grouping is
// whether a patient has heart disease. Absent values are the centre, as studies have it.
func Heart(dir string) (p Pooled, err error) {
	p.Name = "heart disease, four real hospitals"
	for _, c := range heartColumns {
		at := scenario.Range{Centre: c.centre, Spread: c.spread}
		if c.spread == 0 {
			at = scenario.Range{Lo: 0, Hi: 1}
		}
		p.Columns = append(p.Columns, scenario.Column{Name: c.name, Range: at})
	}
	for _, name := range []string{"cleveland", "hungarian", "switzerland", "va"} {
		raw, err := os.ReadFile(filepath.Join(dir, "heart", "processed."+name+".data"))
		if errors.Is(err, fs.ErrNotExist) {
			return p, fmt.Errorf("heart in %s: %w", dir, ErrNoData)
		}
		if err != nil {
			return p, err
		}
		lines, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
		if err != nil {
			return p, fmt.Errorf("reading %s: %w", name, err)
		}
		var own []int
		for _, line := range lines {
			var r []float64
			for j, c := range heartColumns {
				v, err := strconv.ParseFloat(line[c.at], 64)
				if err != nil {
					at := p.Columns[j].Range
					v = at.Centre + (at.Lo+at.Hi)/2
				}
				r = append(r, v)
			}
			known := 1
			if strings.TrimSpace(line[13]) == "0" {
				known = 0
			}
			own = append(own, len(p.Records))
			p.Records, p.Known = append(p.Records, r), append(p.Known, known)
		}
		p.Parties = append(p.Parties, own)
	}
	return p, nil
}

// diabetesColumns are the counts of an admission, with what is typical of them.
var diabetesColumns = []struct {
	name           string
	centre, spread float64
}{
	{"time_in_hospital", 4.4, 3}, {"num_lab_procedures", 43, 20}, {"num_procedures", 1.3, 1.7}, {"num_medications", 16, 8},
	{"number_outpatient", 0.4, 1.3}, {"number_emergency", 0.2, 0.9}, {"number_inpatient", 0.6, 1.3}, {"number_diagnoses", 7.4, 1.9},
}

// Diabetes are 101,766 admissions to 130 hospitals, by eight counts.
func Diabetes(dir string) (p Pooled, err error) {
	p.Name = "diabetes, 130 hospitals"
	archive, err := zip.OpenReader(filepath.Join(dir, "diabetes130", "dataset_diabetes.zip"))
	if errors.Is(err, fs.ErrNotExist) {
		return p, fmt.Errorf("diabetes130 in %s: %w", dir, ErrNoData)
	}
	if err != nil {
		return p, err
	}
	defer archive.Close()
	file, err := archive.Open("dataset_diabetes/diabetic_data.csv")
	if err != nil {
		return p, err
	}
	defer file.Close()
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return p, err
	}
	var at []int
	for _, c := range diabetesColumns {
		at = append(at, slices.Index(header, c.name))
		p.Columns = append(p.Columns, scenario.Column{Name: c.name, Range: scenario.Range{Centre: c.centre, Spread: c.spread}})
	}
	for {
		line, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err != nil {
			return p, err
		}
		r := make([]float64, len(at))
		for j, i := range at {
			if i < 0 || i >= len(line) {
				return p, fmt.Errorf("diabetes130 has no column %q", diabetesColumns[j].name)
			}
			v, err := strconv.ParseFloat(line[i], 64)
			if err != nil {
				return p, fmt.Errorf("diabetes130, column %q: a value is no number", diabetesColumns[j].name)
			}
			r[j] = v
		}
		p.Records = append(p.Records, r)
	}
}
