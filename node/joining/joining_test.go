package joining

import (
	"errors"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/study"
)

// Names decide before kinds, and ambiguous columns are left to the steward.
func TestProposal(t *testing.T) {
	num := func(names ...string) (out []Held) {
		for _, name := range names {
			out = append(out, Held{Name: name, Kind: dataset.KindNumeric})
		}
		return out
	}
	wants := func(names ...string) (out []Wanted) {
		for _, name := range names {
			out = append(out, Wanted{name, study.Numeric})
		}
		return out
	}
	for name, c := range map[string]struct {
		wanted  []Wanted
		held    []Held
		earlier map[string]string
		headers []string
		why     []Why
	}{
		"spelling":   {wants("groesse", "HbA1c", "bmi"), num("Größe (cm)", "HBA1C_Wert", "BMI"), nil, []string{"Größe (cm)", "HBA1C_Wert", "BMI"}, []Why{Alike, Part, Alike}},
		"remembered": {wants("height", "x"), num("KG", "HT", "x"), map[string]string{"height": "HT"}, []string{"HT", "x"}, []Why{Remembered, Same}},
		"the last":   {wants("age", "weight"), num("age", "V17"), nil, []string{"age", "V17"}, []Why{Same, OnlyOne}},
		"unclear":    {wants("weight"), num("V17", "V18"), nil, []string{""}, []Why{None}},
		"two alike":  {wants("weight"), num("Weight", "WEIGHT", "z"), nil, []string{""}, []Why{None}},
		"a typo":     {wants("cholesterol", "y"), num("cholestrol", "y"), nil, []string{"cholestrol", "y"}, []Why{Near, Same}},
		"kinds": {append(wants("cost"), Wanted{"ward", study.Categorical}), []Held{{Name: "Station", Kind: dataset.KindCategorical}, {Name: "EUR", Kind: dataset.KindNumeric}, {Name: "note", Kind: dataset.KindText}}, nil,
			[]string{"EUR", "Station"}, []Why{OnlyOne, OnlyOne}},
		"made":      {wants("Größe_cm", "Größe_m"), []Held{{"Größe (cm)", dataset.KindNumeric, "Größe_cm"}, {"Größe (m)", dataset.KindNumeric, "Größe_m"}}, nil, []string{"Größe (cm)", "Größe (m)"}, []Why{Made, Made}},
		"once each": {wants("a", "b"), num("a"), nil, []string{"a", ""}, []Why{Same, None}},
	} {
		got := Proposal(c.wanted, c.held, c.earlier)
		for i, m := range got {
			if m.Header != c.headers[i] || m.Why != c.why[i] {
				t.Errorf("%s: %s is %+v, want %q (%s)", name, c.wanted[i].Name, m, c.headers[i], c.why[i])
			}
		}
	}
}

// A script returns its lines, then accepts proposals. It names at once what it lacks, and does not
// repeat a wrong answer.
func TestScript(t *testing.T) {
	s := NewScript("answers.yaml", map[ID][]string{Data: {"a.csv"}, Use: {"--column x=y", Proposed}})
	var missing *MissingError
	if err := s.Ready(Data, Introduce, Approve); !errors.As(err, &missing) || !slices.Equal(missing.IDs, []ID{Introduce, Approve}) {
		t.Errorf("%v", err)
	}
	var taken []string
	take := func(line string) error {
		if taken = append(taken, line); line == "a.csv" {
			return errors.New("no such file")
		}
		return nil
	}
	q := Question{ID: Use, Proposed: "all of it"}
	for range 3 {
		if err := Ask(t.Context(), s, q, take); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"--column x=y", "", ""}; !slices.Equal(taken, want) {
		t.Errorf("%q, want %q", taken, want)
	}
	if err := Ask(t.Context(), s, Question{ID: Data, Proposed: "b.csv"}, take); err == nil || err.Error() != "answer data of answers.yaml: no such file" {
		t.Errorf("%v", err)
	}
	if err := Ask(t.Context(), s, Question{ID: Use, Open: "y has no column"}, take); err == nil || err.Error() != "answer use of answers.yaml: not decided yet: y has no column" {
		t.Errorf("%v", err)
	}
	if err := Ask(t.Context(), s, Question{ID: Approve}, take); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}
