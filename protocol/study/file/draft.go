package file

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Draft is the information from which an operator's study file is drafted.
type Draft struct {
	Name       string
	Nonce      [16]byte // fresh random bytes
	Aggregator DraftAggregator
	Parties    []DraftParty // in the order of the file
	Partition  study.Partition
	Expires    protocol.Instant // approval closes
	Deadline   protocol.Instant // upload closes
	Records    []string         // columns that identify a record
	Analyses   []string         // as in the study file: a kind, or {kind: …, …}
	Epsilon    string           // of one party's releases; empty: 1 for unit record, 8 for unit attribute
	Masked     bool             // horizontal: the aggregator sees only sums over all parties
	Rounds     int              // horizontal: 2 allows k-means, or moments of masked sums, a second round that depends on the first. Default: chosen by the forecast
	Purpose    string           // purpose of the study, in its initiator's words; may be empty
	Own        []DraftColumn    // the operator's descriptions of columns, which override the parties' lists
}

// DraftAggregator is the aggregator as printed by its identity command.
type DraftAggregator struct {
	ID    protocol.PeerID
	HPKE  string // base64
	Addrs []string
}

// DraftParty is a party and the columns that it could contribute.
type DraftParty struct {
	Name    string
	ID      protocol.PeerID
	Columns []DraftColumn
	Records int64 // approximate number of its records; 0 if unknown
}

// DraftColumn is a column whose description may be incomplete.
type DraftColumn struct {
	Name   string
	Kind   study.ColumnKind
	Terms  []DraftTerm // transform, unit, bounds, centre, spread or values, as written in the file
	Source string
	Role   string
	Dates  bool // it holds dates, as far as its party could see
}

// DraftTerm is one key of a column and its value in YAML's flow style.
type DraftTerm struct{ Key, Value string }

// Describing tells whoever fills in a column list or a study file how to describe a numeric column.
const Describing = "A centre is a typical value, and a spread is how far typical values lie from it: about two thirds of all values are within one spread of the centre. Round public numbers will do. Second best are bounds, the least and the greatest value, as bounds: [LOW, HIGH]. Values mostly fill a small part of them, and means and correlations then often err several times more."

// open says what a column still lacks, for people to fill in; empty if it is complete.
func (c DraftColumn) open() string {
	var lacks []string
	lack := func(key, what string) {
		if !c.has(key) {
			lacks = append(lacks, key+": "+what)
		}
	}
	switch {
	case c.Kind == study.Numeric && !c.has("bounds"):
		lack("centre", "TYPICAL")
		if c.has("transform") {
			lack("spread", "FACTOR")
		} else {
			lack("spread", "DEVIATION")
		}
	case c.Kind == study.Categorical:
		lack("values", "[ALL, PUBLIC, VALUES]")
	}
	return strings.Join(lacks, ", ")
}

// Undescribed reports whether a numeric column lacks a centre, which Describing explains.
func (d Draft) Undescribed() bool {
	return slices.ContainsFunc(d.columns(), func(c DraftColumn) bool { return c.Kind == study.Numeric && !c.has("bounds") && !c.has("centre") })
}

// assumed is a placeholder for what is open, to try which sketches answer the study.
func (c DraftColumn) assumed() string {
	return strings.NewReplacer("TYPICAL", "1", "DEVIATION", "1", "FACTOR", "2", "ALL, PUBLIC, VALUES", "a, b").Replace(c.open())
}

// bareWord is text that needs no quotes in a study file.
var bareWord = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// quoted returns a text as YAML, in quotes if necessary.
func quoted(s string) string {
	if bareWord.MatchString(s) && !schema.Typed(s) {
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

// ErrNoSketch is returned for a draft whose analyses no choice of sketches answers.
var ErrNoSketch error = fail.NoSketch

// sketching is a choice of sketches with a matching unit of privacy.
type sketching struct {
	why      string
	sketches []string
	unit     string             // unit of privacy; record means gaussian noise, attribute laplace
	answers  study.AnalysisKind // a kind that it answers
	rounds   string             // what a second round does; empty if there is none
	apart    bool               // absent values are counted separately, in moments or in counts
}

// moments reports whether the choice has moments; no others answer means.
func (c sketching) moments() bool { return c.answers == study.Mean }

// choices returns the choices of sketches, the most private first.
func (d Draft) choices() []sketching {
	byLabel := func(c DraftColumn) bool { return c.Role == "label" }
	const single = "{side: columns, family: sparse, k: 1024, s: 1, helpers: {ones: 1}}"
	layout, own := d.layout()
	columns := fmt.Sprintf("{side: columns, family: sparse, k: %d, s: 1, helpers: {ones: %v}, clip: %v%s}", layout.K, layout.Ones, layout.Clip, own)
	if d.Partition == study.Vertical {
		return []sketching{
			{why: "they compare columns of different parties over shared records, and protect whole records", sketches: []string{columns}, unit: "record", answers: study.InnerProduct},
			{why: "records are joined by pseudonyms. These show who shares which records, so single values are protected", sketches: []string{"{side: records, family: sparse, k: 64, s: 1}"}, unit: "attribute", answers: study.RecordDistance},
			{why: "the analyses need sketches of columns and of records, which share the budget. Single values are protected", sketches: []string{single, "{side: records, family: sparse, k: 64, s: 1}"}, unit: "attribute", answers: study.RecordDistance},
		}
	}
	sums, cells, shares, gain := d.horizontal(false)
	alone := sketching{why: "noisy sums add up over the parties and protect whole records", sketches: sums(0), unit: "record", answers: study.Mean, apart: true}
	if d.Masked && (d.Rounds == 2 || d.Rounds == 0 && d.lookTells()) {
		looking, _, _, _ := d.horizontal(true)
		alone.sketches = looking(0)
		if len(alone.sketches) > len(sums(0)) {
			alone.rounds = "By a first look at their records together all parties take one length to which they cut, and one set of scales. In one round the length has to suit the worst of data."
		}
	}
	out := []sketching{
		alone,
		{why: "noisy counts and sums of cells add up over the parties and protect whole records", sketches: append(sums(shares), cells), unit: "record", answers: study.Mean, apart: true, rounds: gain},
		{why: "the analyses need a noisy row for each record. Single values are protected", sketches: []string{"{side: records, family: identity}"}, unit: "attribute", answers: study.RecordDistance},
		{why: "sketches of columns add up over the parties", sketches: []string{columns}, unit: "record", answers: study.InnerProduct},
	}
	if slices.ContainsFunc(d.columns(), byLabel) {
		out = slices.Insert(out, 3, sketching{why: "the analyses need a noisy row for each record, with its label. Single values are protected", sketches: []string{"{side: records, family: identity, labels: randomised}"}, unit: "attribute", answers: study.RecordDistance})
	}
	return d.withCounts(out)
}

// clusters returns the largest number of clusters that a k-means of the draft looks for; 2 without
// one.
func (d Draft) clusters() int {
	most := 2
	for _, a := range d.Analyses {
		n, err := schema.Load([]byte(a))
		if err != nil || n.Kind != yaml.MappingNode {
			continue
		}
		var keys struct {
			Kind        study.AnalysisKind `yaml:"kind"`
			Clusters    any                `yaml:"clusters"`
			MaxClusters int                `yaml:"max_clusters"`
		}
		if n.Decode(&keys) != nil || keys.Kind != study.KMeans {
			continue
		}
		switch k := keys.Clusters.(type) {
		case int:
			most = max(most, k)
		case string: // auto
			most = max(most, cmp.Or(keys.MaxClusters, study.DefaultMaxClusters))
		}
	}
	return most
}

// draftRecords is the assumed number of records of a party that does not give it.
const draftRecords = 10_000

// ownNoise is the largest noise of a mean of bits with which parties still standardise their
// columns.
const ownNoise = 0.01

// layout returns the best sketch of columns for what is known of them. own is the key with which
// parties standardise it, in vertical studies whose parties all have enough records for noisy
// means. If all columns have rates or spreads, standardising still gives the variances and the
// count of clipped records.
func (d Draft) layout() (l forecast.Layout, own string) {
	mu := dp.Mu(d.mu())
	var holdings []forecast.PartyColumns
	noise := 0.0
	for _, p := range d.Parties {
		h := forecast.PartyColumns{Records: float64(cmp.Or(p.Records, draftRecords))}
		for _, c := range p.Columns {
			if own, ok := d.own(c.Name); ok {
				c = own
			}
			h.Columns = append(h.Columns, c.known())
		}
		if len(h.Columns) > 0 {
			holdings = append(holdings, h)
			noise = math.Max(noise, math.Sqrt(float64(len(h.Columns))/study.ShareBits)/2/float64(mu)/h.Records)
		}
	}
	if d.Partition != study.Vertical || noise > ownNoise {
		return forecast.VerticalLayout(holdings, mu), ""
	}
	for _, h := range holdings {
		for i, c := range h.Columns {
			if c == forecast.KnownBounds() {
				h.Columns[i] = forecast.KnownSpread() // because it is scaled
			}
		}
	}
	return forecast.VerticalLayout(holdings, mu*dp.Mu(math.Sqrt(1-study.ShareNumbers-study.ShareOwn))), ", standardise: own"
}

// known returns what a sketch of columns can rely on.
func (c DraftColumn) known() forecast.Known {
	number := func(key string) (x float64, ok bool) {
		for _, t := range c.Terms {
			if t.Key == key {
				x, err := strconv.ParseFloat(t.Value, 64)
				return x, err == nil
			}
		}
		return 0, false
	}
	rate, told := number("centre")
	switch {
	case c.Kind == study.Categorical:
		return forecast.KnownCategory()
	case c.Kind == study.Binary && told && rate > 0 && rate < 1:
		return forecast.KnownRate(rate)
	case c.Kind == study.Binary:
		return forecast.KnownBit()
	case c.has("bounds"):
		return forecast.KnownBounds()
	}
	return forecast.KnownSpread()
}

// columns returns the study's columns, each once.
func (d Draft) columns() []DraftColumn {
	out, _ := d.Merged()
	return out
}

// Text writes a commented study file. open lists what is left open in it: a line for each number
// that only people know. Of the choices of sketches it takes the most private one that answers the
// analyses. If none does, the error is ErrNoSketch, with the reasons; if the analyses are not at
// fault, it is that of Check.
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

// Check returns the errors of a draft that do not depend on its analyses: in its name, parties,
// columns, dates and budget.
func (d Draft) Check() error {
	if err := d.agree(); err != nil {
		return err
	}
	if d.Masked && d.Partition != study.Horizontal {
		return errors.New("masked sums need a horizontal study, whose parties have the same columns")
	}
	if d.Epsilon != "" && !schema.Decimal(d.Epsilon) {
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

// checkAsked refuses a text that is not one analysis, as in a study file.
func checkAsked(a string) error {
	if !strings.HasPrefix(a, "{") {
		if !bareWord.MatchString(a) {
			return fmt.Errorf("analysis %q: want a kind, such as correlation, or {kind: k-means, clusters: 3}", a)
		}
		if wrong := analysisWords().Check(a); wrong != nil {
			return wrong
		}
		return nil
	}
	n, err := schema.Load([]byte(a))
	if err != nil {
		return fmt.Errorf("analysis %q: %s (is a brace missing, or a quote of the shell's?)", a, err.Message)
	}
	if n.Kind != yaml.MappingNode || strings.ContainsAny(a, "\n#") {
		return fmt.Errorf("analysis %q: want one line of {kind: …, …}", a)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != "kind" {
			continue
		}
		if wrong := analysisWords().Check(n.Content[i+1].Value); wrong != nil {
			return wrong
		}
	}
	return nil
}

// try returns the errors of the study with a choice of sketches; nil if it is valid. The errors
// have no line numbers, as no file has these lines.
func (d Draft) try(choice sketching) []string {
	_, err := Parse([]byte(d.text(choice, DraftColumn.assumed)))
	var all schema.Errors
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

// reasons says why no choice of sketches answers: the reasons that apply to all choices or, if
// there are none, those of each choice.
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

// agree refuses column lists that cannot belong to one study.
func (d Draft) agree() error {
	if len(d.Parties) < 2 {
		return fmt.Errorf("a study needs the column lists of at least 2 parties, got %d", len(d.Parties))
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
	for _, own := range d.Own {
		if !slices.ContainsFunc(d.Parties, func(p DraftParty) bool {
			return slices.ContainsFunc(p.Columns, func(c DraftColumn) bool { return c.Name == own.Name })
		}) {
			return fmt.Errorf("column %q: no party's column list has it", own.Name)
		}
	}
	if d.Partition == study.Horizontal {
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

// terms writes what is known of a column, in a fixed order.
func terms(c DraftColumn) string {
	out := make([]string, len(c.Terms))
	for i, t := range c.Terms {
		out[i] = t.Key + ": " + t.Value
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// text writes the file with a choice of sketches; fill returns the text for what is open.
func (d Draft) text(choice sketching, fill func(DraftColumn) string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("cosketch: study/2")
	line("name: %s", quoted(d.Name))
	if d.Purpose == "" {
		line("# purpose: \"…\"  # %s", remark("purpose"))
	} else {
		line("purpose: %s", strconv.Quote(d.Purpose))
	}
	line("nonce: %q  # %s", hex.EncodeToString(d.Nonce[:]), remark("nonce"))
	line("aggregator:")
	line("  id: %s", d.Aggregator.ID)
	line("  hpke: %s", d.Aggregator.HPKE)
	line("  addrs: %s", quotedList(d.Aggregator.Addrs))
	line("parties:")
	for _, p := range d.Parties {
		about := ""
		if p.Records >= leastRecords && p.Records <= mostRecords {
			about = fmt.Sprintf(", records: %d", p.Records)
		}
		line("  - {name: %s, id: %s%s}", quoted(p.Name), p.ID, about)
	}
	line("partition: %s  # %s", d.Partition, remark("partition"))
	line("# quorum: %d  # %s", max(2, len(d.Parties)/2+1), remark("quorum"))
	line("expires: %s  # %s", d.Expires, remark("expires"))
	line("deadline: %s  # %s", d.Deadline, remark("deadline"))
	line("# keep_until: %s  # %s", d.Deadline+keptAfter, remark("keep_until"))
	if choice.moments() {
		line("records: {id: %s, missing: count}  # moments leave missing values out, and count them with noise", quotedList(d.Records))
	} else if choice.apart {
		line("records: {id: %s, missing: count}  # missing values have a cell of their own", quotedList(d.Records))
	} else {
		line("records: {id: %s, missing: centre}  # a missing value counts as the column's centre", quotedList(d.Records))
	}
	line("# Bounds, centres, spreads and categories are public. They come from a code book or the")
	line("# literature, never from the data. Values outside of bounds are moved to the nearest bound.")
	if choice.moments() {
		line("# Around a centre nothing is moved: a record that is too long is shortened as a whole.")
	} else if choice.apart {
		line("# Around a centre nothing is moved: values far from it are in the first or the last bin.")
	} else {
		line("# Values more than three spreads from a centre are moved to three spreads from it.")
	}
	line("columns:")
	for _, p := range d.Parties {
		columns := p.Columns
		if d.Partition == study.Horizontal {
			columns = d.columns()
		}
		for _, c := range columns {
			if own, ok := d.own(c.Name); ok {
				c = own
			}
			d.column(&b, p, c, fill)
		}
		if d.Partition == study.Horizontal {
			break
		}
	}
	b.WriteString(comment("These sketches were chosen because " + choice.why + "."))
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
	if d.Masked && d.Partition == study.Horizontal {
		line("sum: masked  # %s", remark("sum"))
		line("colluding: %d  # %s", max(1, (len(d.Parties)-1)/2), remark("colluding"))
	}
	if choice.rounds != "" {
		b.WriteString(comment("There are two rounds. " + choice.rounds))
		line("rounds: 2  # %s", remark("rounds"))
	}
	line("analyses:")
	for _, a := range d.Analyses {
		if !strings.HasPrefix(a, "{") {
			a = "{kind: " + a + "}"
		}
		line("  - %s", a)
	}
	line("# recipients: [\"…\"]  # %s", remark("recipients"))
	line("# later: []  # %s", remark("later"))
	return b.String()
}

// keptAfter is how long after the deadline a draft keeps sketches, in seconds: a year.
const keptAfter = 365 * 24 * 3600

// remark returns the description of a key for a comment after it, with its default if it may be
// left out.
func remark(name string) string {
	rows := Keys()
	at := slices.IndexFunc(rows, func(r schema.Row) bool { return r.Name == name })
	if at < 0 {
		panic("a draft writes the key " + name + ", which no study file has")
	}
	out := rows[at].Says
	if otherwise := cmp.Or(rows[at].Default, rows[at].Unset); otherwise != "" {
		out += "; default: " + otherwise
	}
	return out
}

// comment writes text as lines of a comment.
func comment(text string) string {
	return schema.Comment(text)
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
	if d.Partition == study.Vertical {
		parts = append(parts, "owner: "+quoted(p.Name))
	}
	fmt.Fprintf(b, "  - {%s}%s\n", strings.Join(parts, ", "), missing)
}
