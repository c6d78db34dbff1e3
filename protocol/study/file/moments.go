package file

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Default weights of sums beside products, in units of the clip: 3 leaves 25/34 of μ² to the
// products; 2 is for studies that ask for no mean.
const (
	sumWeight        = 3
	sumWeightUnasked = 2
)

// ofMoments is the row of sums of records and of their products.
func ofMoments() additive {
	return additive{
		side: sketch.Moments, keys: []string{"products", "sums", "fourth"},
		takes: "clip, products, sums, fourth, standardise and share",
		read:  object.momentKeys, complete: (*reader).completeMoments, check: (*reader).validateMoments,
	}
}

// clip reads a length, or the words own and whole.
func (o object) clip(sk *study.Sketch) {
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
func (o object) momentKeys(sk *study.Sketch) {
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
func (o object) standardise(sk *study.Sketch) {
	if o.Has("standardise") {
		if word := o.Word("standardise", 16); word != "own" && word != "" {
			o.Fail("standardise", "%s is not supported by this version; it has: own", schema.Excerpt(word))
		}
		sk.Standardise = true
	}
}

// completeMoments fills in what the study leaves open of a moments sketch, by what it asks.
func (r *reader) completeMoments(s *study.Study, index int) {
	sk, path := &s.Sketches[index], fmt.Sprintf("sketches[%d]", index)
	asked := append(kindsOf(s.Analyses), s.Later...)
	means, others, apart := false, false, s.MeansApart(index)
	for _, k := range asked {
		switch k {
		case study.Mean:
			means = means || !apart
		case study.Covariance, study.Correlation, study.PCA, study.KMeans:
			others = true
		default:
			means, others = true, true
		}
	}
	switch {
	case sk.Moments.Sums == -1 || !r.Given(path+".products") && means && !others && !sk.Moments.Fourth && !r.Given(path+".sums") && !s.Has(sketch.Cells):
		sk.Moments.Sums = 0
	case r.Given(path + ".sums"):
	case means:
		sk.Moments.Sums = sumWeight
	default:
		sk.Moments.Sums = sumWeightUnasked
	}
	if !r.Given(path+".clip") && s.Privacy.Unit == dp.Record && len(s.Parties) > 0 {
		switch {
		case s.Bounded() && !sk.Standardise:
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

// validateMoments checks what is particular to side moments, the clip and the size.
func (r *reader) validateMoments(s *study.Study, i int) {
	if !r.validateLength(s, i) {
		return
	}
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
		case !s.AnyBetween():
			r.Fail(path+".standardise", "has no column to move: own is for numeric columns with bounds").Hint = "remove the key, or give such a column bounds in place of a centre and spread"
		}
	}
	if d := len(s.Features(0, i)); d > sketch.MaxMomentColumns || s.MomentLayout(i).Entries() > sketch.MaxMomentEntries {
		r.Fail(path, "%d features are too many for moments, which sum the products of all pairs; at most %d features and %d sums are possible", d, sketch.MaxMomentColumns, sketch.MaxMomentEntries)
	} else if err := s.MomentsFit(i, s.Bits, 0); err != nil {
		r.Fail(path+".clip", "%v", err).Hint = "take bits: auto, or a smaller clip"
	}
}
