package docs_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// peopleParties are the parties of head, with their ids.
var peopleParties = []string{
	"12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5",
	"12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq",
	"12D3KooWJvMgpmgDGzBXzzVmHHsrxhTr8stGFWqVBDAkYE9pf6dw",
}

// peopleAsked are the questions of the table; each is the only one of a drafted study.
var peopleAsked = []struct {
	partition study.Partition
	ask, says string
}{
	{study.Horizontal, "mean", "a mean, in spreads"},
	{study.Horizontal, "correlation", "a correlation"},
	{study.Horizontal, "{kind: regression, target: a}", "a regression's coefficient, in spreads"},
	{study.Horizontal, "{kind: k-means, clusters: 3}", "sizes of three clusters, a share"},
	{study.Vertical, "correlation", "a correlation"},
	{study.Vertical, "intersection", "shared records, a share"},
}

var (
	peopleRecords  = []int64{300, 1_000, 3_000, 10_000, 100_000}
	peopleEpsilons = []string{"0.5", "1", "2"}
)

// peoplePlan returns the plan of a study that aggregator study draft would draft for parties of so
// many records each.
func peoplePlan(t *testing.T, partition study.Partition, ask, epsilon string, records int64) plan.Choice {
	t.Helper()
	ids := make([]protocol.PeerID, len(peopleParties))
	for i, text := range peopleParties {
		var err error
		if ids[i], err = protocol.ParsePeerID(text); err != nil {
			t.Fatal(err)
		}
	}
	of := func(names ...string) (out []studyfile.DraftColumn) {
		for _, name := range names {
			out = append(out, studyfile.DraftColumn{Name: name, Kind: study.Numeric, Terms: []studyfile.DraftTerm{{Key: "centre", Value: "50"}, {Key: "spread", Value: "10"}}, Source: "public"})
		}
		return out
	}
	parties := []studyfile.DraftParty{
		{Name: "north", ID: ids[0], Records: records, Columns: of("a", "b", "c")},
		{Name: "south", ID: ids[1], Records: records, Columns: of("d", "e", "f")},
	}
	if partition == study.Horizontal {
		parties = append(parties, studyfile.DraftParty{Name: "west", ID: ids[2], Records: records})
		for i := range parties {
			parties[i].Columns = of("a", "b", "c", "d", "e", "f")
		}
	}
	aggregator, err := protocol.ParsePeerID("12D3KooWCmBiXQRKqTPiQFZ7YKCxvewPEqWaUyGgemowB5mpeUBC")
	if err != nil {
		t.Fatal(err)
	}
	draft := studyfile.Draft{
		Name: "people", Nonce: [16]byte{1}, Aggregator: studyfile.DraftAggregator{ID: aggregator, HPKE: hpkeKey(t), Addrs: []string{"/dns4/agg.example.org/tcp/7424"}},
		Parties: parties, Partition: partition, Expires: 1_800_000_000, Deadline: 1_800_100_000, Records: []string{"id"}, Analyses: []string{ask}, Epsilon: epsilon,
	}
	text, _, err := draft.Text()
	if err != nil {
		t.Fatal(err)
	}
	s, err := studyfile.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, err := plan.Make(plan.Options{Study: s, Party: study.Everyone})
	if err != nil {
		t.Fatal(err)
	}
	for _, sketch := range p.Sketches {
		for _, a := range sketch.Analyses {
			return a.Chosen
		}
	}
	t.Fatalf("%s is not planned", ask)
	return plan.Choice{}
}

// The table in study.md is between these lines.
const peopleFrom, peopleTo = "<!-- people: made by go test ./docs -run People -update -->\n", "<!-- end of people -->\n"

// people returns the table: errors of answers by number of people and ε.
func people(t *testing.T) string {
	t.Helper()
	cells := make([][]string, len(peopleAsked)*len(peopleEpsilons))
	var all sync.WaitGroup
	for i, q := range peopleAsked {
		for j, epsilon := range peopleEpsilons {
			all.Go(func() {
				for _, n := range peopleRecords {
					choice, cell := peoplePlan(t, q.partition, q.ask, epsilon, n), "–"
					if choice.Usable {
						cell = "± " + plain(choice.HalfWidth)
					}
					cells[i*len(peopleEpsilons)+j] = append(cells[i*len(peopleEpsilons)+j], cell)
				}
			})
		}
	}
	all.Wait()
	var b strings.Builder
	b.WriteString("| partition | question | ε |")
	for _, n := range peopleRecords {
		text := strconv.FormatInt(n, 10)
		if n >= 1000 {
			text = text[:len(text)-3] + "," + text[len(text)-3:]
		}
		fmt.Fprintf(&b, " %s |", text)
	}
	b.WriteString("\n|---|---|--:|" + strings.Repeat("--:|", len(peopleRecords)) + "\n")
	for i, row := range cells {
		q := peopleAsked[i/len(peopleEpsilons)]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", q.partition, q.says, peopleEpsilons[i%len(peopleEpsilons)], strings.Join(row, " | "))
	}
	return b.String()
}

// plain formats a number with two significant digits, rounded up.
func plain(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-1)
	return strconv.FormatFloat(math.Ceil(x/unit-1e-6)*unit, 'g', 2, 64)
}

// study.md says how many people a question needs, according to current plans.
func TestPeople(t *testing.T) {
	if testing.Short() {
		t.Skip("plans a hundred studies")
	}
	text, err := os.ReadFile("study.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), peopleFrom)
	old, after, ends := strings.Cut(rest, peopleTo)
	if !found || !ends {
		t.Fatal("study.md has no place for the table of people")
	}
	table := people(t)
	if strings.Count(table, "±") < 20 || strings.Count(table, "–") < 10 {
		t.Errorf("the table is\n%s", table)
	}
	if *update {
		if err := os.WriteFile("study.md", []byte(before+peopleFrom+table+peopleTo+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != table {
		t.Error("the table of study.md is not what plans say: go test ./docs -run People -update")
	}
}
