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
	if !errors.Is(err, ErrNoSketch) || strings.Count(err.Error(), "nonsense") != 1 || strings.Contains(err.Error(), "line ") {
		t.Errorf("an analysis that there is not, which is to be said once and of no file: %v", err)
	}
	for what, c := range map[string]struct {
		partition Partition
		spoil     func(*Draft)
		want      string
	}{
		"one party":           {Horizontal, func(d *Draft) { d.Parties = d.Parties[:1] }, "at least 2 parties"},
		"a party twice":       {Horizontal, func(d *Draft) { d.Parties[1] = d.Parties[0] }, "two column lists are of"},
		"one name":            {Horizontal, func(d *Draft) { d.Parties[1].Name = d.Parties[0].Name }, "two parties are named"},
		"one id":              {Vertical, func(d *Draft) { d.Parties[1].ID = d.Parties[0].ID }, "have the same peer id"},
		"one column":          {Vertical, func(d *Draft) { d.Parties[1].Columns[0].Name = "xa" }, "is the study horizontal?"},
		"other columns":       {Horizontal, func(d *Draft) { d.Parties[1].Columns[0].Name = "z" }, "is the study vertical?"},
		"a column more":       {Horizontal, func(d *Draft) { d.Parties[1].Columns = append(d.Parties[1].Columns, column("z")) }, `column "z"`},
		"other bounds":        {Horizontal, func(d *Draft) { d.Parties[1].Columns[0].Terms = []DraftTerm{{"bounds", "[0, 11]"}} }, "let them agree"},
		"another kind":        {Horizontal, func(d *Draft) { d.Parties[1].Columns[0].Kind = Binary }, `column "x" is numeric at`},
		"a name that is none": {Vertical, func(d *Draft) { d.Name = "a: b" }, "name:"},
		"an address":          {Vertical, func(d *Draft) { d.Aggregator.Addrs = []string{"agg, /dns4/x/tcp/1"} }, "is not a multiaddr"},
		"epsilon and more":    {Vertical, func(d *Draft) { d.Epsilon = "1, delta: 0.5" }, "is not a number"},
		"a brace missing":     {Vertical, func(d *Draft) { d.Analyses = []string{"{kind: k-means"} }, "is a brace missing"},
		"a comment":           {Vertical, func(d *Draft) { d.Analyses = []string{"mean # all"} }, "want a kind"},
	} {
		d := draft(c.partition, "mean")
		c.spoil(&d)
		if _, _, err := d.Text(); err == nil || errors.Is(err, ErrNoSketch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// What one party leaves open, another may know.
	d = draft(Horizontal, "mean")
	d.Parties[0].Columns[0].Terms = nil
	if text, open, err = d.Text(); err != nil || len(open) > 0 || !strings.Contains(text, "name: x, kind: numeric, bounds: [0, 10]") {
		t.Errorf("bounds that the second party knows: open %q, %v\n%s", open, err, text)
	}
	// Texts that YAML takes for something else are quoted.
	d = draft(Vertical, "inner-product")
	d.Name, d.Parties[0].Columns[0].Name = "2024", "no"
	if text, _, err = d.Text(); err != nil {
		t.Fatal(err)
	}
	if s, err := Parse([]byte(text)); err != nil || s.Name != "2024" || s.Columns[0].Name != "no" {
		t.Errorf("names that want quotes: %v", err)
	}
}
