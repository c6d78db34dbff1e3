package study

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// Draft is what an operator knows who begins a study file.
type Draft struct {
	Name       string
	Nonce      [16]byte // fresh random bytes
	Aggregator DraftAggregator
	Parties    []DraftParty // in the order in which they are to be listed
	Partition  Partition
	Expires    protocol.Instant // approval closes
	Deadline   protocol.Instant // upload closes
	Records    []string         // columns that identify a record
	Analyses   []string         // as the study file has them: a kind, or {kind: …, …}
	Epsilon    string           // of one party's releases; empty: 1 for whole records, 8 for single values
}

// DraftAggregator is the aggregator as its own identity command prints it.
type DraftAggregator struct {
	ID    protocol.PeerID
	HPKE  string // base64
	Addrs []string
}

// DraftParty is a party and what it could bring.
type DraftParty struct {
	Name    string
	ID      protocol.PeerID
	Columns []DraftColumn
}

// DraftColumn is a column of which something may still be open.
type DraftColumn struct {
	Name   string
	Kind   ColumnKind
	Terms  []DraftTerm // bounds, centre, spread or values, as they are written
	Source string
	Role   string
}

// DraftTerm is one key of a column and its value in YAML's flow style.
type DraftTerm struct{ Key, Value string }

// open is what a column still lacks, for people to fill in; empty where it lacks nothing.
func (c DraftColumn) open() string {
	has := func(key string) bool {
		return slices.ContainsFunc(c.Terms, func(t DraftTerm) bool { return t.Key == key })
	}
	switch {
	case c.Kind == Numeric && !has("bounds") && !(has("centre") && has("spread")):
		return "bounds: [LOW, HIGH]"
	case c.Kind == Categorical && !has("values"):
		return "values: [ALL, PUBLIC, VALUES]"
	}
	return ""
}

// assumed stands for what is open while it is tried which sketches answer the study.
func (c DraftColumn) assumed() string {
	return map[ColumnKind]string{Numeric: "bounds: [0, 1]", Categorical: "values: [a, b]"}[c.Kind]
}

// ErrNoSketch reports a draft whose analyses no choice of sketches answers.
var ErrNoSketch = errors.New("no choice of sketches answers these analyses in a study of this partition")

// sketching is a choice of sketches with the promise that suits them.
type sketching struct {
	why      string
	sketches []string
	unit     string // of the promise; record is gaussian, attribute laplace
}

// choices are the ways to sketch, the most private first.
func (d Draft) choices() []sketching {
	// A third of the root of the number of columns cuts few records where spreads are right.
	clip := strconv.FormatFloat(math.Max(0.8, math.Round(10*math.Sqrt(float64(len(d.columns())))/3)/10), 'f', -1, 64)
	columns := "{side: columns, family: sparse, k: 1024, s: 1, helpers: {ones: 0.3}, clip: 0.8}"
	moments := "{side: moments, clip: " + clip + "%s}"
	// There are no more directions than columns, and a subspace has fewer.
	cells := fmt.Sprintf("{side: cells, L: %d, clip: %s%%s}", min(5, len(d.columns())), clip)
	if q := min(2, len(d.columns())-1); q > 0 {
		cells = strings.Replace(cells, ", clip", fmt.Sprintf(", q: %d, clip", q), 1)
	}
	if d.Partition == Vertical {
		return []sketching{
			{"columns of different parties are compared over the records they share, and whole records are protected", []string{columns}, "record"},
			{"records are joined by pseudonyms; the parties see who shares which, so single values are protected", []string{"{side: records, family: sparse, k: 64, s: 1}"}, "attribute"},
			{"both sides are sketched, and share the budget; single values are protected", []string{"{side: columns, family: sparse, k: 1024, s: 1, helpers: {ones: 0.3}}", "{side: records, family: sparse, k: 64, s: 1}"}, "attribute"},
		}
	}
	return []sketching{
		{"noisy sums add up over the parties and protect whole records", []string{fmt.Sprintf(moments, "")}, "record"},
		{"noisy counts and sums of cells add up over the parties and protect whole records", []string{fmt.Sprintf(moments, ", share: 7"), fmt.Sprintf(cells, ", share: 3")}, "record"},
		{"each record has a noisy row of its own, so single values are protected", []string{"{side: records, family: identity}"}, "attribute"},
		{"each record has a noisy row of its own with its label, so single values are protected", []string{"{side: records, family: identity, labels: randomised}"}, "attribute"},
		{"sketches of columns add up over the parties", []string{columns}, "record"},
	}
}

// columns are those of the study, each once: of a horizontal one, the first party's.
func (d Draft) columns() []DraftColumn {
	if d.Partition == Horizontal && len(d.Parties) > 0 {
		return d.Parties[0].Columns
	}
	var out []DraftColumn
	for _, p := range d.Parties {
		out = append(out, p.Columns...)
	}
	return out
}

// Text writes a commented study file, and says what is open in it: a line for each number
// that only people know. Of the ways to sketch it takes the most private one that answers
// the analyses. ErrNoSketch where none does, with what each of them lacks.
func (d Draft) Text() (text string, open []string, err error) {
	if err := d.agree(); err != nil {
		return "", nil, err
	}
	for _, c := range d.columns() {
		if lacks := c.open(); lacks != "" {
			open = append(open, fmt.Sprintf("column %s: %s", c.Name, lacks))
		}
	}
	var tried []error
	for _, choice := range d.choices() {
		_, err := Parse([]byte(d.text(choice, DraftColumn.assumed)))
		if err == nil {
			return d.text(choice, DraftColumn.open), open, nil
		}
		tried = append(tried, fmt.Errorf("with %s:\n%w", strings.Join(choice.sketches, ", "), err))
	}
	return "", nil, fmt.Errorf("%w\n%w", ErrNoSketch, errors.Join(tried...))
}

// agree refuses horizontal parties that describe other columns than the first.
func (d Draft) agree() error {
	if d.Partition != Horizontal {
		return nil
	}
	for _, p := range d.Parties[min(1, len(d.Parties)):] {
		for i, c := range d.columns() {
			if i >= len(p.Columns) || p.Columns[i].Name != c.Name || p.Columns[i].Kind != c.Kind {
				return fmt.Errorf("parties of a horizontal study have the same columns, in one order: column %q of %s has no equal at %s (is the study vertical?)", c.Name, d.Parties[0].Name, p.Name)
			}
		}
		if n := len(d.columns()); len(p.Columns) > n {
			return fmt.Errorf("parties of a horizontal study have the same columns, in one order: column %q of %s is not at %s", p.Columns[n].Name, p.Name, d.Parties[0].Name)
		}
	}
	return nil
}

// text writes the file with a choice of sketches; fill says what stands for what is open.
func (d Draft) text(choice sketching, fill func(DraftColumn) string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("cosketch: study/1")
	line("name: %s", d.Name)
	line("nonce: %q          # fresh for every study", hex.EncodeToString(d.Nonce[:]))
	line("aggregator:")
	line("  id: %s", d.Aggregator.ID)
	line("  hpke: %s", d.Aggregator.HPKE)
	line("  addrs: [%s]", strings.Join(d.Aggregator.Addrs, ", "))
	line("parties:")
	for _, p := range d.Parties {
		line("  - {name: %s, id: %s}", p.Name, p.ID)
	}
	line("partition: %s   # vertical: same people, other columns; horizontal: same columns, other people", d.Partition)
	line("# quorum: %d       # how many must approve; default: all", max(2, len(d.Parties)/2+1))
	line("expires: %s   # approval closes", d.Expires)
	line("deadline: %s  # upload closes", d.Deadline)
	line("records: {id: [%s], missing: centre}  # a missing value counts as the column's centre", strings.Join(d.Records, ", "))
	line("# Bounds, centres, spreads and values are public: they come from a code book or the")
	line("# literature, never from the data. Values outside are moved to the nearest end.")
	line("columns:")
	for _, p := range d.Parties {
		for _, c := range p.Columns {
			d.column(&b, p, c, fill)
		}
		if d.Partition == Horizontal {
			break
		}
	}
	line("# Here %s.", choice.why)
	line("# aggregator study plan says how far the answers will err, and what would be better.")
	line("sketches:")
	for _, s := range choice.sketches {
		line("  - %s", s)
	}
	if choice.unit == "record" {
		line("privacy: {unit: record, mechanism: gaussian, epsilon: %s, delta: 1e-6}", d.epsilon("1"))
	} else {
		line("privacy: {unit: attribute, mechanism: laplace, epsilon: %s}", d.epsilon("8"))
	}
	line("analyses:")
	for _, a := range d.Analyses {
		if !strings.HasPrefix(a, "{") {
			a = "{kind: " + a + "}"
		}
		line("  - %s", a)
	}
	line("# later: []        # what may be asked of the same releases afterwards; default: all that they answer")
	return b.String()
}

func (d Draft) epsilon(usual string) string {
	if d.Epsilon != "" {
		return d.Epsilon
	}
	return usual
}

func (d Draft) column(b *strings.Builder, p DraftParty, c DraftColumn, fill func(DraftColumn) string) {
	parts := []string{"name: " + c.Name, "kind: " + string(c.Kind)}
	for _, t := range c.Terms {
		parts = append(parts, t.Key+": "+t.Value)
	}
	missing := ""
	if c.open() != "" {
		parts = append(parts, fill(c))
		missing = "  # to be filled in: ask " + p.Name
	}
	if c.Source != "" {
		parts = append(parts, "source: "+strconv.Quote(c.Source))
	}
	if c.Role != "" {
		parts = append(parts, "role: "+c.Role)
	}
	if d.Partition == Vertical {
		parts = append(parts, "owner: "+p.Name)
	}
	fmt.Fprintf(b, "  - {%s}%s\n", strings.Join(parts, ", "), missing)
}
