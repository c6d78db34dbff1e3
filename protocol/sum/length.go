package sum

import (
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// centred are the options of a builder that moves records to the public centre and cuts them.
func (o Options) centred() sketch.SumsOptions {
	return sketch.SumsOptions{
		Centre: o.Study.Centres(o.Index), Largest: o.Study.Reach(), Clip: o.clip(), Limit: o.Limit, Workers: o.Workers,
	}
}

// axesTried is how many entries records on axes are made of.
const axesTried = 16

// axes are records that differ from the public centre in one column alone, as far as it
// goes: the ones of which the squares in a moments sketch are largest.
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

// central is a record at the public centre, in the first of its categories.
func central(s *study.Study, index int, features []study.Feature) []int64 {
	out := s.Centres(index)
	for i, f := range features {
		if f.Kind == study.OneHot && (i == 0 || features[i-1].Column != f.Column) {
			out[i] = s.Bits.One()
		}
	}
	return out
}
