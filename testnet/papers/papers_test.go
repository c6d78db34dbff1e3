package papers

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/testnet/corpus"
)

// quick are tables that take no data and little time at so many repeats; 0: the default.
var quick = map[string]int{"kenthapadi-1": 0, "kenthapadi-2": 300, "kenthapadi-4": 0, "dhaliwal-3": 20, "dhaliwal-4": 100}

// TestTablesHold makes the tables: all of them, and with the data where they are, if
// COSKETCH_FULL is set. All randomness has fixed seeds.
func TestTablesHold(t *testing.T) {
	full := os.Getenv("COSKETCH_FULL") == "1"
	o := Options{Workers: runtime.GOMAXPROCS(0)}
	data, err := corpus.Open("", os.Getenv)
	switch {
	case err == nil:
		o.Corpus = &data
	case !errors.Is(err, corpus.ErrNone):
		t.Fatal(err)
	}
	for _, about := range About() {
		name := about[0]
		t.Run(name, func(t *testing.T) {
			o := o
			repeats, fast := quick[name]
			if o.Repeats = repeats; full {
				o.Repeats = 0
			}
			if !full && !fast {
				t.Skip("set COSKETCH_FULL=1")
			}
			table, err := Make(context.Background(), name, o)
			if err != nil {
				t.Fatal(err)
			}
			if table.Missing != "" {
				t.Skip(table.Missing)
			}
			if len(table.Lines) == 0 {
				t.Fatal("no lines")
			}
			var text strings.Builder
			if err := Text(&text, []Table{table}); err != nil {
				t.Fatal(err)
			}
			for _, l := range table.Lines {
				if len(l.Cells) != len(table.Columns) {
					t.Errorf("%d cells under %d columns: %v", len(l.Cells), len(table.Columns), l.Cells)
				}
			}
			if !table.Holds() {
				t.Errorf("off:\n%s", text.String())
			}
		})
	}
}

// TestWrongVarianceIsCaught: with claim 7 as printed for the theory of figure 3, no line
// holds.
func TestWrongVarianceIsCaught(t *testing.T) {
	table, err := distancesAgainst(context.Background(), Options{Repeats: 50, Workers: 1}, func(k int, r2, b float64) float64 {
		s2 := 2 * b * b
		return 2*r2*r2/float64(k) + 4*s2*r2 + 2*float64(k)*(7*s2*s2-s2)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range table.Lines {
		if l.Holds {
			t.Errorf("the printed variance passes: %v", l.Cells)
		}
	}
}

func TestRefused(t *testing.T) {
	if _, err := Make(context.Background(), "nothing", Options{}); err == nil || !strings.Contains(err.Error(), "liu-1") {
		t.Errorf("got %v", err)
	}
	table, err := Make(context.Background(), "liu-1", Options{})
	if err != nil || table.Missing == "" || !table.Holds() {
		t.Errorf("without data: %+v, %v", table, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Make(ctx, "dhaliwal-4", Options{Repeats: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestText(t *testing.T) {
	var out strings.Builder
	err := Text(&out, []Table{{
		Name: "a-1", Source: "somebody", Question: "Why?", Setting: "Here.", Columns: []string{"k", "a heading that is long"},
		Lines: []Line{{Cells: []string{"1", "2"}, Holds: true, Because: "it is"}, {Cells: []string{"10", "20"}, Because: "it is"}}, Notes: []string{"That is all."},
	}, {Name: "b-2", Source: "else", Missing: "no data"}})
	const want = `a-1 — somebody
  Why?
  Here.

      a heading that
   k         is long
   1               2   ok
  10              20  OFF

  ok: it is.
  That is all.


b-2 — else
  skipped: no data
`
	if err != nil || out.String() != want {
		t.Errorf("%v, got\n%s", err, out.String())
	}
}
