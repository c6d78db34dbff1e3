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

// An assessment claims noise and masks only if there are any, names only the columns of its party,
// and asks for what only the organisation knows.
func TestAssessmentsAreFilledInByTheStudy(t *testing.T) {
	for name, want := range map[string]struct{ says, not []string }{
		"registry":     {[]string{"right at most 74 times in 100", "A ledger debits", "Legal basis: TO FILL IN"}, []string{"income", "systolic", "Masks hide"}},
		"infirmaries":  {[]string{"Masks hide each party's sums"}, nil},
		"laboratories": {[]string{"the study adds no noise", "there is no noise: they compute values"}, []string{"A ledger debits", "then the noise alone protects"}},
	} {
		source, err := os.ReadFile(filepath.Join("../../protocol/study/testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := file.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, party := range []int{0, study.Everyone} {
			a, err := local.NewAssessment(local.SheetOptions{Study: s, Party: party})
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, part := range a.Parts {
				for _, item := range part.Items {
					text.WriteString(item.Name + ": " + strings.Join(item.Says, " "))
					if item.Open != "" {
						text.WriteString("TO FILL IN: " + item.Open)
					}
					text.WriteString("\n")
				}
			}
			for _, w := range want.says {
				if !strings.Contains(text.String(), w) {
					t.Errorf("%s for %d does not say %q:\n%s", name, party, w, text.String())
				}
			}
			for _, w := range want.not {
				if party == 0 && strings.Contains(text.String(), w) {
					t.Errorf("%s says %q", name, w)
				}
			}
			if len(a.Parts) != 5 || len(a.Blocks()) != 11 || strings.Count(text.String(), "TO FILL IN") < 15 {
				t.Errorf("%s has %d parts and %d blocks", name, len(a.Parts), len(a.Blocks()))
			}
		}
	}
}
