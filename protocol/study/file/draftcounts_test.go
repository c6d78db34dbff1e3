package file

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// Drafts have a counts sketch for analyses that need tables: alone, or with a share beside sums.
func TestDraftsCount(t *testing.T) {
	base := registry(t)
	columns := []DraftColumn{
		{Name: "age", Kind: study.Numeric, Terms: []DraftTerm{{"bounds", "[0, 100]"}}},
		{Name: "ward", Kind: study.Categorical, Terms: []DraftTerm{{"values", "[a, b]"}}},
	}
	for _, c := range []struct {
		asked []string
		lines string
	}{
		{[]string{"table"}, "sketches:\n  - {side: counts, tables: [{of: [{column: age, bins: 10}]}, {of: [{column: ward}]}]}\n"},
		{[]string{"{kind: table, tables: [[ward, age]]}"}, "sketches:\n  - {side: counts, tables: [{of: [{column: ward}, {column: age, bins: 10}]}]}\n"},
		{[]string{"quantile", "{kind: table, tables: [[ward]]}"}, "sketches:\n  - {side: counts, tables: [{of: [{column: age}], depth: 10}, {of: [{column: ward}]}]}\n"},
		{[]string{"mean", "{kind: table, tables: [[ward]]}"}, "standardise: own}\n  - {side: counts, tables: [{of: [{column: ward}]}], share: 1}\n"},
		{[]string{"{kind: k-means, clusters: 2}", "{kind: table, tables: [[ward]]}"}, ", share: 3}\n  - {side: counts, tables: [{of: [{column: ward}]}], share: 4}\n"},
	} {
		d := Draft{Rounds: 1, Name: "draft", Nonce: [16]byte{1}, Partition: study.Horizontal, Expires: 1_900_000_000, Deadline: 1_900_086_400, Records: []string{"id"}, Analyses: c.asked,
			Aggregator: DraftAggregator{ID: base.Aggregator.ID, HPKE: base64.StdEncoding.EncodeToString(base.Aggregator.HPKE), Addrs: base.Aggregator.Addrs}}
		for _, p := range base.Parties {
			d.Parties = append(d.Parties, DraftParty{Name: p.Name, ID: p.ID, Columns: columns})
		}
		text, open, err := d.Text()
		if err != nil || len(open) > 0 || !strings.Contains(text, c.lines) || !strings.Contains(text, "missing: count}") {
			t.Errorf("%v: %v, %v, without\n%s:\n%s", c.asked, open, err, c.lines, text)
			continue
		}
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%v: %v", c.asked, err)
		}
	}
}
