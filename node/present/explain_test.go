package present_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// Explanations equal the files beside the studies.
func TestExplanations(t *testing.T) {
	paths, err := filepath.Glob("../../protocol/study/testdata/*.explain.txt")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%d explanations found (%v)", len(paths), err)
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(strings.TrimSuffix(path, ".explain.txt") + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		s, err := file.Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		same := false
		for party := range s.Parties {
			var out strings.Builder
			present.Text(&out, s.Explain(party))
			same = same || out.String() == string(want)
		}
		if !same {
			t.Errorf("%s is what no party reads", path)
		}
	}
}
