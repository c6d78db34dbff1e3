package protocoltest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the traces of testdata/*.txt")

// ruler separates a scenario from its trace.
const ruler = "----\n"

// Each file of testdata is a scenario and, after the ruler, its whole trace.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(text), ruler)
			got, err := PlayScript(script)
			if err != nil {
				t.Fatal(err)
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(script+ruler+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for i, line := range strings.Split(got, "\n") {
				if was := strings.Split(want, "\n"); i >= len(was) || line != was[i] {
					t.Fatalf("the trace differs at line %d (-rewrite accepts it):\n%s", i+1, line)
				}
			}
		})
	}
}

func TestScriptsThatMakeNoSense(t *testing.T) {
	for _, script := range []string{
		"", "run", "study parties=x", "study colour=1", "study quorum=9", "study\ndance a", "study\nrole a dancer",
		"study\nadvance noon", "study\napprove",
	} {
		if _, err := PlayScript(script); err == nil {
			t.Errorf("%q was played", script)
		}
	}
}
