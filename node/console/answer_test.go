package console

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

var rewrite = flag.Bool("rewrite", false, "write golden files instead of comparing with them")

// Each testdata/NAME.json is a result document, and NAME.txt its text for people.
func TestWriteResult(t *testing.T) {
	for _, path := range documents(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			var out strings.Builder
			writeResult(&out, decode(t, path))
			golden := strings.TrimSuffix(path, ".json") + ".txt"
			if *rewrite {
				if err := os.WriteFile(golden, []byte(out.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("got\n%s\nwant\n%s", out.String(), want)
			}
		})
	}
}

func documents(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents in testdata (%v)", err)
	}
	return paths
}

func decode(t testing.TB, path string) analysis.Result {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r analysis.Result
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever an aggregator makes up, a party's terminal shows lines of printable text that fit, and
// the program survives.
func FuzzWriteResult(f *testing.F) {
	for _, path := range documents(f) {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw))
	}
	f.Add(`{"parties":[{"name":"\u001b[2J"}],"analyses":[{"kind":"a\u0007b","features":[{"column":"\u202e"}],"pairs":[{"i":-1,"j":9,"estimate":1}]}]}`)
	f.Add(`{"study":"\u00e9","analyses":[{"clusters":3,"sizes":[-1,0,9223372036854775807]}]}`)
	f.Fuzz(func(t *testing.T, document string) {
		var r analysis.Result
		if json.Unmarshal([]byte(document), &r) != nil {
			t.Skip()
		}
		var out strings.Builder
		writeResult(&out, r)
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > present.Width {
				t.Errorf("line of %d columns: %q", n, line)
			}
			for _, c := range line {
				if !unicode.IsPrint(c) {
					t.Fatalf("line %q has %q", line, c)
				}
			}
		}
	})
}

// Of a dense table a terminal shows the clearest pairs, and says how many others there are and
// where.
func TestDenseTableInATerminal(t *testing.T) {
	number := func(x float64) analysis.Number {
		low, high, width := x-0.1, x+0.1, 0.05
		return analysis.Number{Estimate: &x, StandardError: &width, Low: &low, High: &high}
	}
	a := analysis.Analysis{Kind: study.Correlation, Dense: &analysis.Dense{Pairs: 19_900, Fields: []string{"estimate", "standard_error", "low", "high"},
		Gist: analysis.Gist{Compared: 25_000_000, Clear: 1234, Undefined: 17}}}
	for i := range 200 {
		a.Features = append(a.Features, analysis.Feature{Party: []string{"north", "south"}[i%2], Column: fmt.Sprintf("c%d", i)})
	}
	for i := range 100 {
		a.Dense.Gist.Clearest = append(a.Dense.Gist.Clearest, analysis.Pair{I: i, J: i + 1, Number: number(1 - float64(i)/200)})
	}
	a.Dense.Parts = []analysis.Part{{SHA256: strings.Repeat("0a", 32), Bytes: a.Dense.Bytes()}}
	var out strings.Builder
	writeResult(&out, analysis.Result{Analyses: []analysis.Analysis{a}})
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"north: c0", "south: c19", "pairs of different parties' columns", "1234 of 25000000 pairs", "17 are undefined", "All 19900 pairs are in 657 kB"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(text, "c21") {
		t.Errorf("more than %d pairs are shown", 20)
	}
}

// What to read first comes first, what is no answer last, and a result without a finding says so in
// its first line.
func TestWhatIsToBeReadFirst(t *testing.T) {
	number := func(x, low, high float64) analysis.Number {
		width := (high - low) / 4
		return analysis.Number{Estimate: &x, StandardError: &width, Low: &low, High: &high}
	}
	a := analysis.Analysis{
		Kind: study.Correlation, Caution: "about 7 % of the records were longer than the clip: means and covariances are of the shortened data",
		Assumption: "that much; over all records", Assumptions: premise.List{premise.CutAsked, premise.NumbersOfUnion}, Level: 0.95,
		Features: []analysis.Feature{{Party: "a", Column: "x"}, {Party: "b", Column: "y"}, {Party: "c", Column: "z"}},
		Pairs:    []analysis.Pair{{I: 0, J: 1, Number: number(1, -1, 1)}, {I: 0, J: 2, Number: number(0.1, -0.3, 0.5)}, {I: 1, J: 2, Number: number(-0.9, -1, 0.5)}},
	}
	shown := func(r analysis.Result) string {
		var out strings.Builder
		writeResult(&out, r)
		return strings.Join(strings.Fields(out.String()), " ")
	}
	text := shown(analysis.Result{Name: "trial", Analyses: []analysis.Analysis{a}})
	at := 0
	for _, next := range []string{
		"trial (study ): Nothing here stands out of the noise. correlation: 0 of 3 pairs across parties clearly differ from 0. 0 of 0 parties",
		"CORRELATION: 0 of 3 pairs across parties",
		"CAUTION: About 7 % of the records were longer than the clip: means and covariances are of the shortened data.",
		"Nothing here stands out of the noise: 0 of 3 pairs across parties clearly differ from 0.",
		"95 % intervals, each by itself.", "It assumes that the question is about shortened records, as intervals may miss what whole records would give; a number is over all records of the union.",
		"b: y c: z -0.9", "a: x c: z 0.1", "a: x b: y no answer [-1.0, 1.0]",
	} {
		found := strings.Index(text[at:], next)
		if found < 0 {
			t.Fatalf("%q is not where it should be:\n%s", next, text)
		}
		at += found + len(next)
	}
	a.Pairs[1].Number, a.Caution = number(0.3, 0.2, 0.4), ""
	text = shown(analysis.Result{Name: "trial", Analyses: []analysis.Analysis{a}})
	if strings.Contains(text, "Nothing") || strings.Contains(text, "CAUTION") {
		t.Errorf("a finding is denied:\n%s", text)
	}
	if first, second := strings.Index(text, "a: x c: z 0.3"), strings.Index(text, "b: y c: z"); first < 0 || first > second {
		t.Errorf("what clearly differ from 0 does not come first:\n%s", text)
	}
}
