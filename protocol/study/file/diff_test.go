package file

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "testdata", "registry.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(before, before); len(d) != 0 {
		t.Errorf("a study differs from itself: %v", d)
	}
	commented, err := Parse([]byte("# a comment\n" + string(source)))
	if err != nil {
		t.Fatal(err)
	}
	if d := Diff(before, commented); len(d) != 0 || before.ID == commented.ID {
		t.Errorf("a comment counts: %v", d)
	}
	text := strings.Replace(string(source), "name: registry", "name: other", 1)
	after, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := Diff(before, after)
	if len(d) != 1 || d[0].Key != "name" || !strings.HasPrefix(d[0].Before, "registry") || !strings.HasPrefix(d[0].After, "other") {
		t.Errorf("%v", d)
	}
	for _, key := range []string{"columns[", "parties[", "sketches[columns].k", "privacy.epsilon"} {
		found := false
		for k := range leaves(before) {
			found = found || strings.HasPrefix(k, key)
		}
		if !found {
			t.Errorf("no key begins with %s", key)
		}
	}
}
