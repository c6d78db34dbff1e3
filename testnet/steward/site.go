package steward

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/networks"
)

// DataFile is the name of a party's data file in its own directory.
const DataFile = "data.csv"

// Terms are what every steward of a network decides alone.
type Terms struct {
	Studies int  // the number of such studies that the data's budget pays for; default: 1
	Ask     bool // hold sketches until the steward releases them
}

// SiteFile returns a party's site file before any study: its data and their budget.
func SiteFile(t networks.Template, s *study.Study, terms Terms) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "datasets:\n  %s:\n    source: %s\n    id: [%s]\n", t.Data, DataFile, strings.Join(s.Records.ID, ", "))
	if p := s.Privacy; p.Mechanism != dp.None {
		times := float64(max(terms.Studies, 1))
		fmt.Fprintf(&out, "    caps: {%s: {epsilon: %s", p.Unit, networks.Decimal(times*float64(p.Epsilon)))
		if p.Delta > 0 {
			fmt.Fprintf(&out, ", delta: %s", networks.Decimal(times*float64(p.Delta)))
		}
		out.WriteString("}}\n")
	}
	out.WriteString("studies:\n")
	return []byte(out.String())
}

// line returns a study's entry, to be appended to a site file.
func line(t networks.Template, s *study.Study, terms Terms) string {
	release := "auto"
	if terms.Ask {
		release = "ask"
	}
	return fmt.Sprintf("  %q: {dataset: %s, accept_reconstruction: %t, release: %s}\n", s.ID.String(), t.Data, t.AcceptReconstruction, release)
}
