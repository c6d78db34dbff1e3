package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/day"
)

// Everyone stands for no party in particular; see Explain.
const Everyone = -1

// Explain says in plain words, for the person who decides about a party's data, what leaves if the
// study is approved, to whom, under which guarantee and until when. The party is an index into
// Parties, or Everyone. The blocks before the first heading are the study's name and id. In text
// from the file, every character that could pass for another is written as \u{hex}: all but
// printable ASCII, letters of European languages in Latin script and a few signs.
func (s *Study) Explain(party int) []block.Block {
	p := &page{}
	p.text(fmt.Sprintf("Study %s", quote(s.Name)))
	p.text(s.ID.String())
	p.text(fmt.Sprintf("Compare these first eight characters with the other parties before you approve: %s; or, over a telephone, these words: %s", s.ID.Short(), s.ID.Words()))
	s.explainWho(p, party)
	if party != Everyone {
		s.explainColumns(p, party)
	}
	s.explainReleases(p, party)
	s.explainReaders(p, party)
	s.explainGuarantee(p, party)
	s.explainTimes(p)
	s.explainQuestions(p)
	s.explainQueries(p)
	if names := s.ConfusableNames(); len(names) > 0 {
		p.heading("names", "Names to look at twice")
		p.items(names)
	}
	return p.blocks
}

func (s *Study) explainWho(p *page, party int) {
	p.heading("who", "Who takes part")
	if s.Partition == Vertical {
		p.text(fmt.Sprintf("%d parties that hold different columns about the same records.", len(s.Parties)))
	} else {
		p.text(fmt.Sprintf("%d parties that hold the same columns about different records.", len(s.Parties)))
	}
	var rows []string
	for i, q := range s.Parties {
		row := fmt.Sprintf("%s, %s, in words %s", quote(q.Name), q.ID, q.ID.Words())
		if q.Records != 0 {
			row += fmt.Sprintf(", about %d records", q.Records)
		}
		if i == party {
			row += " (you)"
		}
		rows = append(rows, row)
	}
	p.items(append(rows, fmt.Sprintf("the aggregator, which holds no data of its own, %s, in words %s", s.Aggregator.ID, s.Aggregator.ID.Words())))
}

// maxListed bounds the number of columns listed one by one.
const maxListed = 100

func (s *Study) explainColumns(p *page, party int) {
	p.heading("columns", "Your columns")
	own := s.OwnColumns(party)
	var rows []string
	for _, i := range own[:min(len(own), maxListed)] {
		rows = append(rows, s.describeColumn(s.Columns[i]))
	}
	if more := len(own) - len(rows); more > 0 {
		rows = append(rows, fmt.Sprintf("and %d more, in the study file", more))
	}
	p.items(rows)
	absent := map[Missing]string{
		MissingRefuse: "An absent value is an error.",
		MissingCentre: "An absent value becomes the centre, or the middle of the bounds.",
		MissingCount:  s.describeAbsent(),
		MissingSkip:   "A record with an absent value is left out.",
	}
	outside := "Values outside these public bounds are moved to the nearest bound. "
	if s.Unlimited() && !s.AllBounded() {
		outside = "Values outside of bounds are moved to the nearest bound. Values far from a centre stay as they are, and a record that is too long is shortened as a whole. "
	}
	p.text(outside + absent[s.Records.Missing] +
		" Records are known by " + Listed(s.Records.ID) + "; two records with one id are an error.")
}

func (s *Study) describeColumn(c Column) string {
	out := quote(c.Name) + ": " + string(c.Kind)
	switch c.Kind {
	case Numeric:
		out += ", " + s.describeScale(c)
	case Binary:
		if rate, ok := c.Scale.Rate(); ok {
			out += fmt.Sprintf(", 1 in about %s %% of records", round(100*rate))
		}
	case Categorical:
		out += ", one of " + Listed(c.Values)
	}
	switch travels := slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Labels != LabelsNone }); {
	case c.Label && travels:
		out += ", the label, beside the rows of records-side sketches and not mixed into them"
	case c.Label:
		out += ", the label, in no records-side sketch"
	}
	if c.Source != "" {
		out += ", numbers from " + quote(c.Source)
	}
	return out
}

func (s *Study) describeScale(c Column) string {
	first, second := c.Scale.Declared()
	t, words := c.Scale.Transform(), ""
	least, greatest := c.Scale.Ends()
	if !t.IsZero() {
		words = fmt.Sprintf(", as %s", show(c.Title()))
	}
	if t.IsLog() {
		words += fmt.Sprintf(", where 0 and less count as %s", round(t.Invert(least)))
	}
	_, _, bySpread := c.Scale.CentreSpread()
	switch {
	case c.Date && bySpread:
		reaches := ""
		if !s.Unlimited() {
			reaches = fmt.Sprintf(", so %s to %s", day.Text(least), day.Text(greatest))
		}
		return fmt.Sprintf("dates, centre %s and spread %v days%s", day.Text(first), second, reaches)
	case c.Date:
		return fmt.Sprintf("dates, %s to %s", day.Text(first), day.Text(second))
	case !bySpread:
		return fmt.Sprintf("%v to %v%s", first, second, words)
	}
	factor, reaches := "", ""
	if !t.IsZero() {
		factor = "a factor of "
	}
	if !s.Unlimited() {
		reaches = fmt.Sprintf(", so %s to %s", round(t.Invert(least)), round(t.Invert(greatest)))
	}
	return fmt.Sprintf("centre %v and spread %s%v%s%s", first, factor, second, reaches, words)
}

// round formats a number with six significant digits.
func round(x float64) string { return fmt.Sprintf("%.6g", x) }

// Listed quotes words and joins them by commas. After the first 100 it gives only the number of the
// others.
func Listed(words []string) string {
	shown := make([]string, 0, len(words))
	for _, w := range words[:min(len(words), maxListed)] {
		shown = append(shown, quote(w))
	}
	if more := len(words) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

// describeAbsent says what happens to absent values that are counted.
func (s *Study) describeAbsent() (out string) {
	for _, row := range counting() {
		if s.Has(row.side) {
			out += row.absent + " "
		}
	}
	return out + "In other sketches an absent value becomes the centre, or the middle of the bounds."
}

func (s *Study) explainReleases(p *page, party int) {
	if party == Everyone {
		p.heading("leaves", "What leaves each party")
	} else {
		p.heading("leaves", "What leaves your organisation")
	}
	once := "Each release is drawn once and only ever re-sent byte for byte."
	if s.Masked() {
		once += " It is masked: see below who can read it."
	}
	p.text(once)
	if s.TwoRounds() {
		what := "where the second round is to look"
		switch _, looks := s.Look(); {
		case looks && s.LooksAtValues():
			what = "how the second round moves, scales and cuts records"
		case looks:
			what = "the length to which the second round cuts records"
		}
		alone := ""
		if s.FirstAnswers() {
			alone = " If too few release the second in time, the first alone is the answer."
		}
		p.text("There are two rounds, and your approval is for both. Your program releases the sketches of the first round. The aggregator works out from everybody's " + what + ", and your program works that out, too: where the two differ, it stops and says so. Then it releases the rest. The guarantee below is for both rounds together, and your budget must have room for both before the first: what the second needs is kept for it. A party that is lost in the first round has no part in the second." + alone)
	}
	var rows []string
	for i := range s.Sketches {
		rows = append(rows, s.describeSketch(i, party))
	}
	if of := s.publicSketches(); of != "" {
		rows = append(rows, fmt.Sprintf("the key of the rows of R of %s, %d bytes, the same from every party", of, 32*s.publishedOf(sketch.Records)))
	}
	if n := s.publishedOf(sketch.Cells); n > 0 {
		rows = append(rows, fmt.Sprintf("the keys of the directions between the cells, %d bytes, the same from every party", 32*n))
	}
	p.items(append(rows, "the number of your records, and signed messages that hold no data"))
	if s.Joins() {
		p.text("Nothing else leaves. Record ids leave as pseudonyms alone, which are made of them by a key that the parties agree on, for this study.")
	} else {
		p.text("Nothing else leaves, and no record id in any form.")
	}
	limit := int64(math.MaxInt64)
	for i := range s.Sketches {
		limit = min(limit, s.RecordLimit(i))
	}
	p.text(fmt.Sprintf("A party may have %d records at most; data with more are refused while they are read.", limit))
}

func (s *Study) describeSketch(i, party int) string {
	sk := s.Sketches[i]
	out := fmt.Sprintf("sketch %d of %d, %s: ", i+1, len(s.Sketches), sk.Projection)
	switch {
	case sk.Side.Sums():
		row, _ := additiveOf(sk.Side)
		out = fmt.Sprintf("sketch %d of %d, %s", i+1, len(s.Sketches), s.describeSums(row, i))
	case sk.Side == sketch.Columns:
		out += s.describeColumnsSide(i, party)
	default:
		d, _ := s.fewest(party, i)
		whole := s.Merge(i) != Join || party != Everyone // otherwise parties have different numbers of values
		switch k := sk.Projection.K; {
		case !whole && sk.Projection.Family == projection.Identity:
			out += "for each record as many integers as the party has values of it, "
		case sk.Projection.Family == projection.Identity:
			out += fmt.Sprintf("for each record %d integers, between %d and %d bytes, ", d, d, 8*d)
		default:
			out += fmt.Sprintf("for each record %d integers, between %d and %d bytes, ", k, k, 8*k)
		}
		switch {
		case sk.Projection.Family == projection.Identity:
			out += "which are its values themselves"
		case !whole:
			out += "that mix the party's values of it"
		case sk.Projection.OrthogonalRows(len(s.AllFeatures(i))):
			out += fmt.Sprintf("which are its %d values rotated: whoever knows R rotates them back", d)
		default:
			out += fmt.Sprintf("that mix its %d values", d)
		}
		switch s.Privacy.Mechanism {
		case dp.None:
		case dp.RandomisedResponse:
			out += ", each bit of it randomised"
		default:
			out += ", with noise"
		}
		if s.Merge(i) == Join {
			out += "; and for each record a pseudonym of 16 bytes"
		}
	}
	if labels := s.describeLabels(i); labels != "" {
		out += "; " + labels
	}
	switch {
	case sk.OwnClip:
	case sk.Whole && s.Privacy.Mechanism != dp.None:
		out += "; no record is cut: values lie within their bounds"
	case sk.Clip > 0:
		out += fmt.Sprintf("; one record's part is cut to length %v, where the range between bounds, or three spreads, has length 1", sk.Clip)
		if s.CountsClipped(i) {
			out += ", and how many records are cut is counted, with noise"
		}
	}
	return out
}

func (s *Study) describeColumnsSide(i, party int) string {
	k := s.Sketches[i].Projection.K
	var sizes []int
	for q := range s.Parties {
		if n := len(s.Features(q, i)); party == Everyone || party == q {
			sizes = append(sizes, n)
		}
	}
	least, most := slices.Min(sizes), slices.Max(sizes)
	rows := k
	if s.StandardisedColumns(i) {
		rows += OwnRows
	}
	if s.CountsClipped(i) {
		rows++
	}
	n := fmt.Sprint(least)
	if least != most {
		n = fmt.Sprintf("%d to %d", least, most)
	}
	noisy := ", with noise,"
	switch s.Privacy.Mechanism {
	case dp.None:
		noisy = ""
	case dp.RandomisedResponse:
		noisy = ", each bit randomised,"
	}
	out := fmt.Sprintf("%d x %s integers, %s, however many records there are: one column of %d sums over all records%s for each ",
		rows, n, s.Sizes(int64(rows)*int64(least), int64(rows)*int64(most)), k, noisy)
	parts := []string{"value"}
	if s.Sketches[i].Helpers.Squares {
		parts = append(parts, "squared value")
	}
	out += strings.Join(parts, " and ")
	if ones := s.Sketches[i].Helpers.Ones; ones > 0 {
		out += fmt.Sprintf(", and one for a column of ones of weight %v", ones)
	}
	out += s.describeOwn(i)
	return out
}

// Sizes returns the size in bytes of from least to most integers: 1 to 8 bytes each, or 8 if they
// are masked.
func (s *Study) Sizes(least, most int64) string {
	if s.Masked() {
		return block.Bytes(8 * most)
	}
	return block.Bytes(least) + " to " + block.Bytes(8*most)
}

// publicDirections says what the keys released with cells reveal.
const publicDirections = "The directions between the cells are public: their keys leave with your release, and tell the aggregator where each cell lies, so that it can give every cell to the cluster that is nearest. The guarantee below counts them as known. They make neither the seed nor any other key known."

func (s *Study) explainReaders(p *page, party int) {
	p.heading("readers", "Who sees it")
	if s.Masked() {
		s.explainMaskedReaders(p)
	} else {
		what := "No party sees another party's sketch; all see the results and the record counts."
		if s.TwoRounds() {
			what = "The other parties see your sketches of the first round, noise and all, as they have to check what follows from them. No party sees another party's sketches of the second; all see the results and the record counts."
		}
		p.text(fmt.Sprintf("The aggregator %s sees every party's sketches. %s", s.Aggregator.ID, what))
	}
	if s.Masked() && s.TwoRounds() {
		p.text("The other parties see your masked sketches of the first round, and so their sum.")
	}
	var added []string
	for i := range s.Sketches {
		if s.Merge(i) == Add && !s.Masked() {
			added = append(added, strconv.Itoa(i+1))
		}
	}
	switch last := len(added) - 1; last {
	case -1:
	case 0:
		p.text(fmt.Sprintf("The results use the parties' sum of sketch %s, but each party's sketch reaches the aggregator on its own.", added[0]))
	default:
		p.text(fmt.Sprintf("The results use the parties' sums of sketches %s and %s, but each party's sketches reach the aggregator on their own.", strings.Join(added[:last], ", "), added[last]))
	}
	switch {
	case s.Joins():
		p.text("THE AGGREGATOR SEES WHICH RECORDS SEVERAL PARTIES HOLD: a record has the same pseudonym at each of them, by which their rows are joined. The aggregator together with any one party can find whose records you hold, by trying ids out. No noise covers this, and the guarantee below is about values alone.")
		p.text("All see how many records how many parties have. " + map[JoinRule]string{
			JoinAll: "Answers are about the records that every party in a result has.",
			JoinAny: "Answers are about the records that some party has; where another lacks one, its columns count as their centres, or the middles of their bounds.",
		}[s.Records.Join])
	case slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return sk.Side == sketch.Records }):
		p.text("Records-side sketches come in a secret shuffled order: their rows carry no record id.")
	}
	if slices.ContainsFunc(s.Sketches, func(sk Sketch) bool { return !sk.Side.Sums() }) {
		s.explainMatrix(p)
	}
	if s.cells() {
		p.text(publicDirections)
	}
}
