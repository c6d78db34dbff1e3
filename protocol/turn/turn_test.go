package turn_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/turn"
)

// The table in SPEC.md equals the table that drives the state machines, cell by cell.
func TestTurnsAreThoseOfTheSpecification(t *testing.T) {
	var want strings.Builder
	want.WriteString("| kind | by |")
	phases := turn.Phases()
	for _, phase := range phases {
		fmt.Fprintf(&want, " %s |", phase)
	}
	fmt.Fprintf(&want, " if |\n%s\n", strings.Repeat("|---", len(phases)+3)+"|")
	kinds := map[protocol.Kind]bool{}
	for _, row := range turn.Rows() {
		fmt.Fprintf(&want, "| `%s` | %s |", row.Kind, row.Who)
		for _, turn := range row.In {
			fmt.Fprintf(&want, " %s |", turn)
		}
		fmt.Fprintf(&want, " %s |\n", row.If)
		kinds[row.Kind] = true
		if !row.Kind.Known() || row.Kind.FromAggregator() != (row.Who == "the aggregator") {
			t.Errorf("%s by %s", row.Kind, row.Who)
		}
	}
	if len(kinds) != 19 || len(kinds) != len(turn.Rows()) {
		t.Errorf("the table has %d kinds in %d rows", len(kinds), len(turn.Rows()))
	}
	text, err := os.ReadFile("../SPEC.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), want.String()) {
		t.Errorf("SPEC.md lacks the table of turns:\n%s", &want)
	}
}
