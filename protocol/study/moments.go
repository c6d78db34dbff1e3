package study

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Default weights of sums beside products, in units of the clip: 3 leaves 25/34 of μ² to the
// products; 2 is for studies that ask for no mean.
const (
	sumWeight         = 3
	sumWeightUnasked  = 2
	autoMomentBits    = 12 // what "bits: auto" takes at most
	leastMomentLength = 64 // steps
	mostFine          = 4  // bits
)

// Shares of a moments sketch's μ² that go to a party's own noisy moments, by which it
// standardises, and to its own noisy lengths, by which it chooses its clip. The sketch has the
// rest.
const (
	shareStandardise  = 0.1
	shareLengths      = 0.06
	shareLengthsAlone = 0.2 // without products
)

// clip reads a length, or the words own and whole.
func (o object) clip(sk *Sketch) {
	if n := o.Values["clip"]; n != nil && n.Kind == yaml.ScalarNode {
		switch n.Value {
		case "own":
			if sk.OwnClip = true; sk.Side != sketch.Moments {
				o.Fail("clip", "own belongs to side moments").Hint = "write a length, like 0.8"
			}
			return
		case "whole":
			if sk.Whole = true; !sk.Side.Sums() {
				o.Fail("clip", "whole belongs to sides moments and cells").Hint = "write a length, like 0.8"
			}
			return
		}
	}
	sk.Clip = o.Number("clip")
}

// momentKeys reads what is particular to side moments.
func (o object) momentKeys(sk *Sketch) {
	if o.Has("products") && !o.Flag("products") {
		sk.Moments.Sums = -1
		o.forbid("sums", "weighs sums beside products, and there are none")
		o.forbid("fourth", "goes with products, and there are none")
	}
	if o.Has("sums") {
		if sk.Moments.Sums = o.Whole("sums"); sk.Moments.Sums < 2 || sk.Moments.Sums > 5 {
			o.Fail("sums", "%d is not between 2 and 5", sk.Moments.Sums).Hint = "the weight of sums beside that of squares, 5; default 3"
		}
	}
	sk.Moments.Fourth = o.Flag("fourth")
	o.standardise(sk)
}

// standardise reads whose moments columns are moved and scaled by.
func (o object) standardise(sk *Sketch) {
	if o.Has("standardise") {
		if word := o.Word("standardise", 16); word != "own" && word != "" {
			o.Fail("standardise", "%s is not supported by this version; it has: own", schema.Excerpt(word))
		}
		sk.Standardise = true
	}
}

func (o object) forbidMoments() {
	for _, key := range []string{"products", "sums", "fourth"} {
		o.forbid(key, "belongs to side moments")
	}
}

// completeMoments fills in what the study leaves open of a moments sketch, by what it asks.
func (r *reader) completeMoments(s *Study, index int) {
	sk, path := &s.Sketches[index], fmt.Sprintf("sketches[%d]", index)
	asked := append(kindsOf(s.Analyses), s.Later...)
	means, others, apart := false, false, s.meansApart(index)
	for _, k := range asked {
		switch k {
		case Mean:
			means = means || !apart
		case Covariance, Correlation, PCA, KMeans:
			others = true
		default:
			means, others = true, true
		}
	}
	switch {
	case sk.Moments.Sums == -1 || !r.Given(path+".products") && means && !others && !sk.Moments.Fourth && !r.Given(path+".sums") && !s.has(sketch.Cells):
		sk.Moments.Sums = 0
	case r.Given(path + ".sums"):
	case means:
		sk.Moments.Sums = sumWeight
	default:
		sk.Moments.Sums = sumWeightUnasked
	}
	if !r.Given(path+".clip") && s.Privacy.Unit == dp.Record && len(s.Parties) > 0 {
		switch {
		case s.bounded() && !sk.Standardise:
			sk.Whole = true
		case !s.Masked():
			sk.OwnClip = true
		}
	}
	if sk.Whole {
		sk.Clip = s.TypicalLength(index)
	}
	if sk.OwnClip {
		sk.Clip = s.TypicalLength(index)
	}
}

// meansApart reports whether means are answered by a sketch of sums alone that stands before one of
// moments.
func (s *Study) meansApart(index int) bool {
	return slices.ContainsFunc(s.Sketches[:index], func(sk Sketch) bool { return sk.Side == sketch.Moments && sk.Moments.Sums == 0 })
}

// has reports whether the study has a sketch of a side.
func (s *Study) has(side sketch.Side) bool {
	for _, sk := range s.Sketches {
		if sk.Side == side {
			return true
		}
	}
	return false
}

// bounded reports whether no column has a centre and spread.
func (s *Study) bounded() bool {
	for _, c := range s.Columns {
		if _, _, ok := c.Scale.CentreSpread(); ok {
			return false
		}
	}
	return true
}

// anyBetween reports whether some numeric column has bounds.
func (s *Study) anyBetween() bool {
	return slices.ContainsFunc(s.Columns, func(c Column) bool {
		_, _, bounded := c.Scale.Bounds()
		return bounded && c.Kind == Numeric
	})
}

// Wide reports whether values go on beyond three spreads: where all sketches cut whole records
// to a length, nothing else has to be cut. See fixedpoint.Scale.Unlimited. Without noise records are
// not cut, and exact sums of values without end would hold few of them.
func (s *Study) Wide() bool {
	return s.Privacy.Unit == dp.Record && s.Privacy.Mechanism != dp.None && s.allSums()
}

func (s *Study) allSums() bool {
	for _, sk := range s.Sketches {
		if !sk.Side.Sums() {
			return false
		}
	}
	return len(s.Sketches) > 0
}

// labelApart reports whether a feature of a moments sketch is of a label with classes, which is
// counted by class and has no part in the records that are cut.
func (s *Study) labelApart(index int, f Feature) bool {
	return s.Sketches[index].Side == sketch.Moments && f.Column >= 0 && s.Columns[f.Column].Label && len(s.Columns[f.Column].Classes()) > 0
}

// MomentEntries lists which features of a moments sketch are entries of the records that it
// sums: all but those of the label.
func (s *Study) MomentEntries(index int) (entries []int) {
	for i, f := range s.Features(0, index) {
		if !s.labelApart(index, f) {
			entries = append(entries, i)
		}
	}
	return entries
}

// MomentClasses is how many classes a moments sketch counts: those of the label and, where
// absent values are counted, one for records that have none. 0 without a label.
func (s *Study) MomentClasses(index int) int {
	c, ok := s.Label()
	switch {
	case !ok || len(c.Classes()) == 0:
		return 0
	case s.Records.Missing == MissingCount:
		return len(c.Classes()) + 1
	}
	return len(c.Classes())
}

// Unlabelled reports whether the last class of a moments sketch is of the records without a label.
func (s *Study) Unlabelled(index int) bool {
	return s.Records.Missing == MissingCount && s.MomentClasses(index) > 0
}

// MomentLayout is what a moments sketch holds.
func (s *Study) MomentLayout(index int) sketch.MomentLayout {
	sk := s.Sketches[index]
	l := sketch.MomentLayout{
		Columns: len(s.MomentEntries(index)), Products: sk.Moments.Sums > 0, Classes: s.MomentClasses(index), Fourth: sk.Moments.Fourth,
		Cut: s.cuts(index), CutSums: s.cuts(index) && !s.ForProducts(index),
	}
	if s.Records.Missing == MissingCount {
		typical, _ := s.typical(index)
		l.Attributes = len(typical)
	}
	return l
}

// cuts reports whether records of a moments sketch can be longer than its clip.
func (s *Study) cuts(index int) bool {
	return s.Privacy.Mechanism != dp.None && s.Privacy.Unit == dp.Record && !s.Sketches[index].Whole
}

// TakesOwnClip reports whether each party chooses among the clips of a moments sketch, if
// there is only one, too.
func (s *Study) TakesOwnClip(index int) bool { return s.cuts(index) && s.Sketches[index].OwnClip }

// MomentWeights are the weights of a moments sketch cut to a length; a length of 0 stands for
// records that are not cut.
func (s *Study) MomentWeights(index int, clip int64) (dp.MomentWeights, error) {
	if clip == 0 {
		clip = max(s.Bits.One(), leastMomentLength)
	}
	l := s.MomentLayout(index)
	parts := dp.MomentParts{
		Products: l.Products, SumWeight: int64(s.Sketches[index].Moments.Sums), Label: l.Classes > 0, Cut: l.Cut, CutSums: l.CutSums, Fourth: l.Fourth, Neighbours: s.Neighbours(), Fine: s.Fine(),
	}
	if l.Attributes > 0 {
		parts.Typical, _ = s.typical(index)
	}
	return dp.NewMomentWeights(clip, parts)
}

// MomentShare is the part of a moments sketch's μ² that its sums have, standard that of the
// party's own moments, by which it standardises, and lengths that of its own lengths.
func (s *Study) MomentShare(index int) (sums, standard, lengths float64) {
	if s.Privacy.Mechanism == dp.None {
		return 1, 0, 0
	}
	sums = 1
	sk := s.Sketches[index]
	if sk.Standardise {
		standard = shareStandardise
	}
	switch {
	case sk.OwnClip && sk.Moments.Sums > 0:
		lengths = shareLengths
	case sk.OwnClip:
		lengths = shareLengthsAlone
	}
	return 1 - standard - lengths, standard, lengths
}

// Fine is how many bits finer than Bits the values of records are read: where whole records are cut,
// and products of values ask for coarse steps, sums are made of finer ones, so that rounding does not
// move means.
func (s *Study) Fine() uint {
	if !s.Wide() {
		return 0
	}
	if at := s.moments(); at >= 0 && s.Sketches[at].Moments.Sums == 0 {
		return 0 // there are none with products
	}
	return uint(min(mostFine, fixedpoint.MaxBits-s.Bits))
}

// ReadBits is the resolution at which values are read.
func (s *Study) ReadBits() fixedpoint.Bits { return s.Bits + fixedpoint.Bits(s.Fine()) }

// Reach is the largest entry of a record around the centre, in integer units.
func (s *Study) Reach() int64 {
	if s.Wide() {
		return fixedpoint.Far
	}
	return s.Bits.One()
}

// validateMoments checks what is particular to side moments.
func (r *reader) validateMoments(s *Study, i int) {
	sk, path := s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
	noisy := s.Privacy.Mechanism != dp.None
	switch {
	case (sk.OwnClip || sk.Whole) && !noisy && r.Given(path+".clip"):
		r.Fail(path+".clip", "does not belong here: it bounds a record's contribution under unit record").Hint = "remove the key"
	case sk.OwnClip && s.Masked():
		r.Fail(path+".clip", "own is refused with sum: masked: a party's own clip would have to be agreed on first").Hint = "write a length; aggregator study new finds one"
	}
	if sk.Standardise {
		switch {
		case !noisy:
			r.Fail(path+".standardise", "does not belong here: it is against noise, and there is none").Hint = "remove the key"
		case s.Masked():
			r.Fail(path+".standardise", "own is refused with sum: masked: the parties' own moments would have to be agreed on first").Hint = "give columns a centre and spread in place of bounds"
		case !s.anyBetween():
			r.Fail(path+".standardise", "has no column to move: own is for numeric columns with bounds").Hint = "remove the key, or give such a column bounds in place of a centre and spread"
		}
	}
}

// describeMoments says what a moments sketch is.
func (s *Study) describeMoments(i int, noisy string) string {
	sk, l := s.Sketches[i], s.MomentLayout(i)
	n := s.MomentPrefix(i) + int64(l.Entries())
	out := fmt.Sprintf("moments, %d integers, %s, however many records there are: %s sums over all records ", n, s.sizes(n, n), noisy)
	switch {
	case l.Products && l.Classes > 0:
		out += fmt.Sprintf("of their %d values and of the products of each two of these; sums of the values also by class of the label, with the number of records of each class", l.Columns)
	case l.Products:
		out += fmt.Sprintf("of their %d values and of the products of each two of these", l.Columns)
	case l.Classes > 0:
		out += fmt.Sprintf("of their %d values, and the number of records of each class of the label", l.Columns)
	default:
		out += fmt.Sprintf("of their %d values", l.Columns)
	}
	if l.Fourth {
		out += "; sums of the values' fourth powers"
	}
	if l.Attributes > 0 {
		out += "; how many records lack a value, by column"
		if l.Products {
			out += " and by pair of columns, and sums of the other values of those records"
		}
	}
	if l.Cut {
		out += "; how many records were shortened to the clip"
	}
	if s.TakesOwnClip(i) {
		out += "; the clip itself, a length that your program chooses by noisy counts of the records' lengths"
	}
	if sk.Standardise {
		out += "; the centre and spread of each numeric column with bounds, which your program takes from noisy sums"
	}
	return out
}

// MomentPrefix is how many integers stand before the entries of a released moments sketch: the
// number of the party's own clip, and the centre and spread by which it standardised each entry.
func (s *Study) MomentPrefix(index int) (n int64) {
	if s.TakesOwnClip(index) {
		n++
	}
	if s.Sketches[index].Standardise {
		n += 2 * int64(len(s.MomentEntries(index)))
	}
	return n
}
