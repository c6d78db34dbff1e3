package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Ranges of plausible numbers; others are probably mistakes.
const (
	minEpsilon  = 1e-4
	maxEpsilon  = 1000
	minDelta    = 1e-20
	maxDelta    = 0.01
	maxClip     = 1e3
	maxKurtosis = 1e6
	maxMatrix   = 1 << 28 // bytes of a records-side R
	longestRow  = 2       // longest row of R with noise, in usual lengths

)

// validate checks that the parts of a completed study are consistent.
func (r *reader) validate(s *study.Study) {
	r.validateParties(s)
	r.validateTimes(s)
	r.validateRecords(s)
	r.validateColumns(s)
	r.validatePrivacy(s)
	if len(r.Errs) > 0 {
		return // sketches and analyses depend on all of these
	}
	if len(s.Sketches) == 0 {
		r.Fail("sketches", "lists no sketch")
	}
	for i := range s.Sketches {
		r.validateSketch(s, i)
	}
	r.validateSum(s)
	r.validateRounds(s)
	if len(s.Parties) > study.MostUnmasked && !s.Masked() {
		r.Fail("parties", "%d parties are too many without masked sums, at most %d are possible", len(s.Parties), study.MostUnmasked).Hint = "take fewer parties, or sum: masked"
	}
	if len(r.Errs) > 0 {
		return
	}
	r.validateAnalyses(s)
	r.validateQueries(s)
}

func (r *reader) validateParties(s *study.Study) {
	if len(s.Parties) < 2 {
		r.Fail("parties", "lists %d, at least 2 are needed", len(s.Parties))
		return
	}
	names, ids := map[string]int{}, map[protocol.PeerID]int{}
	for i, p := range s.Parties {
		path := fmt.Sprintf("parties[%d]", i)
		if first, ok := names[p.Name]; ok {
			r.Fail(path+".name", "%q is the name of parties[%d] too", p.Name, first)
		}
		if first, ok := ids[p.ID]; ok {
			r.Fail(path+".id", "is the id of parties[%d] too", first)
		}
		if p.ID == s.Aggregator.ID {
			r.Fail(path+".id", "is the aggregator's id").Hint = "an aggregator is never a party: it would hold the seed and every sketch"
		}
		names[p.Name], ids[p.ID] = i, i
	}
	least := max(2, len(s.Parties)/2+1)
	if s.Quorum < least || s.Quorum > len(s.Parties) {
		r.Fail("quorum", "%d is not between %d and %d", s.Quorum, least, len(s.Parties)).Hint = "at least 2 and more than half of the parties"
	}
}

func (r *reader) validateTimes(s *study.Study) {
	if s.Expires >= s.Deadline {
		r.Fail("deadline", "%s is not after expires, %s", s.Deadline, s.Expires).Hint = "approval closes before upload does"
	}
	if r.Given("late_until") && s.LateUntil <= s.Deadline {
		r.Fail("late_until", "%s is not after deadline, %s", s.LateUntil, s.Deadline).Hint = "late parties come after upload has closed for the others"
	}
	if r.Given("new_records_until") {
		r.validateNewRecords(s)
	}
	r.validateKept(s)
}

// validateKept checks that sketches are kept as long as they are needed.
func (r *reader) validateKept(s *study.Study) {
	last := max(s.Closes(), s.NewRecords)
	if s.KeepUntil != 0 && s.KeepUntil <= last {
		r.Fail("keep_until", "%s is not after the last date of the study, %s", s.KeepUntil, last).Hint = "until then sketches are needed, to answer from"
	}
}

// validateNewRecords checks that there is a sketch in which to place new records, and a party with
// whole records.
func (r *reader) validateNewRecords(s *study.Study) {
	const key = "new_records_until"
	records := slices.ContainsFunc(s.Sketches, func(sk study.Sketch) bool { return sk.Side == sketch.Records })
	switch {
	case s.Partition == study.Vertical:
		r.Fail(key, "does not belong here: in a vertical study no party has whole records to place").Hint = "remove the key"
	case !records:
		r.Fail(key, "does not belong here: new records are placed by a sketch of side records, and there is none").Hint = "remove the key"
	case s.NewRecords <= s.Closes():
		r.Fail(key, "%s is not after the last release, %s", s.NewRecords, s.Closes()).Hint = "until then parties keep what places new records among the results"
	}
}

func (r *reader) validateRecords(s *study.Study) {
	if len(s.Records.ID) == 0 {
		r.Fail("records.id", "lists no column").Hint = "name the columns of your file that identify a record, like [patient]"
	}
	unique(r, "records.id", s.Records.ID)
	unique(r, "records.normalize", s.Records.Normalize)
	if r.Given("records.join") && !s.Joins() {
		r.Fail("records.join", "does not belong here: it is about records-side sketches of a vertical study, and there is none").Hint = "remove the key"
	}
	if s.Records.Missing == study.MissingSkip && s.Privacy.Mechanism != dp.None {
		r.Fail("records.missing", "skip is refused where there is noise: the number of records is public, and would tell which of them lack a value").Hint = "use count, centre or refuse"
	}
	if counting := study.Counting(); s.Records.Missing == study.MissingCount && !slices.ContainsFunc(counting, s.Has) {
		r.Fail("records.missing", "count is for sketches of side %s, and there is none: no other counts absent values", strings.Join(words(counting), " or ")).Hint = "use centre or refuse"
	}
}

// unique refuses a word that occurs twice in a list.
func unique[T ~string](r *reader, path string, words []T) {
	seen := map[T]bool{}
	for i, w := range words {
		if seen[w] {
			r.Fail(fmt.Sprintf("%s[%d]", path, i), "%s appears twice", schema.Excerpt(string(w)))
		}
		seen[w] = true
	}
}

func (r *reader) validateColumns(s *study.Study) {
	if len(s.Columns) == 0 {
		r.Fail("columns", "lists no column")
		return
	}
	names, owners, label := map[string]int{}, map[string]bool{}, -1
	for i, c := range s.Columns {
		path := fmt.Sprintf("columns[%d]", i)
		if first, ok := names[c.Name]; ok {
			r.Fail(path+".name", "%q is the name of columns[%d] too", c.Name, first).Hint = "names are unique over all parties"
		}
		names[c.Name], owners[c.Owner] = i, true
		r.validateOwner(s, c, path)
		if c.Kind == study.Categorical && len(c.Values) < 2 {
			r.Fail(path+".values", "lists %d, at least 2 are needed", len(c.Values))
		}
		unique(r, path+".values", c.Values)
		if _, told := c.Scale.Rate(); told && s.Partition == study.Horizontal {
			r.Fail(path+".centre", "does not belong here: only vertical studies centre their sketches by the rate of a binary column").Hint = "remove the key"
		}
		if c.Label && label >= 0 {
			r.Fail(path+".role", "columns[%d] is the label already", label)
		} else if c.Label {
			label = i
		}
	}
	for i, p := range s.Parties {
		if s.Partition == study.Vertical && !owners[p.Name] {
			r.Fail(fmt.Sprintf("parties[%d]", i), "%q owns no column", p.Name).Hint = "each party of a vertical study brings at least one"
		}
	}
}

func (r *reader) validateOwner(s *study.Study, c study.Column, path string) {
	_, known := s.PartyByName(c.Owner)
	switch {
	case s.Partition == study.Horizontal && c.Owner != "":
		r.Fail(path+".owner", "does not belong here: in a horizontal study every party has every column").Hint = "remove the key"
	case s.Partition == study.Vertical && c.Owner == "":
		r.Fail(path+".owner", "is missing").Hint = "in a vertical study each column names the party that holds it"
	case s.Partition == study.Vertical && !known:
		e := r.Fail(path+".owner", "%q is no party of this study", c.Owner)
		names := make([]string, len(s.Parties))
		for i, p := range s.Parties {
			names[i] = p.Name
		}
		if near := schema.Closest(c.Owner, names); near != "" {
			e.Hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
}

func (r *reader) validatePrivacy(s *study.Study) {
	p := s.Privacy
	if p.Mechanism == dp.None {
		for _, key := range []string{"unit", "neighbours", "epsilon", "delta"} {
			if r.Given("privacy." + key) {
				r.Fail("privacy."+key, "does not belong here: mechanism none gives no guarantee").Hint = "remove the key, or choose laplace or gaussian"
			}
		}
		return
	}
	if p.Unit == "" {
		r.Fail("privacy.unit", "is missing").Hint = "attribute protects one value of one record, record a whole record"
	}
	if !r.Given("privacy.epsilon") {
		r.Fail("privacy.epsilon", "is missing")
	}
	if p.Unit == dp.Attribute && r.Given("privacy.neighbours") {
		r.Fail("privacy.neighbours", "does not belong here: it says what a changed record becomes under unit record").Hint = "remove the key"
	}
	switch given := r.Given("privacy.delta"); {
	case p.Mechanism != dp.Gaussian && given:
		r.Fail("privacy.delta", "does not belong here: %s gives a pure epsilon", p.Mechanism).Hint = "remove the key"
	case p.Mechanism == dp.Gaussian && !given:
		r.Fail("privacy.delta", "is missing").Hint = "well below one over the number of records, like 1e-6"
	}
	r.validateRandomised(s)
	if len(r.Errs) > 0 {
		return
	}
	if _, err := p.Guarantee(); err != nil {
		r.Fail("privacy", "%v", err)
	}
}

// validateRandomised checks what randomised response, which flips bits, requires of the data.
func (r *reader) validateRandomised(s *study.Study) {
	if s.Privacy.Mechanism != dp.RandomisedResponse {
		return
	}
	if s.Privacy.Unit == dp.Record {
		r.Fail("privacy.unit", "record is not what randomised-response gives: it flips single bits").Hint = "take unit: attribute"
	}
	if s.Records.Missing != study.MissingRefuse {
		r.Fail("records.missing", "%s is refused under randomised-response: what stands for an absent value is no bit", s.Records.Missing).Hint = "take missing: refuse"
	}
	for i, c := range s.Columns {
		if c.Kind != study.Binary && s.InSketch(c) {
			r.Fail(fmt.Sprintf("columns[%d].kind", i), "%s is refused under randomised-response, which flips bits", c.Kind).Hint = "binary columns alone can be sketched; laplace takes every kind"
		}
	}
	for i, sk := range s.Sketches {
		if sk.Helpers.Squares {
			r.Fail(fmt.Sprintf("sketches[%d].helpers.squares", i), "does not belong here: a bit is its own square").Hint = "remove the key"
		}
	}
}

func (r *reader) validateSketch(s *study.Study, i int) {
	if s.Partition == study.Vertical && s.Sketches[i].Side == sketch.Records && len(s.Parties) > study.MostWhole {
		r.Fail(fmt.Sprintf("sketches[%d].side", i), "records of %d parties cannot be joined, at most %d can", len(s.Parties), study.MostWhole).Hint = "take fewer parties, or side columns"
	}
	sk, path := s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
	if row, ok := additiveOf(sk.Side); ok {
		r.validateSums(s, row, i)
		return
	}
	if s.Merge(i) == study.Join && s.Privacy.Unit == dp.Record {
		r.Fail(path+".side", "records of a vertical study are refused under unit record").Hint = "such a sketch shows which records a party holds, and that is what unit record would hide"
		return
	}
	r.validateHelpers(s, sk, path)
	r.validateClip(s, sk, path)
	r.validateOwn(s, sk, path)
	r.validateLabels(s, i, path)
	r.validateMatrix(s, i, path)
	for party := range s.Parties {
		switch n := len(s.Features(party, i)); {
		case n == 0:
			r.Fail(path, "party %q would have no column in it", s.Parties[party].Name).Hint = "the label is left out of records-side sketches"
			return
		case n > study.MaxFeatures:
			r.Fail(path, "party %q would have %d features, at most %d are possible", s.Parties[party].Name, n, study.MaxFeatures)
			return
		}
	}
	if _, err := s.Flips(i); err != nil {
		r.Fail(path, "%v", err)
		return
	}
	r.validateProjection(s, i, path)
}

func (r *reader) validateHelpers(s *study.Study, sk study.Sketch, path string) {
	if ones := sk.Helpers.Ones; ones > 0 && fixedpoint.Weight(ones, s.Bits) == 0 {
		r.Fail(path+".helpers.ones", "%v is less than the resolution of %d bits", ones, s.Bits)
	}
}

func (r *reader) validateClip(s *study.Study, sk study.Sketch, path string) {
	clip := path + ".clip"
	switch {
	case s.Privacy.Unit != dp.Record && r.Given(clip):
		r.Fail(clip, "does not belong here: it bounds a record's contribution under unit record").Hint = "remove the key"
	case s.Privacy.Unit != dp.Record:
	case !r.Given(clip):
		r.Fail(clip, "is missing").Hint = "unit record needs a bound on one record's contribution, like 0.8"
	case !(sk.Clip*float64(s.Bits.One()) >= 1) || sk.Clip > maxClip:
		r.Fail(clip, "%v is not between one step of %d bits and %v", sk.Clip, s.Bits, float64(maxClip))
	case sk.Clip <= sk.Helpers.Ones:
		r.Fail(clip, "%v leaves no room beside the column of ones, which has weight %v", sk.Clip, sk.Helpers.Ones).Hint = "a larger clip, or a smaller helpers.ones"
	}
}

func (r *reader) validateProjection(s *study.Study, i int, path string) {
	p := s.Sketches[i].Projection
	before := r.Failures
	if !r.Given(path + ".family") {
		r.Fail(path+".family", "is missing")
		return
	}
	if r.validateFamily(s, i, path); r.Failures > before {
		return
	}
	if !r.Given(path+".k") && p.Family != projection.Identity {
		r.Fail(path+".k", "is missing").Hint = "the length of a sketch, like 256: the error falls with 1/√k"
		return
	}
	if r.validateSize(s, i, path); r.Failures > before {
		return
	}
	if p.Family == projection.Sparse && p.S > 0 && p.K%p.S != 0 {
		e := r.Fail(path+".s", "%d does not divide k, %d", p.S, p.K)
		if below, above := p.K/p.S*p.S, (p.K/p.S+1)*p.S; below > 0 {
			e.Hint = fmt.Sprintf("take k: %d or k: %d", below, above)
		} else {
			e.Hint = fmt.Sprintf("take k: %d", above)
		}
		return
	}
	if err := p.Validate(); err != nil {
		r.Fail(path+".s", "%v", err)
	}
}

// validateFamily checks that the family can be used here.
//
// Gaussian rows differ in length, and noise must cover the longest row that R could have. A bound
// from the actual rows would be unknown to the aggregator, which has no seed, and a bound that
// holds with high probability is not enough. The bound is eight times the usual length. So such a
// family is for studies without noise; achlioptas, whose bound is √3 times, is not refused.
func (r *reader) validateFamily(s *study.Study, i int, path string) {
	sk := s.Sketches[i]
	const otherwise = "it belongs to side records; here take sparse or rademacher"
	switch features := len(s.AllFeatures(i)); {
	case sk.Side == sketch.Columns && !sk.Projection.ServesColumns():
		r.Fail(path+".family", "%s is for records-side sketches: it has rows of R for columns, not for records", sk.Projection.Family).Hint = otherwise
	case sk.Projection.Family == projection.Identity && sk.Projection.K != features:
		r.Fail(path+".k", "%d is not the number of features, %d", sk.Projection.K, features).Hint = "leave k out: identity keeps every feature"
	case s.Privacy.Mechanism != dp.None && s.Privacy.Mechanism != dp.RandomisedResponse && sk.Projection.MaxRowNormRatio() > longestRow:
		r.Fail(path+".family", "%s is refused with noise: its rows differ in length, and noise would have to cover one %.0f times as long as usual", sk.Projection.Family, sk.Projection.MaxRowNormRatio()).Hint = fmt.Sprintf("take sparse or rademacher, whose rows are all equally long and err less; %s goes with mechanism: none or randomised-response", sk.Projection.Family)
	}
}

// validateSize checks k, which is in range, against the number of features.
func (r *reader) validateSize(s *study.Study, i int, path string) {
	sk, features := s.Sketches[i], len(s.AllFeatures(i))
	size := projection.HadamardSize(features)
	switch bytes := sk.Projection.Cost(features).Bytes; {
	case sk.Projection.Family == projection.Hadamard && sk.Projection.K > size:
		r.Fail(path+".k", "%d is more than %d, the least power of two that holds the %d features", sk.Projection.K, size, features).Hint =
			fmt.Sprintf("k: %d keeps everything, a smaller one compresses", size)
	case sk.Side == sketch.Records && bytes > maxMatrix:
		r.Fail(path+".k", "%d for each of %d features makes a matrix of %d MB, which a party holds in memory; the limit is %d MB", sk.Projection.K, features, bytes>>20, maxMatrix>>20).Hint =
			"hadamard takes hardly any memory"
	}
}
