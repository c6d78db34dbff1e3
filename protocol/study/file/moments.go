package file

import (
	"fmt"

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

// ofMoments returns the row of sums of records and of their products.
func ofMoments() additive {
	type K = study.Sketch
	return additive{
		side: sketch.Moments, complete: (*reader).completeMoments, check: (*reader).validateMoments,
		keys: schema.Keys[K]{
			{
				Name: "products", Unset: "false where only means are asked, else true",
				Doc: "moments: whether products of columns are summed. Without them means err about half as much, and nothing else is answered",
				Form: schema.Custom("`true` or `false`", func(r *schema.Reader, at schema.Item, sk *K) {
					if before := r.Failures; !r.Flag(at) && r.Failures == before {
						sk.Moments.Sums = -1
					}
				}),
			},
			{
				Name: "sums", Path: "sketch.sums", Unset: "3, or 2 where no mean is asked of it", Forbidden: beside("weighs sums beside products"),
				Doc: "moments: the weight of sums beside that of products, 5", Hint: "the weight of sums beside that of squares, 5; default 3",
				Form: schema.Whole(func(sk *K) *int { return &sk.Moments.Sums }, 2, 5),
			},
			{
				Name: "fourth", Path: "sketch.fourth", Unset: "false", Forbidden: beside("goes with products"),
				Doc:  "moments: also sum fourth powers, for the kurtosis of columns: intervals for people like these then allow for heavy tails",
				Form: schema.Flag(func(sk *K) *bool { return &sk.Moments.Fourth }),
			},
		},
	}
}

// beside returns a check: it says why a key does not belong to a sketch without products.
func beside(does string) func(*study.Sketch) string {
	return func(sk *study.Sketch) string {
		if sk.Moments.Sums < 0 {
			return "it " + does + ", and there are none"
		}
		return ""
	}
}

// completeMoments fills in what the study leaves open of a moments sketch, depending on its
// analyses.
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
		case s.AllBounded() && !sk.Standardise:
			sk.Whole = true
		case !s.Masked() || s.Has(sketch.Look):
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
	case sk.OwnClip && s.Masked() && !s.Pooled(i):
		r.Fail(path+".clip", "own is refused with sum: masked: the parties would have to agree on one clip first").Hint = "write a length, which aggregator study draft finds; or rounds: 2 and {side: look}, for one clip that all parties take"
	}
	if sk.Standardise {
		switch {
		case !noisy:
			r.Fail(path+".standardise", "does not belong here: it reduces noise, and there is none").Hint = "remove the key"
		case s.Masked() && !s.Pooled(i):
			r.Fail(path+".standardise", "own is refused with sum: masked: the parties would have to agree on one scale first").Hint = "give columns a centre and spread in place of bounds; or write rounds: 2 and {side: look}, for scales that all parties take"
		case !s.AnyBounded():
			r.Fail(path+".standardise", "has no column to move: own is for numeric columns with bounds").Hint = "remove the key, or give such a column bounds in place of a centre and spread"
		}
	}
	if d := len(s.Features(0, i)); d > sketch.MaxMomentColumns || s.MomentLayout(i).Entries() > sketch.MaxMomentEntries {
		r.Fail(path, "%d features are too many for moments, which sum the products of all pairs; at most %d features and %d sums are possible", d, sketch.MaxMomentColumns, sketch.MaxMomentEntries)
	} else if err := s.MomentsFit(i, s.Bits, 0); err != nil {
		r.Fail(path+".clip", "%v", err).Hint = "take bits: auto, or a smaller clip"
	}
}
