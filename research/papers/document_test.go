package papers

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/network"
)

// docs is the folder of the committed document.
const docs = "../docs"

// section returns the document's section about a table.
func section(t *testing.T, document, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(document, "\n## "+name+"\n")
	if !found {
		t.Errorf("no section %s", name)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	return text
}

// TestDocumentIsWhole checks that every table has its section, with results of nodes if it has a
// study, that every figure is shown, and that no table is off.
func TestDocumentIsWhole(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(docs, Document))
	if err != nil {
		t.Fatal(err)
	}
	document := string(content)
	for _, about := range About() {
		text := section(t, document, about[0])
		if !strings.Contains(text, about[1]) || !strings.Contains(text, "| ok |") || strings.Contains(text, "| OFF |") {
			t.Errorf("section %s lacks its title or its lines, or is off", about[0])
		}
		if played := !slices.Contains(unplayed, about[0]); played != strings.Contains(text, "On running nodes") {
			t.Errorf("section %s: a study on nodes is expected: %t", about[0], played)
		}
	}
	shown := map[string]bool{}
	for _, m := range regexp.MustCompile(`\]\(papers/([a-z0-9-]+\.svg)\)`).FindAllStringSubmatch(document, -1) {
		shown[m[1]] = true
	}
	files, err := filepath.Glob(filepath.Join(docs, Folder, "*.svg"))
	if err != nil || len(files) < 15 {
		t.Fatalf("%d figures, %v", len(files), err)
	}
	for _, file := range files {
		if !shown[filepath.Base(file)] {
			t.Errorf("%s is in no section", file)
		}
		delete(shown, filepath.Base(file))
	}
	if len(shown) > 0 {
		t.Errorf("figures that are not there: %v", slices.Collect(maps.Keys(shown)))
	}
}

// unplayed are tables without a study. Studies of other tables show the formulas of kenthapadi-3,
// kenthapadi-5 and dppro-2.
var unplayed = []string{"kenthapadi-3", "kenthapadi-5", "dppro-2"}

// TestDocumentIsGenerated regenerates some sections from the recorded studies, and compares them
// with the committed document. With COSKETCH_FULL and the data it regenerates all files. Last
// digits may differ on other architectures.
func TestDocumentIsGenerated(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the document was made on amd64")
	}
	drawn, err := ReadStudies(docs)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Drawn: drawn, Workers: runtime.GOMAXPROCS(0)}
	if !full.Asked() {
		content, err := os.ReadFile(filepath.Join(docs, Document))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"kenthapadi-1", "kenthapadi-4"} {
			table, err := Make(context.Background(), name, o)
			if err != nil {
				t.Fatal(err)
			}
			if want := section(t, string(document([]Table{table})), name); want != section(t, string(content), name) {
				t.Errorf("section %s is not what research papers generates:\n%s", name, want)
			}
		}
		return
	}
	data, err := corpus.Open("", os.Getenv)
	if errors.Is(err, corpus.ErrNone) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	o.Corpus = &data
	var tables []Table
	for _, about := range About() {
		table, err := Make(context.Background(), about[0], o)
		if err != nil {
			t.Fatal(err)
		}
		check(t, table)
		tables = append(tables, table)
	}
	files, err := Files(tables, drawn)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what research papers generates: %v", name, err)
		}
	}
}

// TestPlayed plays the studies that need no data, with a real seed and real noise, and compares
// their numbers with draws in this process. A correct play fails with probability about 1e-6.
func TestPlayed(t *testing.T) {
	full.Only(t, "builds and starts nodes")
	dir := t.TempDir()
	if err := network.Build(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	nodes := Built(dir)
	o := Options{Player: nodes, Drawn: map[string][]Drawn{}, Workers: runtime.GOMAXPROCS(0)}
	for _, name := range []string{"kenthapadi-1", "kenthapadi-2", "kenthapadi-4", "liu-sections", "dhaliwal-3", "dhaliwal-4"} {
		o.Repeats = quick[name]
		table, err := Make(context.Background(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		if check(t, table); len(table.Played) == 0 {
			t.Errorf("%s: nothing was played", name)
		}
	}
}

// failing is a network that plays nothing.
type failing struct{}

func (failing) Play(context.Context, Study) (Outcome, error) {
	return Outcome{}, errors.New("no network")
}

// TestPlayedIsHeld checks that a recorded study is not played again, that a number far off fails
// its table, and that Make returns an error of the network.
func TestPlayedIsHeld(t *testing.T) {
	drawn := map[string][]Drawn{"kenthapadi-noise": {{What: "σ", Value: 1.88}}}
	table, err := Make(context.Background(), "kenthapadi-1", Options{Player: failing{}, Drawn: drawn})
	if err != nil || !table.Holds() || len(table.Played) != 1 {
		t.Errorf("recorded: %v, %+v", err, table.Played)
	}
	drawn["kenthapadi-noise"][0].Value = 1.88 * 1.1 // a tenth too much noise
	if table, err = Make(context.Background(), "kenthapadi-1", Options{Drawn: drawn}); err != nil || table.Holds() {
		t.Errorf("too much noise holds: %v", err)
	}
	if _, err := Make(context.Background(), "kenthapadi-1", Options{Player: failing{}}); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("a failing network: %v", err)
	}
}
