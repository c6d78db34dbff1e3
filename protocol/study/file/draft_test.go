package file

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// registry returns the example of that name.
func registry(t *testing.T) *study.Study {
	t.Helper()
	source, err := os.ReadFile("../testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A draft without open columns is a study, for every kind of analysis that its partition answers,
// and has the strongest guarantee that answers.
func TestDraftsAreStudies(t *testing.T) {
	base := registry(t)
	column := func(name string) DraftColumn {
		return DraftColumn{Name: name, Kind: study.Numeric, Terms: []DraftTerm{{"bounds", "[0, 10]"}}, Source: "code book"}
	}
	draft := func(partition study.Partition, analyses ...string) Draft {
		d := Draft{Name: "draft", Nonce: [16]byte{1}, Partition: partition, Expires: 1_900_000_000, Deadline: 1_900_086_400,
			Records: []string{"id"}, Analyses: analyses,
			Aggregator: DraftAggregator{ID: base.Aggregator.ID, HPKE: base64.StdEncoding.EncodeToString(base.Aggregator.HPKE), Addrs: base.Aggregator.Addrs}}
		for i, p := range base.Parties {
			columns := []DraftColumn{column("x"), column("y")}
			if partition == study.Vertical {
				columns = []DraftColumn{column("x" + string(rune('a'+i))), column("y" + string(rune('a'+i)))}
			}
			d.Parties = append(d.Parties, DraftParty{Name: p.Name, ID: p.ID, Columns: columns})
		}
		return d
	}
	// Cells of one round are drafted for the number of clusters asked for.
	for _, c := range []struct{ asked, cells string }{
		{"{kind: k-means, clusters: 4}", "{side: cells, L: 4, q: 3, clip: whole, share: 3}"},
		{"{kind: k-means, clusters: auto, max_clusters: 3}", "{side: cells, L: 4, q: 2, clip: whole, share: 3}"},
		{"{kind: k-means, clusters: 9}", "{side: cells, L: 4, q: 4, clip: whole, share: 3}"}, // as many as columns
	} {
		d := draft(study.Horizontal, "mean", c.asked)
		d.Rounds = 1
		for i := range d.Parties {
			d.Parties[i].Columns = append(d.Parties[i].Columns, column("z"), column("w"))
		}
		text, _, err := d.Text()
		if err != nil || !strings.Contains(text, c.cells) || !strings.Contains(text, "{side: moments, clip: own, standardise: own, share: 1}") {
			t.Errorf("%s: %v, without %s:\n%s", c.asked, err, c.cells, text)
		}
	}
	// Masked sums of two rounds begin with a look, by which all parties take one clip and one set
	// of scales. For k-means the second round uses code points.
	for _, c := range []struct {
		terms string
		asked []string
		lines []string
	}{
		{"centre: 5, spread: 2", []string{"mean", "correlation"}, []string{"  - {side: look, share: 2}\n  - {side: moments, products: false, clip: own, share: 10}\n  - {side: moments, clip: own, fourth: true, share: 15}\n", "\nrounds: 2  "}},
		{"centre: 5, spread: 2", []string{"{kind: regression, target: x}"}, []string{"  - {side: look, share: 1}\n  - {side: moments, clip: own, share: 14}\n", "\nrounds: 2  "}},
		{"bounds: [0, 10]", []string{"mean", "correlation"}, []string{"  - {side: look, share: 1}\n  - {side: moments, clip: own, standardise: own, fourth: true, share: 9}\n", "\nrounds: 2  "}},
		{"bounds: [0, 10]", []string{"mean", "{kind: k-means, clusters: 3}"}, []string{"  - {side: moments, clip: whole, share: ", "  - {side: codes, share: ", "\nrounds: 2  "}},
	} {
		d := draft(study.Horizontal, c.asked...)
		d.Masked, d.Rounds = true, 2
		key, value, _ := strings.Cut(c.terms, ": ")
		for i := range d.Parties {
			for j := range d.Parties[i].Columns {
				d.Parties[i].Columns[j].Terms = []DraftTerm{{key, value}}
				if first, second, both := strings.Cut(value, ", spread: "); both {
					d.Parties[i].Columns[j].Terms = []DraftTerm{{"centre", first}, {"spread", second}}
				}
			}
		}
		text, _, err := d.Text()
		for _, want := range c.lines {
			if err != nil || !strings.Contains(text, want) {
				t.Errorf("%v: %v, without %q:\n%s", c.asked, err, want, text)
			}
		}
		if _, err := Parse([]byte(text)); err != nil {
			t.Errorf("%v: %v", c.asked, err)
		}
		// If rounds are left open, this many records get a look, and a few under strong noise do
		// not.
		d.Rounds = 0
		if open, _, err := d.Text(); err != nil || open != text && !strings.Contains(text, "side: codes") {
			t.Errorf("%v: %v: with the rounds left open another draft:\n%s", c.asked, err, open)
		}
		d.Epsilon = "0.1"
		for i := range d.Parties {
			d.Parties[i].Records = 50
		}
		if open, _, err := d.Text(); err != nil || strings.Contains(open, "rounds: 2") {
			t.Errorf("%v: %v: few records, and two rounds:\n%s", c.asked, err, open)
		}
	}
	// Means and products have separate clips, with or without cells.
	for _, c := range []struct {
		asked []string
		lines string
	}{
		{[]string{"mean", "correlation"}, "  - {side: moments, products: false, clip: own, share: 2}\n  - {side: moments, clip: own, fourth: true, share: 3}\n"},
		{[]string{"mean", "{kind: regression, target: x}", "{kind: k-means, clusters: 3}"}, "  - {side: moments, products: false, clip: own, share: 2}\n  - {side: moments, clip: own, share: 3}\n  - {side: cells, L: 2, q: 2, clip: 1.05, share: 15}\n"},
		{[]string{"mean"}, "  - {side: moments, clip: own}\n"},
		{[]string{"correlation", "pca"}, "  - {side: moments, clip: own, fourth: true}\n"},
	} {
		d := draft(study.Horizontal, c.asked...)
		d.Rounds = 1
		for i := range d.Parties {
			for j := range d.Parties[i].Columns {
				d.Parties[i].Columns[j].Terms = []DraftTerm{{"centre", "5"}, {"spread", "2"}}
			}
		}
		text, _, err := d.Text()
		if err != nil || !strings.Contains(text, c.lines) {
			t.Errorf("%v: %v, without\n%s:\n%s", c.asked, err, c.lines, text)
		}
	}
	// K-means gets a second round if the forecast says that it gains: if one round cannot separate
	// clusters, or there are enough records for many code points. Few records with strong noise
	// gain nothing.
	for _, c := range []struct {
		records int64
		rounds  int
		epsilon string
		two     bool
		says    string
	}{
		{100_000, 0, "1", true, "With two rounds, the mean squared distance of records from their centres is up to about 5 % larger"},
		{2000, 0, "1", true, "with one round"},
		{100, 0, "0.1", false, ""},
		{100_000, 1, "1", false, ""},
		{100, 2, "0.1", true, "Clusters cannot be told apart, neither in one round nor in two"},
	} {
		d := draft(study.Horizontal, "{kind: k-means, clusters: 3}")
		d.Rounds, d.Epsilon = c.rounds, c.epsilon
		for i := range d.Parties {
			d.Parties[i].Records = c.records
			for _, name := range []string{"x", "y", "z", "w", "v", "u"} {
				more := column(name)
				if more.Terms = []DraftTerm{{"centre", "5"}, {"spread", "2"}}; name == "x" || name == "y" {
					d.Parties[i].Columns[name[0]-'x'].Terms = more.Terms
					continue
				}
				d.Parties[i].Columns = append(d.Parties[i].Columns, more)
			}
		}
		text, _, err := d.Text()
		flat := strings.ReplaceAll(text, "\n# ", " ")
		if err != nil || strings.Contains(text, "rounds: 2") != c.two || strings.Contains(text, "side: codes") != c.two || !strings.Contains(flat, c.says) {
			t.Errorf("%+v: %v:\n%s", c, err, text)
		}
	}
	answered := 0
	for _, partition := range []study.Partition{study.Vertical, study.Horizontal} {
		for _, k := range study.Kinds() {
			asked := string(k)
			switch k {
			case study.KMeans:
				asked = "{kind: k-means, clusters: 2}"
			case study.Regression:
				asked = "{kind: regression, target: x}"
				if partition == study.Vertical {
					asked = "{kind: regression, target: xa}"
				}
			}
			text, open, err := draft(partition, asked).Text()
			if errors.Is(err, ErrNoSketch) {
				continue
			}
			if err != nil || len(open) != 0 {
				t.Errorf("%s, %s: open %q, %v", partition, k, open, err)
				continue
			}
			s, err := Parse([]byte(text))
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", partition, k, err, text)
				continue
			}
			if s.Partition != partition || len(s.Parties) != len(base.Parties) || s.Expires != 1_900_000_000 {
				t.Errorf("%s, %s: %+v", partition, k, s)
			}
			answered++
		}
	}
	if answered < 20 {
		t.Errorf("%d kinds can be drafted, want 20 at least", answered)
	}
	// What is open is marked in the file, which is not a study until it is filled in.
	d := draft(study.Vertical, "correlation")
	if d.Undescribed() {
		t.Error("a draft that lacks nothing is undescribed")
	}
	if d.Parties[0].Columns[0].Terms = nil; !d.Undescribed() {
		t.Error("a column without a centre is described")
	}
	text, open, err := d.Text()
	if err != nil || len(open) != 1 || !strings.Contains(text, "centre: TYPICAL, spread: DEVIATION, ") {
		t.Errorf("open %q, %v", open, err)
	}
	if _, err := Parse([]byte(text)); err == nil {
		t.Error("a study with an open bound")
	}
	_, _, err = draft(study.Vertical, "nonsense").Text()
	if err == nil || !strings.Contains(err.Error(), "(one of: inner-product, ") || strings.Count(err.Error(), "nonsense") != 1 || strings.Contains(err.Error(), "line ") {
		t.Errorf("an analysis that there is not, which is to be said once and of no file: %v", err)
	}
	for what, c := range map[string]struct {
		partition study.Partition
		spoil     func(*Draft)
		want      string
	}{
		"one party":           {study.Horizontal, func(d *Draft) { d.Parties = d.Parties[:1] }, "at least 2 parties"},
		"a party twice":       {study.Horizontal, func(d *Draft) { d.Parties[1] = d.Parties[0] }, "two column lists are of"},
		"one name":            {study.Horizontal, func(d *Draft) { d.Parties[1].Name = d.Parties[0].Name }, "two parties are named"},
		"one id":              {study.Vertical, func(d *Draft) { d.Parties[1].ID = d.Parties[0].ID }, "have the same peer id"},
		"one column":          {study.Vertical, func(d *Draft) { d.Parties[1].Columns[0].Name = "xa" }, "is the study horizontal?"},
		"other columns":       {study.Horizontal, func(d *Draft) { d.Parties[1].Columns[0].Name = "z" }, "is the study vertical?"},
		"a column more":       {study.Horizontal, func(d *Draft) { d.Parties[1].Columns = append(d.Parties[1].Columns, column("z")) }, `column "z"`},
		"a column of nobody":  {study.Horizontal, func(d *Draft) { d.Own = []DraftColumn{column("z")} }, "no party's column list has it"},
		"a name that is none": {study.Vertical, func(d *Draft) { d.Name = "a: b" }, "name:"},
		"an address":          {study.Vertical, func(d *Draft) { d.Aggregator.Addrs = []string{"agg, /dns4/x/tcp/1"} }, "is not a multiaddr"},
		"epsilon and more":    {study.Vertical, func(d *Draft) { d.Epsilon = "1, delta: 0.5" }, "is not a number"},
		"a brace missing":     {study.Vertical, func(d *Draft) { d.Analyses = []string{"{kind: k-means"} }, "is a brace missing"},
		"a comment":           {study.Vertical, func(d *Draft) { d.Analyses = []string{"mean # all"} }, "want a kind"},
	} {
		d := draft(c.partition, "mean")
		c.spoil(&d)
		if _, _, err := d.Text(); err == nil || errors.Is(err, ErrNoSketch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// One party may know what another leaves open.
	d = draft(study.Horizontal, "mean")
	d.Parties[0].Columns[0].Terms = nil
	if text, open, err = d.Text(); err != nil || len(open) > 0 || !strings.Contains(text, "name: x, kind: numeric, bounds: [0, 10]") {
		t.Errorf("bounds that the second party knows: open %q, %v\n%s", open, err, text)
	}
	// Texts that YAML would read as something else are quoted.
	d = draft(study.Vertical, "inner-product")
	d.Name, d.Parties[0].Columns[0].Name = "2024", "no"
	if text, _, err = d.Text(); err != nil {
		t.Fatal(err)
	}
	if s, err := Parse([]byte(text)); err != nil || s.Name != "2024" || s.Columns[0].Name != "no" {
		t.Errorf("names that want quotes: %v", err)
	}
}

// Different lists of a horizontal study are merged into one description, and the decisions are
// noted; the operator's description wins.
func TestDraftsMergeLists(t *testing.T) {
	numeric := func(terms ...DraftTerm) DraftColumn { return DraftColumn{Name: "x", Kind: study.Numeric, Terms: terms} }
	binary := DraftColumn{Name: "x", Kind: study.Binary}
	values := func(list string) DraftColumn {
		return DraftColumn{Name: "x", Kind: study.Categorical, Terms: []DraftTerm{{"values", list}}}
	}
	bounds, wider := DraftTerm{"bounds", "[0, 10]"}, DraftTerm{"bounds", "[0, 11]"}
	centre, spread := DraftTerm{"centre", "4"}, DraftTerm{"spread", "1"}
	label := binary
	label.Role = "label"
	for what, c := range map[string]struct {
		lists []DraftColumn
		own   []DraftColumn
		kind  study.ColumnKind
		terms string
		notes []string // a part of each
	}{
		"equal lists":              {lists: []DraftColumn{numeric(bounds), numeric(bounds)}, kind: study.Numeric, terms: "bounds: [0, 10]"},
		"numbers that were rare":   {lists: []DraftColumn{binary, numeric(bounds)}, kind: study.Numeric, terms: "bounds: [0, 10]", notes: []string{"binary at north and numeric at south: the study says numeric"}},
		"the other way round":      {lists: []DraftColumn{numeric(bounds), binary}, kind: study.Numeric, terms: "bounds: [0, 10]", notes: []string{"numeric at north and binary at south: the study says numeric"}},
		"a rate and bounds":        {lists: []DraftColumn{{Name: "x", Kind: study.Binary, Terms: []DraftTerm{{"centre", "0.1"}}}, numeric()}, kind: study.Numeric, notes: []string{"the study says numeric"}},
		"a label":                  {lists: []DraftColumn{label, numeric(bounds)}, kind: study.Binary, notes: []string{"the study says binary"}},
		"words and numbers":        {lists: []DraftColumn{values("[a, b]"), numeric(bounds)}, kind: study.Categorical, terms: "values: [a, b]", notes: []string{"the study says categorical"}},
		"other bounds":             {lists: []DraftColumn{numeric(bounds), numeric(wider)}, kind: study.Numeric, terms: "bounds: [0, 10]", notes: []string{"{bounds: [0, 11]} at south, and the study says {bounds: [0, 10]}"}},
		"a spread beats bounds":    {lists: []DraftColumn{numeric(bounds), numeric(centre, spread)}, kind: study.Numeric, terms: "centre: 4, spread: 1", notes: []string{"{bounds: [0, 10]} at north"}},
		"all beats half":           {lists: []DraftColumn{numeric(centre), numeric(bounds)}, kind: study.Numeric, terms: "bounds: [0, 10]", notes: []string{"{centre: 4} at north"}},
		"other values":             {lists: []DraftColumn{values("[a, b]"), values(`[c, "a", "no"]`)}, kind: study.Categorical, terms: `values: [a, b, c, "no"]`, notes: []string{"at north", "at south"}},
		"what the operator says":   {lists: []DraftColumn{binary, numeric(bounds)}, own: []DraftColumn{values("[0x, 1x]")}, kind: study.Categorical, terms: "values: [0x, 1x]"},
		"nothing open but a guess": {lists: []DraftColumn{numeric(), numeric()}, kind: study.Numeric},
	} {
		d := Draft{Partition: study.Horizontal, Own: c.own}
		for i, column := range c.lists {
			d.Parties = append(d.Parties, DraftParty{Name: []string{"north", "south"}[i], Columns: []DraftColumn{{Name: "before", Kind: study.Binary}, column}[1-i:]})
			if i == 0 { // in another order
				d.Parties[0].Columns = append(d.Parties[0].Columns, DraftColumn{Name: "before", Kind: study.Binary})
			}
		}
		columns, notes := d.Merged()
		if err := d.agreeHorizontal(); err != nil || len(columns) != 2 {
			t.Fatalf("%s: %v, %d columns", what, err, len(columns))
		}
		got := columns[0]
		if got.Name != "x" || got.Kind != c.kind || terms(got) != c.terms {
			t.Errorf("%s: %s {%s}", what, got.Kind, terms(got))
		}
		fits := len(notes) == len(c.notes)
		for i := range c.notes {
			fits = fits && strings.Contains(notes[i], c.notes[i]) && strings.Contains(notes[i], "--column '{name: x, kind: …}'")
		}
		if !fits {
			t.Errorf("%s: notes %q", what, notes)
		}
	}
}

// TestDraftsTakeKByRecords: a party that gives its number of records gets a sketch that suits them,
// and the operator's description of a column counts.
func TestDraftsTakeKByRecords(t *testing.T) {
	bits := func(n int) (out []DraftColumn) {
		for j := range n {
			out = append(out, DraftColumn{Name: fmt.Sprintf("bit %d", j), Kind: study.Binary})
		}
		return out
	}
	d := Draft{Parties: []DraftParty{{Name: "a", Columns: bits(8)}, {Name: "b", Columns: bits(8)}}, Partition: study.Vertical, Epsilon: "4"}
	before, _ := d.layout()
	for i := range d.Parties {
		d.Parties[i].Records = 20 * draftRecords
	}
	many, own := d.layout()
	if ratio := float64(many.K) / float64(before.K); ratio < 18 || ratio > 22 || many.Clip != before.Clip {
		t.Errorf("of twenty times as many records: %+v, before %+v", many, before)
	}
	d.Parties[1].Records = 100
	if _, of := d.layout(); own == "" || of != "" {
		t.Errorf("many records are standardised by %q, a hundred by %q", own, of)
	}
	d.Parties[1].Records = d.Parties[0].Records
	for j := range 8 {
		d.Own = append(d.Own, DraftColumn{Name: fmt.Sprintf("bit %d", j), Kind: study.Binary, Terms: []DraftTerm{{"centre", "0.02"}}})
	}
	if rare, _ := d.layout(); rare.Clip > before.Clip/1.5 {
		t.Errorf("rare bits are cut at %v, before at %v", rare.Clip, before.Clip)
	}
}

// TestDraftsCutNoBits: a drafted sketch of binary columns has room for the longest record and its
// ones, for any number of columns and budget; if rates are given, the clip is shorter.
func TestDraftsCutNoBits(t *testing.T) {
	base := registry(t)
	for _, columns := range []int{1, 2, 8, 40, 300} {
		for _, epsilon := range []string{"", "0.1", "4"} {
			for _, rate := range []string{"", "0.03"} {
				d := Draft{Name: "draft", Nonce: [16]byte{1}, Partition: study.Vertical, Expires: 1_900_000_000, Deadline: 1_900_086_400,
					Records: []string{"id"}, Analyses: []string{"correlation", "intersection"}, Epsilon: epsilon,
					Aggregator: DraftAggregator{ID: base.Aggregator.ID, HPKE: base64.StdEncoding.EncodeToString(base.Aggregator.HPKE), Addrs: base.Aggregator.Addrs}}
				for i, p := range base.Parties {
					party := DraftParty{Name: p.Name, ID: p.ID}
					for j := range columns {
						c := DraftColumn{Name: fmt.Sprintf("bit %d of %d", j, i), Kind: study.Binary}
						if rate != "" {
							c.Terms = []DraftTerm{{"centre", rate}}
						}
						party.Columns = append(party.Columns, c)
					}
					d.Parties = append(d.Parties, party)
				}
				text, _, err := d.Text()
				if err != nil {
					t.Fatal(err)
				}
				s, err := Parse([]byte(text))
				if err != nil {
					t.Fatalf("%v in\n%s", err, text)
				}
				sk, one := s.Sketches[0], float64(s.Bits.One())
				room := math.Sqrt(math.Pow(float64(s.IntegerClip(0))/one, 2) - sk.Helpers.Ones*sk.Helpers.Ones)
				least, most := math.Sqrt(float64(columns))/2, math.Sqrt(float64(columns))/2+0.1
				if rate != "" {
					least = math.Sqrt(float64(columns) * 0.03 * 0.97) // a typical record
				}
				if room < least-2/one || room > most {
					t.Errorf("%d columns, epsilon %q, rate %q: clip %v leaves %.3f beside ones of %v, want %.3f to %.3f", columns, epsilon, rate, sk.Clip, room, sk.Helpers.Ones, least, most)
				}
			}
		}
	}
}
