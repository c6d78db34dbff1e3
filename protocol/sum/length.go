package sum

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// centred returns the options of a builder that shifts records to the public centre and clips them.
func (o Options) centred() sketch.SumsOptions {
	return sketch.SumsOptions{
		Centre: o.Study.Centres(o.Index), Largest: o.Study.Reach(), Clip: o.clip(), Limit: o.Limit, Workers: o.Workers,
	}
}

// axesTried limits the entries for which axes makes records.
const axesTried = 16

// axes returns records that differ from the public centre in one column only, by as much as
// possible. They have the largest squares in a moments sketch.
func axes(s *study.Study, index int) (out []Change) {
	features := s.Features(0, index)
	for i, f := range features[:min(len(features), axesTried)] {
		if f.Kind == study.OneHot {
			continue
		}
		for j, other := range features[:i+1] {
			if other.Kind == study.OneHot || i-j > 1 {
				continue
			}
			change := Change{With: central(s, index, features)}
			change.With[i] = s.Bits.One()
			if s.Privacy.Replaced {
				change.Without = central(s, index, features)
				change.Without[j], _ = ends(s.Columns[other.Column], s.Bits)
			}
			out = append(out, change)
		}
	}
	return out
}

// central returns a record at the public centre, in the first category of each categorical column.
func central(s *study.Study, index int, features []study.Feature) []int64 {
	out := s.Centres(index)
	for i, f := range features {
		if f.Kind == study.OneHot && (i == 0 || features[i-1].Column != f.Column) {
			out[i] = s.Bits.One()
		}
	}
	return out
}
