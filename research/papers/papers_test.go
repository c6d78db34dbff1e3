package papers

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
)

// quick are tables that need no data and little time, with their repeats; 0: the default.
var quick = map[string]int{"kenthapadi-1": 0, "kenthapadi-2": 300, "kenthapadi-3": 400, "kenthapadi-4": 0, "kenthapadi-5": 1000, "liu-sections": 5, "dhaliwal-3": 20, "dhaliwal-4": 100}

// TestTablesHold makes the quick tables. All randomness has fixed seeds. TestDocumentIsGenerated
// makes all of them.
func TestTablesHold(t *testing.T) {
	for name, repeats := range quick {
		t.Run(name, func(t *testing.T) {
			table, err := Make(context.Background(), name, Options{Workers: runtime.GOMAXPROCS(0), Repeats: repeats})
			if err != nil {
				t.Fatal(err)
			}
			check(t, table)
		})
	}
}

// check fails if a line of the table does not hold.
func check(t *testing.T, table Table) {
	t.Helper()
	if len(table.Lines) == 0 {
		t.Fatalf("%s: no lines", table.Name)
	}
	for _, l := range table.Lines {
		if len(l.Cells) != len(table.Columns) {
			t.Errorf("%s: %d cells under %d columns: %v", table.Name, len(l.Cells), len(table.Columns), l.Cells)
		}
	}
	if !table.Holds() {
		var text strings.Builder
		if err := Text(&text, []Table{table}); err != nil {
			t.Fatal(err)
		}
		t.Errorf("off:\n%s", text.String())
	}
}

// Sums over Adult's two columns, which the distribution of their errors depends on.
const (
	adultXX, adultYY, adultXY = 4.76537842972074e14, 1080304., 1.9062032061e10
)

// TestPublishedMeans checks that each of the ten published means of 20 runs lies in the central 95
// % of such means, by the distribution of the errors. With errors a third smaller or half larger,
// some do not.
func TestPublishedMeans(t *testing.T) {
	misses := map[float64]int{}
	for _, table := range []liuTable{tableOne, tableTwo} {
		for k, published := range table.published {
			law := table.law(adultXX, adultYY, adultXY, k, lawRuns)
			twenty := means(law, publishedRuns, 4000, source("test", k))
			low, high := quantile(twenty, 0.025), quantile(twenty, 0.975)
			for _, factor := range []float64{1, 0.67, 1.5} {
				if published < low*factor || published > high*factor {
					misses[factor]++
				}
			}
		}
	}
	if misses[1] > 0 || misses[0.67] == 0 || misses[1.5] == 0 {
		t.Errorf("published means outside of the range, by factor on it: %v", misses)
	}
}

// TestBlobs checks that without noise 2-means assigns .977 ± .003 of Dhaliwal's records correctly.
// In the setting of the last column at k = 100 the paper's mechanism assigns about .52 and ours
// above .87, each over 60 draws of R.
func TestBlobs(t *testing.T) {
	const d = 100
	o := Options{Repeats: 60, Workers: runtime.GOMAXPROCS(0)}
	for _, mode := range blobModes(d, d, 0, 0, 0) {
		if mode.name == "row" {
			continue
		}
		got, err := mode.accuracies(context.Background(), o, d)
		if err != nil {
			t.Fatal(err)
		}
		if mode.name == "none" {
			if math.Abs(mean(got)-0.977) > 0.003 {
				t.Errorf("without noise %.4f, want .977", mean(got))
			}
			continue
		}
		if want, holds := claimAtHundred(mode.name, mean(got)); !holds || want == "" {
			t.Errorf("%s: %.3f, want %s", mode.name, mean(got), want)
		}
	}
}

// TestWrongVarianceIsCaught checks that no line holds if figure 3 is compared with claim 7 as
// printed.
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
