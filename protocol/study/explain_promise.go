package study

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
)

func (s *Study) explainGuarantee(p *page, party int) {
	g, err := s.Privacy.Guarantee()
	switch {
	case err != nil:
		p.heading("guarantee", "Guarantee")
		p.text("None: " + err.Error())
	case s.Privacy.Mechanism == dp.None:
		p.heading("guarantee", "No privacy guarantee")
		s.explainNone(p, party)
	default:
		p.heading("guarantee", "Guarantee")
		s.explainPromise(p, g)
	}
}

// explainNone says what mechanism none costs and what must hold before it may be used.
func (s *Study) explainNone(p *page, party int) {
	who := "the aggregator together with any one party"
	if s.publicSketches() != "" {
		who = "here, as it is public, everybody"
	}
	p.text(fmt.Sprintf("The study adds no noise. Whoever knows R (%s) can compute values of single records from what leaves, the more of them the larger a sketch is beside the data. Your ledger records the release as unbounded, for good.", who))
	p.text("Your program sends nothing unless:")
	rows := make([]string, len(s.Sketches), len(s.Sketches)+2)
	for i := range s.Sketches {
		rows[i] = fmt.Sprintf("sketch %d: ", i+1) + s.condition(party, i)
	}
	together := "it is"
	if len(s.Sketches) > 1 {
		together = "all sketches are"
	}
	rows = append(rows, "with what left of the same data without noise before, "+together+" at most a tenth of a number for each number held")
	if s.PlainLabels() {
		rows = append(rows, "labels do not leave as they are, which here they do")
	}
	p.items(rows)
	p.text("or your own site file says accept_reconstruction: true for this study. No one else can say it for you.")
}

// condition says under which condition a sketch without noise is acceptable by itself.
func (s *Study) condition(party, index int) string {
	sk := s.Sketches[index]
	d, at := s.fewest(party, index)
	e, err := s.Reveals(at, index, math.MaxInt32)
	if err != nil {
		return "it cannot be made"
	}
	ok, reason := e.Acceptable()
	switch {
	case sk.Side == sketch.Records && !e.Shape.Discrete:
		text := fmt.Sprintf("k is at most a tenth of the %d values of a record; here k is %d, ", d, sk.Projection.K)
		if ok {
			return text + "which it is"
		}
		return text + "which is too many"
	case !ok:
		return "never, as " + reason
	}
	return fmt.Sprintf("you have at least %d records", s.leastRecords(max(party, 0), index))
}

// fewest returns the number of values of a record in a sketch at the party; for Everyone, at the
// party with the fewest.
func (s *Study) fewest(party, index int) (values, at int) {
	if party != Everyone {
		return len(s.Features(party, index)), party
	}
	for p := range s.Parties {
		if n := len(s.Features(p, index)); p == 0 || n < values {
			values, at = n, p
		}
	}
	return values, at
}

// leastRecords returns the smallest number of records with which a columns-side sketch without
// noise is acceptable.
func (s *Study) leastRecords(party, index int) int {
	return sort.Search(math.MaxInt32, func(records int) bool {
		e, err := s.Reveals(party, index, records)
		if err != nil {
			return false
		}
		ok, _ := e.Acceptable()
		return ok
	})
}

// Together states a guarantee for all sketches of a party together.
func (s *Study) Together(g dp.Guarantee) string {
	what := "All that leaves one party together"
	if s.Masked() {
		what = "All that one party adds to the sums together"
	}
	if s.PlainLabels() {
		what += ", but for the labels"
	}
	return fmt.Sprintf("%s: %s", what, g.Statement(s.Privacy.Unit))
}

func (s *Study) explainPromise(p *page, g dp.Guarantee) {
	p.text(s.Together(g))
	if parts := s.describeParts(); len(parts) > 1 {
		p.text("Of this, " + strings.Join(parts, "; ") + ".")
	}
	if s.PlainLabels() {
		p.text("LABELS LEAVE AS THEY ARE, one for each record. Your program sends none unless your own site file says accept_reconstruction: true for this study, and your ledger records the release as unbounded, for good.")
	}
	if s.Privacy.Mechanism == dp.RandomisedResponse {
		p.text("No noise is added to sums: " + s.describeFlips() + ", before anything is computed with it and once for each release.")
	}
	if person, err := s.PerPerson(); err == nil && !s.PlainLabels() {
		p.text(s.describePerson(s.Exposure(), person))
	}
	if s.Privacy.Unit == dp.Attribute {
		p.text("Values are protected one by one. Not protected: which records a party holds, and whose record this is, to somebody who knows enough other values of it.")
	}
	if s.Masked() {
		s.explainMaskedPromise(p, g)
		return
	}
	p.text("This holds against everybody who takes part, together, with R known to them, and whatever is computed from the releases afterwards. Your ledger is debited before anything leaves.")
}

// describeParts lists each sketch's part of the guarantee, and that of its labels if they have one
// of their own.
func (s *Study) describeParts() (parts []string) {
	for i, sk := range s.Sketches {
		part, err := s.Part(i)
		if err != nil {
			continue
		}
		parts = append(parts, fmt.Sprintf("sketch %d has %s", i+1, part.Values))
		if sk.LabelShare > 0 {
			r, err := s.Response(i)
			if err != nil {
				continue
			}
			parts = append(parts, fmt.Sprintf("its labels have %s", dp.Budget{Epsilon: r.Epsilon()}))
		}
	}
	return parts
}

// describeFlips gives the probability with which bits are flipped in each sketch.
func (s *Study) describeFlips() string {
	parts := make([]string, len(s.Sketches))
	for i := range s.Sketches {
		if f, err := s.Flips(i); err == nil {
			parts[i] = fmt.Sprintf("in sketch %d %v", i+1, f)
		}
	}
	return strings.Join(parts, ", ")
}

func (s *Study) describePerson(e dp.Exposure, b dp.Budget) string {
	switch {
	case s.Privacy.Unit == dp.Attribute && s.Partition == Vertical:
		return fmt.Sprintf("Per person: all %d sketched columns of all parties together, %s.", e.Attributes, b)
	case s.Privacy.Unit == dp.Attribute:
		return fmt.Sprintf("Per person: all %d sketched columns together, %s, at each party that has records of the person.", e.Attributes, b)
	}
	exchange := "Exchanging a record for another counts as two changes."
	if s.Privacy.Replaced {
		exchange = "Exchanging a record for another is one such change."
	}
	if s.Partition == Vertical {
		return fmt.Sprintf("Per person: the releases of all %d parties together, %s. %s The number of records is not protected.", e.Parties, b, exchange)
	}
	return fmt.Sprintf("Per person: %s at each party that has a record of the person. %s The number of records is not protected.", b, exchange)
}

func (s *Study) explainTimes(p *page) {
	p.heading("when", "When")
	start := fmt.Sprintf("the study goes on when all %d have approved", len(s.Parties))
	if s.Quorum < len(s.Parties) {
		start += fmt.Sprintf(", or at that time with at least %d of them", s.Quorum)
	}
	rows := []string{
		fmt.Sprintf("until %s each party approves or declines; it can withdraw until it commits to the seed", s.Expires),
		start,
		s.explainUpload(),
	}
	if s.Masked() {
		rows = append(rows, s.explainRounds()...)
	}
	if s.Quorum < len(s.Parties) && s.Attempts > 1 {
		rows = append(rows, fmt.Sprintf("a party that breaks the agreement on the seed, or is silent, is left out of the next of at most %d attempts; the first ends at %s", s.Attempts, s.AgreeBy(1)))
	}
	if s.LateUntil != 0 {
		rows = append(rows, fmt.Sprintf("until %s late parties may still join, if one of the others welcomes them, and late releases still count: a later result replaces an earlier one", s.LateUntil))
	}
	if s.NewRecords != 0 {
		rows = append(rows, fmt.Sprintf("until %s each party's program keeps the key of R's rows, not the seed, so that the party can find out where new records of its own belong; nothing leaves for that%s", s.NewRecords, map[bool]string{true: ", but for queries, below"}[s.Queries.Releases > 0]))
	}
	p.items(rows)
}

// explainUpload gives the deadline by which a party's releases must have arrived.
func (s *Study) explainUpload() string {
	if !s.Masked() && s.TwoRounds() {
		return fmt.Sprintf("until %s the approved parties agree on the seed and send the first round, and until %s they upload the second; who is late is left out", s.FirstBy(), s.Deadline)
	}
	if !s.Masked() {
		return fmt.Sprintf("until %s the approved parties agree on the seed and upload; who is late is left out", s.Deadline)
	}
	if first := s.AgreeBy(1); s.MostReleases() > 1 {
		return fmt.Sprintf("until %s the approved parties agree on the seed and upload, and in further attempts until %s", first, s.Deadline)
	}
	return fmt.Sprintf("until %s the approved parties agree on the seed and upload", s.Deadline)
}

func (s *Study) explainQuestions(p *page) {
	p.heading("computed", "What is computed")
	rows := make([]string, len(s.Analyses))
	for i, a := range s.Analyses {
		rows[i] = a.explain()
	}
	p.items(rows)
	later := make([]string, len(s.Later))
	for i, kind := range s.Later {
		later[i] = string(kind)
	}
	if len(later) == 0 {
		later = []string{"nothing"}
	}
	p.text("You agree that it may be asked later, of the same releases: " + strings.Join(later, ", ") +
		". The aggregator keeps the releases and could compute other things from them; the guarantee above, or its absence, covers those too.")
}
