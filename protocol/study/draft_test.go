package study

import (
	"encoding/base64"
	"errors"
	"os"
	"strings"
	"testing"
)

// A draft whose columns leave nothing open is a study, for every kind of analysis that has
// one in its partition, and of the promises it takes the strongest that answers.
func TestDraftsAreStudies(t *testing.T) {
	source, err := os.ReadFile("testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	base, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) DraftColumn {
		return DraftColumn{Name: name, Kind: Numeric, Terms: []DraftTerm{{"bounds", "[0, 10]"}}, Source: "code book"}
	}
	draft := func(partition Partition, analyses ...string) Draft {
		d := Draft{Name: "draft", Nonce: [16]byte{1}, Partition: partition, Expires: 1_900_000_000, Deadline: 1_900_086_400,
			Records: []string{"id"}, Analyses: analyses,
			Aggregator: DraftAggregator{ID: base.Aggregator.ID, HPKE: base64.StdEncoding.EncodeToString(base.Aggregator.HPKE), Addrs: base.Aggregator.Addrs}}
		for i, p := range base.Parties {
			columns := []DraftColumn{column("x"), column("y")}
			if partition == Vertical {
				columns = []DraftColumn{column("x" + string(rune('a'+i))), column("y" + string(rune('a'+i)))}
			}
			d.Parties = append(d.Parties, DraftParty{Name: p.Name, ID: p.ID, Columns: columns})
		}
		return d
	}
	answered := 0
	for _, partition := range []Partition{Vertical, Horizontal} {
		for _, k := range kinds() {
			asked := string(k.name)
			switch k.name {
			case KMeans:
				asked = "{kind: k-means, clusters: 2}"
			case Regression:
				asked = "{kind: regression, target: x}"
				if partition == Vertical {
					asked = "{kind: regression, target: xa}"
				}
			}
			text, open, err := draft(partition, asked).Text()
			if errors.Is(err, ErrNoSketch) {
				continue
			}
			if err != nil || len(open) != 0 {
				t.Errorf("%s, %s: open %q, %v", partition, k.name, open, err)
				continue
			}
			s, err := Parse([]byte(text))
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", partition, k.name, err, text)
				continue
			}
			if s.Partition != partition || len(s.Parties) != len(base.Parties) || s.Expires != 1_900_000_000 {
				t.Errorf("%s, %s: %+v", partition, k.name, s)
			}
			answered++
		}
	}
	if answered < 20 {
		t.Errorf("%d kinds can be drafted, want 20 at least", answered)
	}
	// What is open stands there to be filled in, and is no study until it is.
	d := draft(Vertical, "correlation")
	d.Parties[0].Columns[0].Terms = nil
	text, open, err := d.Text()
	if err != nil || len(open) != 1 || !strings.Contains(text, "bounds: [LOW, HIGH], ") {
		t.Errorf("open %q, %v", open, err)
	}
	if _, err := Parse([]byte(text)); err == nil {
		t.Error("a study with an open bound")
	}
	_, _, err = draft(Vertical, "nonsense").Text()
	if !errors.Is(err, ErrNoSketch) || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("an analysis that there is not: %v", err)
	}
}
