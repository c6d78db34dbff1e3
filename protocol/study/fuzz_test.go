package study_test

import (
	"strings"
	"testing"

	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// FuzzParse checks that no file makes Parse panic and that refusals name a place in the file. A
// file that parses means the same with a comment after it, and can be explained to every party on a
// page.
func FuzzParse(f *testing.F) {
	seeds := 0
	add := func(source string) { f.Add([]byte(source)); seeds++ }
	for _, name := range []string{"laboratories", "registry", "hospitals", "clinics", "wards", "infirmaries", "practices"} {
		add(file(f, name))
	}
	for _, r := range refusals {
		add(strings.Replace(file(f, r.base), r.old, r.new, 1))
	}
	add(strings.ReplaceAll(strings.ReplaceAll(file(f, "registry"), "{", "\n      {"), "}", "}  # x"))
	add(strings.Replace(file(f, "wards"), "sketches:", "sketches:\n  - {side: counts, tables: [{of: [{column: mean radius, bins: 3}, {column: mean area, edges: [500]}]}, {of: [{column: mean texture}], depth: 4}]}", 1))
	if seeds < 100 {
		f.Fatalf("%d seeds", seeds)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		s, err := studyfile.Parse(source)
		if err != nil {
			if s != nil || err.Error() == "" {
				t.Fatalf("%v, %v", s, err)
			}
			return
		}
		again, err := studyfile.Parse(append(append([]byte(nil), source...), "\n# the end\n"...))
		if err != nil {
			t.Fatalf("refused with a comment after it: %v", err)
		}
		if again.Meaning != s.Meaning || again.ID == s.ID {
			t.Fatal("a comment changed the meaning, or did not change the id")
		}
		for party := range s.Parties {
			checkPage(t, explained(s, party))
			for i := range s.Sketches {
				if len(s.Features(party, i)) == 0 {
					t.Fatal("a party without features")
				}
			}
		}
	})
}
