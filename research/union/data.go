package union

import (
	"math"

	"github.com/cosketch/cosketch/testnet/corpus"
)

// typical is a numeric column with a typical centre and spread; without a spread it is 0 or 1.
type typical struct {
	name           string
	centre, spread float64
}

// heartColumns are the columns that all four hospitals recorded. Others are left out, such as
// cholesterol, which one hospital recorded as 0.
var heartColumns = []typical{
	{"age", 54, 9}, {"sex", 0, 0}, {"cp", 3, 1}, {"trestbps", 130, 18}, {"thalach", 140, 25}, {"exang", 0, 0}, {"oldpeak", 0.9, 1.1},
}

// diabetesColumns are the counts of an admission.
var diabetesColumns = []typical{
	{"time_in_hospital", 4.4, 3}, {"num_lab_procedures", 43, 20}, {"num_procedures", 1.3, 1.7}, {"num_medications", 16, 8},
	{"number_outpatient", 0.4, 1.3}, {"number_emergency", 0.2, 0.9}, {"number_inpatient", 0.6, 1.3}, {"number_diagnoses", 7.4, 1.9},
}

func columnsOf(all []typical) (out []Column) {
	for _, c := range all {
		at := Range{Centre: c.centre, Spread: c.spread}
		if c.spread == 0 {
			at = Range{Lo: 0, Hi: 1}
		}
		out = append(out, Column{Name: c.name, Range: at})
	}
	return out
}

// numbers returns columns of a table. Missing values are replaced by the centre, as in studies.
func numbers(t corpus.Table, all []typical) ([][]float64, error) {
	out := make([][]float64, len(t.Rows))
	for _, c := range all {
		values, err := t.Values(c.name)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			if math.IsNaN(v) {
				if v = c.centre; c.spread == 0 {
					v = 0.5
				}
			}
			out[i] = append(out[i], v)
		}
	}
	return out, nil
}

// Heart returns the patients of four real hospitals, one party each; the known grouping is whether
// a patient has heart disease.
func Heart(data corpus.Corpus) (Pooled, error) {
	p := Pooled{Name: "heart disease, four real hospitals", Columns: columnsOf(heartColumns)}
	hospitals, err := data.Heart()
	if err != nil {
		return p, err
	}
	for _, h := range hospitals {
		records, err := numbers(h.Table, heartColumns)
		if err != nil {
			return p, err
		}
		disease, err := h.Numbers("num")
		if err != nil {
			return p, err
		}
		var own []int
		for i, r := range records {
			own = append(own, len(p.Records))
			p.Records, p.Known = append(p.Records, r), append(p.Known, int(min(disease[i], 1)))
		}
		p.Parties = append(p.Parties, own)
	}
	return p, nil
}

// Diabetes returns 101,766 admissions to 130 hospitals, with eight counts. Most are skewed, and
// their clusters depend on the scaling: those of columns in [0, 1], which three columns separate,
// hardly match those of columns scaled by their spreads. Bounded uses the bounds of the counts in
// the data's code book instead of typical values.
func Diabetes(data corpus.Corpus, bounded bool) (Pooled, error) {
	p := Pooled{Name: "diabetes, 130 hospitals, typical centres", Columns: columnsOf(diabetesColumns)}
	table, err := data.Diabetes130()
	if err != nil {
		return p, err
	}
	if p.Records, err = numbers(table, diabetesColumns); err != nil || !bounded {
		return p, err
	}
	var names []string
	for _, c := range diabetesColumns {
		names = append(names, c.name)
	}
	p.Name, p.Columns = "diabetes, 130 hospitals, bounds", Bounded(names, p.Records)
	return p, nil
}
