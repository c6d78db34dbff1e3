package study

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

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

// bareWord is text that needs no quotes in a study file.
var bareWord = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// quoted writes a text.
func quoted(s string) string {
	if bareWord.MatchString(s) && !typedWord.MatchString(s) {
		return s
	}
	return strconv.Quote(s)
}

func quotedList(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = quoted(t)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// ErrNoSketch reports a draft whose analyses no choice of sketches answers.
var ErrNoSketch = errors.New("no choice of sketches answers these analyses in a study of this partition")

// sketching is a choice of sketches with the promise that suits them.
type sketching struct {
	why      string
	sketches []string
	unit     string       // of the promise; record is gaussian, attribute laplace
	answers  AnalysisKind // for example
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
			{"columns of different parties are compared over the records they share, and whole records are protected", []string{columns}, "record", InnerProduct},
			{"records are joined by pseudonyms; the parties see who shares which, so single values are protected", []string{"{side: records, family: sparse, k: 64, s: 1}"}, "attribute", RecordDistance},
			{"both sides are sketched, and share the budget; single values are protected", []string{"{side: columns, family: sparse, k: 1024, s: 1, helpers: {ones: 0.3}}", "{side: records, family: sparse, k: 64, s: 1}"}, "attribute", RecordDistance},
		}
	}
	byLabel := func(c DraftColumn) bool { return c.Role == "label" }
	out := []sketching{
		{"noisy sums add up over the parties and protect whole records", []string{fmt.Sprintf(moments, "")}, "record", Mean},
		{"noisy counts and sums of cells add up over the parties and protect whole records", []string{fmt.Sprintf(moments, ", share: 7"), fmt.Sprintf(cells, ", share: 3")}, "record", Mean},
		{"each record has a noisy row of its own, so single values are protected", []string{"{side: records, family: identity}"}, "attribute", RecordDistance},
		{"sketches of columns add up over the parties", []string{columns}, "record", InnerProduct},
	}
	if slices.ContainsFunc(d.columns(), byLabel) {
		out = slices.Insert(out, 3, sketching{"each record has a noisy row of its own with its label, so single values are protected", []string{"{side: records, family: identity, labels: randomised}"}, "attribute", RecordDistance})
	}
	return out
}

// columns are those of the study, each once. Of a horizontal one, they are the first
// party's; what it leaves open, another may know.
func (d Draft) columns() []DraftColumn {
	if d.Partition == Horizontal && len(d.Parties) > 0 {
		out := slices.Clone(d.Parties[0].Columns)
		for i := range out {
			for _, p := range d.Parties[1:] {
				if out[i].open() != "" && i < len(p.Columns) {
					out[i].Terms, out[i].Source = p.Columns[i].Terms, p.Columns[i].Source
				}
			}
		}
		return out
	}
	var out []DraftColumn
	for _, p := range d.Parties {
		out = append(out, p.Columns...)
	}
	return out
}

// Text writes a commented study file, and says what is open in it: a line for each number
// that only people know. Of the ways to sketch it takes the most private one that answers
// the analyses. ErrNoSketch where none does, with why; Check's error where the analyses are
// not at fault.
func (d Draft) Text() (text string, open []string, err error) {
	if err := d.Check(); err != nil {
		return "", nil, err
	}
	for _, a := range d.Analyses {
		if err := checkAsked(a); err != nil {
			return "", nil, err
		}
	}
	for _, c := range d.columns() {
		if lacks := c.open(); lacks != "" {
			open = append(open, fmt.Sprintf("column %s: %s", c.Name, lacks))
		}
	}
	var tried [][]string
	choices := d.choices()
	for _, choice := range choices {
		wrong := d.try(choice)
		if len(wrong) == 0 {
			return d.text(choice, DraftColumn.open), open, nil
		}
		tried = append(tried, wrong)
	}
	return "", nil, fmt.Errorf("%w:\n%s", ErrNoSketch, reasons(choices, tried))
}

// Check says what is wrong with a draft whatever is asked: its name, parties, columns,
// dates and promise.
func (d Draft) Check() error {
	if err := d.agree(); err != nil {
		return err
	}
	if d.Epsilon != "" && !numberForm.MatchString(d.Epsilon) {
		return fmt.Errorf("epsilon: %q is not a number", d.Epsilon)
	}
	var tried [][]string
	choices := d.choices()
	for _, choice := range choices {
		d.Analyses = []string{string(choice.answers)}
		wrong := d.try(choice)
		if len(wrong) == 0 {
			return nil
		}
		tried = append(tried, wrong)
	}
	return errors.New(reasons(choices, tried))
}

// checkAsked refuses what is not one analysis, as a study file has it.
func checkAsked(a string) error {
	if !strings.HasPrefix(a, "{") {
		if !bareWord.MatchString(a) {
			return fmt.Errorf("analysis %q: want a kind, such as correlation, or {kind: k-means, clusters: 3}", a)
		}
		return nil
	}
	n, err := load([]byte(a))
	if err != nil {
		return fmt.Errorf("analysis %q: %s (is a brace missing, or a quote of the shell's?)", a, err.Message)
	}
	if n.Kind != yaml.MappingNode || strings.ContainsAny(a, "\n#") {
		return fmt.Errorf("analysis %q: want one line of {kind: …, …}", a)
	}
	return nil
}

// try says what is wrong with the study that a choice of sketches makes; nothing where it is
// one. No file has the lines of which the errors tell.
func (d Draft) try(choice sketching) []string {
	_, err := Parse([]byte(d.text(choice, DraftColumn.assumed)))
	var all Errors
	if !errors.As(err, &all) {
		return nil
	}
	out := make([]string, len(all))
	for i, e := range all {
		nowhere := *e
		nowhere.Line = 0
		out[i] = nowhere.Error()
	}
	return out
}

// reasons says why no choice of sketches answers: once, what holds for each of them, and
// only where there is no such reason, choice by choice.
func reasons(choices []sketching, tried [][]string) string {
	var lines []string
	for _, why := range tried[0] {
		if !slices.ContainsFunc(tried[1:], func(other []string) bool { return !slices.Contains(other, why) }) {
			lines = append(lines, why)
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n")
	}
	for i, c := range choices {
		lines = append(lines, "with "+strings.Join(c.sketches, ", ")+":")
		for _, why := range tried[i] {
			lines = append(lines, "  "+why)
		}
	}
	return strings.Join(lines, "\n")
}

// agree refuses column lists that cannot be of one study.
func (d Draft) agree() error {
	if len(d.Parties) < 2 {
		return fmt.Errorf("%d column list: a study has at least 2 parties", len(d.Parties))
	}
	for i, p := range d.Parties {
		for _, q := range d.Parties[:i] {
			switch {
			case p.Name == q.Name && p.ID == q.ID:
				return fmt.Errorf("two column lists are of %s: each party has one", p.Name)
			case p.Name == q.Name:
				return fmt.Errorf("two parties are named %s: one of them has to take another name", p.Name)
			case p.ID == q.ID:
				return fmt.Errorf("%s and %s have the same peer id, %s: one of the two copied it", q.Name, p.Name, p.ID)
			}
		}
	}
	if d.Partition == Horizontal {
		return d.agreeHorizontal()
	}
	owner := map[string]string{}
	for _, p := range d.Parties {
		for _, c := range p.Columns {
			if before, there := owner[c.Name]; there && before != p.Name {
				return fmt.Errorf("parties of a vertical study have other columns: %s and %s both have a column %q (is the study horizontal? else one of them has to take another name)", before, p.Name, c.Name)
			}
			owner[c.Name] = p.Name
		}
	}
	return nil
}

// agreeHorizontal refuses parties that describe other columns than the first.
func (d Draft) agreeHorizontal() error {
	first := d.Parties[0]
	for _, p := range d.Parties[1:] {
		for i, c := range first.Columns {
			switch {
			case i >= len(p.Columns) || p.Columns[i].Name != c.Name:
				return fmt.Errorf("parties of a horizontal study have the same columns, in one order: column %q of %s has no equal at %s (is the study vertical?)", c.Name, first.Name, p.Name)
			case p.Columns[i].Kind != c.Kind:
				return fmt.Errorf("parties of a horizontal study have the same columns: column %q is %s at %s and %s at %s", c.Name, c.Kind, first.Name, p.Columns[i].Kind, p.Name)
			case len(c.Terms) > 0 && len(p.Columns[i].Terms) > 0 && terms(c) != terms(p.Columns[i]):
				return fmt.Errorf("parties of a horizontal study have the same columns: column %q is {%s} at %s and {%s} at %s (let them agree on one)", c.Name, terms(c), first.Name, terms(p.Columns[i]), p.Name)
			}
		}
		if n := len(first.Columns); len(p.Columns) > n {
			return fmt.Errorf("parties of a horizontal study have the same columns, in one order: column %q of %s is not at %s", p.Columns[n].Name, p.Name, first.Name)
		}
	}
	return nil
}

// terms writes what is known of a column, in one order.
func terms(c DraftColumn) string {
	out := make([]string, len(c.Terms))
	for i, t := range c.Terms {
		out[i] = t.Key + ": " + t.Value
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// text writes the file with a choice of sketches; fill says what stands for what is open.
func (d Draft) text(choice sketching, fill func(DraftColumn) string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("cosketch: study/1")
	line("name: %s", quoted(d.Name))
	line("nonce: %q          # fresh for every study", hex.EncodeToString(d.Nonce[:]))
	line("aggregator:")
	line("  id: %s", d.Aggregator.ID)
	line("  hpke: %s", d.Aggregator.HPKE)
	line("  addrs: %s", quotedList(d.Aggregator.Addrs))
	line("parties:")
	for _, p := range d.Parties {
		line("  - {name: %s, id: %s}", quoted(p.Name), p.ID)
	}
	line("partition: %s   # vertical: same people, other columns; horizontal: same columns, other people", d.Partition)
	line("# quorum: %d       # how many must approve; default: all", max(2, len(d.Parties)/2+1))
	line("expires: %s   # approval closes", d.Expires)
	line("deadline: %s  # upload closes", d.Deadline)
	line("records: {id: %s, missing: centre}  # a missing value counts as the column's centre", quotedList(d.Records))
	line("# Bounds, centres, spreads and values are public: they come from a code book or the")
	line("# literature, never from the data. Values outside are moved to the nearest end.")
	line("columns:")
	for _, p := range d.Parties {
		columns := p.Columns
		if d.Partition == Horizontal {
			columns = d.columns()
		}
		for _, c := range columns {
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
	parts := []string{"name: " + quoted(c.Name), "kind: " + quoted(string(c.Kind))}
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
		parts = append(parts, "role: "+quoted(c.Role))
	}
	if d.Partition == Vertical {
		parts = append(parts, "owner: "+quoted(p.Name))
	}
	fmt.Fprintf(b, "  - {%s}%s\n", strings.Join(parts, ", "), missing)
}
