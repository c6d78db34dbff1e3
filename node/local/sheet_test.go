package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// sheetOf makes the sheet of an example's first party, with additional keys.
func sheetOf(t *testing.T, name, more string) local.Sheet {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("../../protocol/study/testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Parse([]byte(strings.Replace(string(source), "deadline:", more+"deadline:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := local.NewSheet(local.SheetOptions{Study: s, Party: 0})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func said(s local.Sheet, key local.SheetKey) string {
	for _, row := range s.Rows {
		if row.Key == key {
			return strings.Join(row.Says, " ")
		}
	}
	return ""
}

// The promise on a sheet depends on the study's mechanism, unit and neighbours.
func TestSheetSaysWhatIsPromised(t *testing.T) {
	for name, want := range map[string]map[local.SheetKey]string{
		"registry":     {local.SheetProtection: "whether one person's values were used, or replaced by zeros, and is right at most 74 times in 100;", local.SheetStrength: "Strong: ε = 1, δ = 1e-06."},
		"clinics":      {local.SheetProtection: "right practically 100 times in 100;", local.SheetStrength: "Weak: ε = 8"},
		"patients":     {local.SheetProtection: "which of two values one person has in one column, and is right at most 99 times in 100; 50 is pure chance. For all columns and all parties together: practically 100 times in 100.", local.SheetStrength: "Usual: ε = 4."},
		"hospitals":    {local.SheetUnprotected: "Whose records we hold"},
		"laboratories": {local.SheetProtection: "It is not: the study adds no noise.", local.SheetStrength: "No: there is no protection", local.SheetLeaves: "WITHOUT NOISE"},
		"wards":        {local.SheetLeaves: "sums over all our records, with noise"},
		"infirmaries":  {local.SheetProtection: "sees only the sum of all parties, unless more than"},
	} {
		sheet := sheetOf(t, name, "")
		for key, text := range want {
			if got := said(sheet, key); !strings.Contains(got, text) {
				t.Errorf("%s, %s: %q lacks %q", name, key, got, text)
			}
		}
		if got := said(sheet, local.SheetKept); !strings.Contains(got, "does not say") {
			t.Errorf("%s says how long sketches are kept: %q", name, got)
		}
	}
}

// Text written by people is shown verbatim.
func TestSheetSaysWhatPeopleWrote(t *testing.T) {
	sheet := sheetOf(t, "registry", "purpose: \"Für die Förderung; αβγ, Łódź\"\nrecipients: [\"Land Köln\"]\nkeep_until: 2030-01-01T00:00:00Z\n")
	for key, text := range map[local.SheetKey]string{
		local.SheetPurpose: "Für die Förderung; αβγ, Łódź", local.SheetRecipients: "as the study says: Land Köln.", local.SheetKept: "Sketches until 1 Jan 2030, 00:00 UTC;",
	} {
		if got := said(sheet, key); !strings.Contains(got, text) {
			t.Errorf("%s: %q lacks %q", key, got, text)
		}
	}
	if sheet.Purpose == "" || sheet.Party == "" || len(said(sheet, local.SheetSpent)) == 0 {
		t.Errorf("%+v", sheet)
	}
}

// Without a party, a sheet is for everybody and does not mention a budget.
func TestSheetForEverybody(t *testing.T) {
	source, err := os.ReadFile("../../protocol/study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	sheet, err := local.NewSheet(local.SheetOptions{Study: s, Party: study.Everyone, Worth: make([]string, 11)})
	if err != nil {
		t.Fatal(err)
	}
	if said(sheet, local.SheetSpent) != "" || !strings.HasSuffix(said(sheet, local.SheetWorth), "And 3 more, by party study plan.") {
		t.Errorf("%+v", sheet.Rows)
	}
}
