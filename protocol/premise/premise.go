// Package premise has codes for the assumptions of the numbers in a result, beside noise and
// projection, and their texts. Decisions are made on the codes.
package premise

import (
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol/study"
)

// Code is one assumption of numbers, or what they are about. A code never changes; its text may be
// reworded.
type Code string

// Assumptions about records that were clipped, and about missing or extreme values.
const (
	FewCut          Code = "few-cut"
	FallOff         Code = "fall-off"
	CutAsked        Code = "cut-asked"
	CutMeansAsked   Code = "cut-means-asked"
	NobodyCounted   Code = "cut-not-counted"
	Limited         Code = "values-limited"
	MissingIsCentre Code = "missing-is-centre"
)

// Assumptions of kinds of analysis, and those that they do not need.
const (
	Normal        Code = "normal-classes"
	NormalNoise   Code = "normal-noise"
	Independent   Code = "independent-records"
	ChosenBlindly Code = "chosen-blindly"
	RandomOverlap Code = "random-overlap"          // of all parties, for one matrix
	RandomPairs   Code = "random-overlap-of-pairs" // of each pair of parties
	AnyOverlap    Code = "any-overlap"             // no assumption
	AnyPairs      Code = "any-overlap-of-entries"  // no assumption, entry by entry
)

// What numbers are about.
const (
	Together       Code = "union"
	NoOverlap      Code = "missing-is-zero"
	EntriesOfUnion Code = "union-entries"
	NumbersOfUnion Code = "union-numbers"
	MomentsOfUnion Code = "union-moments"
	MomentsThere   Code = "moments-of-present"
	CutFirst       Code = "cut-first"
	InCells        Code = "in-cells"
	CutForMeans    Code = "cut-for-means"
	AlongAxes      Code = "along-axes"
	SharedNumbers  Code = "shared-numbers"
	AllPairs       Code = "all-pairs"
	NearestChosen  Code = "nearest-chosen"
	NearestAsked   Code = "nearest-asked"
	AsReleased     Code = "as-released"
	NoiseTakenOff  Code = "noise-taken-off"
	AbsentApart    Code = "absent-apart"
	OfPresent      Code = "of-present"
	BeyondEnds     Code = "beyond-ends"
)

// A form is how a premise fits into a sentence.
type form int

const (
	that    form = iota // "it assumes that" the text
	nothing             // "it assumes" the text, which begins with the word nothing
	about               // the text is not an assumption
)

const (
	anyOverlap   = "nothing about which records the parties share"
	forTheChoice = "an interval of a distance also allows for the choice of the nearest among all records. "
	throughout   = " over all records of the union"
)

var texts = map[Code]struct {
	form form
	says string
}{
	FewCut:          {that, "the few records that were cut to the clip do not matter beside the noise"},
	FallOff:         {that, "lengths of records fall off beyond the clip as they do up to it"},
	CutAsked:        {that, "the question is about shortened records, as intervals may miss what whole records would give"},
	CutMeansAsked:   {that, "means are asked of shortened records, as intervals may miss those of whole ones"},
	NobodyCounted:   {that, "hardly any record is longer than the clip, as nobody counted them"},
	Limited:         {that, "a value more than three spreads from its centre counts as three spreads away"},
	MissingIsCentre: {that, "a missing value is the centre of its column or the middle of its bounds"},

	Normal:        {that, "values are normal within each class, with one covariance, of which accuracies are those of the best score"},
	NormalNoise:   {that, "noise is nearly normal where two clusters meet, for the inertia without it"},
	Independent:   {that, "records are drawn independently, and one record moves a model little; accuracy is that of models trained on as many records"},
	ChosenBlindly: {that, "the records were chosen without regard to the releases: of the nearest or farthest of many, chosen by what was released, an interval would have to allow for the choice, as those of neighbors do"},
	RandomOverlap: {that, "the records that parties share are a random part of each party's records"},
	RandomPairs:   {that, "the records that two parties share are a random part of each party's records"},
	AnyOverlap:    {nothing, anyOverlap},
	AnyPairs:      {nothing, anyOverlap + ": each entry is over the records that its two columns have in common"},

	Together:       {about, "means and products are" + throughout},
	NoOverlap:      {about, "a record that one party lacks counts as zero there"},
	EntriesOfUnion: {about, "each entry is" + throughout},
	NumbersOfUnion: {about, "a number is" + throughout},
	MomentsOfUnion: {about, "means and covariances are" + throughout},
	MomentsThere:   {about, "means are over the values that are there, covariances and correlations over the records that have both values"},
	CutFirst:       {about, "each record is cut to the clip first"},
	InCells:        {about, "sizes and means are of all records in the cells that lie nearest to a cluster"},
	AlongAxes:      {about, "clusters are told apart along the main directions of all records, and across these have the mean of all"},
	CutForMeans:    {about, "for means, each record is cut to the study's clip"},
	SharedNumbers:  {about, "a number is over the records that the column's party and the other one both hold"},
	AllPairs:       {about, "a mean is over all pairs of two different records"},
	NearestChosen:  {about, forTheChoice + "Neighbours are those of the records as they were released"},
	NearestAsked:   {about, forTheChoice + "The nearest are those among the records as they were released"},
	AsReleased:     {about, "it is about the records as they were released, whose noise brings all factors nearer to 1"},
	NoiseTakenOff:  {about, "what the noise adds to a squared distance on average is taken off; the records are as they were released, so that noise makes some stand out"},
	AbsentApart:    {about, "records without a value are counted apart"},
	OfPresent:      {about, "shares are of the records that have a value"},
	BeyondEnds:     {about, "a value more than three spreads from its centre is in the first or the last bin, which have no end"},
}

// All returns the codes in alphabetical order.
func All() []Code { return slices.Sorted(maps.Keys(texts)) }

// List is what some numbers assume, and what they are about.
type List []Code

// Known reports whether each code has a text here; codes of later versions have none.
func (l List) Known() bool {
	return !slices.ContainsFunc(l, func(c Code) bool { _, ok := texts[c]; return !ok })
}

// String returns the text of the list as in documents. A single assumption has no "that" before it.
func (l List) String() string {
	if c, alone := l.alone(); alone {
		return texts[c].says
	}
	return l.clause()
}

// Sentence says what somebody, such as an estimator, assumes.
func (l List) Sentence(who string) string { return who + " assumes " + l.clause() + "." }

// alone returns the assumption of a list that has only this one code.
func (l List) alone() (Code, bool) {
	if len(l) != 1 || texts[l[0]].form == about {
		return "", false
	}
	return l[0], true
}

// clause returns the text that follows "assumes".
func (l List) clause() string {
	var assumed, abouts []string
	for _, c := range l {
		switch text := texts[c]; text.form {
		case that:
			assumed = append(assumed, "that "+text.says)
		case nothing:
			assumed = append(assumed, text.says)
		case about:
			abouts = append(abouts, text.says)
		}
	}
	switch over := strings.Join(abouts, "; "); {
	case len(l) == 0:
		return ""
	case len(assumed) == 0:
		return "nothing: " + over
	case len(abouts) == 0:
		return strings.Join(assumed, ", and ")
	default:
		return strings.Join(assumed, ", and ") + "; " + over
	}
}

// Usual returns the default assumptions of answers of a kind, which documents leave out. It is
// empty for kinds whose answers differ in them.
func Usual(kind study.AnalysisKind, by study.Estimator) List {
	switch {
	case by == study.E1:
		return List{AnyOverlap}
	case by == study.E2:
		return List{RandomPairs}
	case kind == study.KMeans:
		return List{NormalNoise}
	}
	return nil
}
