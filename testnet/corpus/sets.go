package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Adult returns the census income data in their original order: 32,561 people, 15 columns.
func (c Corpus) Adult() (Table, error) {
	text, err := c.unzipped("adult/adult.data.gz")
	if err != nil {
		return Table{}, err
	}
	return newTable("the adult data", []string{
		"age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
		"race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
	}, lines(text))
}

// Hospital is the part of the heart disease data from one hospital.
type Hospital struct {
	Name string
	Table
}

// Heart returns the heart disease data of four hospitals, 14 columns each: 303, 294, 123 and 200
// patients. In the Swiss data every chol is 0, which means missing.
func (c Corpus) Heart() ([]Hospital, error) {
	var out []Hospital
	for _, name := range []string{"cleveland", "hungarian", "switzerland", "va"} {
		text, err := c.file("heart/processed." + name + ".data")
		if err != nil {
			return nil, err
		}
		t, err := newTable("the heart data of "+name, []string{
			"age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak", "slope", "ca", "thal", "num",
		}, lines(text))
		if err != nil {
			return nil, err
		}
		out = append(out, Hospital{name, t})
	}
	return out, nil
}

// Diabetes130 returns 101,766 admissions of people with diabetes to 130 hospitals, 50 columns.
func (c Corpus) Diabetes130() (Table, error) {
	text, err := c.member("diabetes130/dataset_diabetes.zip", "dataset_diabetes/diabetic_data.csv")
	if err != nil {
		return Table{}, err
	}
	all := lines(text)
	if len(all) == 0 {
		return Table{}, fmt.Errorf("reading the diabetes data: no header")
	}
	return newTable("the diabetes data", strings.Split(all[0], ","), all[1:])
}

// Iris returns 150 flowers: four lengths, and the species as "class".
func (c Corpus) Iris() (Table, error) {
	text, err := c.file("iris/iris.data")
	if err != nil {
		return Table{}, err
	}
	return newTable("the iris data", []string{"sepal length", "sepal width", "petal length", "petal width", "class"}, lines(text))
}

// Retail returns 88,162 market baskets, each as the numbers of its items.
func (c Corpus) Retail() ([][]int, error) {
	text, err := c.unzipped("retail/retail.dat.gz")
	if err != nil {
		return nil, err
	}
	return itemLists("the retail data", text)
}

// AOL returns lists of items, such as the words that a user of AOL searched for, from
// aol/aol.dat.gz: one list per line. No archive publishes them any more, so there is no checksum,
// and the file is never verified. If the file does not exist, the error is fs.ErrNotExist.
func (c Corpus) AOL() ([][]int, error) {
	const path = "aol/aol.dat.gz"
	data, err := os.ReadFile(filepath.Join(c.dir, filepath.FromSlash(path)))
	if err != nil {
		return nil, fmt.Errorf("reading a data set: %w", err)
	}
	text, err := unzip(path, data)
	if err != nil {
		return nil, err
	}
	return itemLists("the AOL data", text)
}

// itemLists reads lists of numbers, one per line.
func itemLists(name string, text []byte) (out [][]int, err error) {
	for i, line := range lines(text) {
		var list []int
		for _, field := range strings.Fields(line) {
			item, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("reading %s: line %d: %w", name, i+1, err)
			}
			list = append(list, item)
		}
		out = append(out, list)
	}
	return out, nil
}

// SyntheticControl returns 600 control charts of 60 values, 100 of each of six classes in order:
// normal, cyclic, increasing, decreasing, upward shift, downward shift.
func (c Corpus) SyntheticControl() ([][]float64, error) {
	text, err := c.file("synthetic_control/synthetic_control.data")
	if err != nil {
		return nil, err
	}
	var out [][]float64
	for i, line := range lines(text) {
		var chart []float64
		for _, field := range strings.Fields(line) {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return nil, fmt.Errorf("reading the control charts: line %d: %w", i+1, err)
			}
			chart = append(chart, x)
		}
		out = append(out, chart)
	}
	return out, nil
}
