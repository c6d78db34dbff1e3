package source

import (
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
)

// ReadiedFirst returns the dataset for the first of two rounds, in an attempt with so many members.
func (r *Source) ReadiedFirst(attempt uint32, members int) (*Dataset, error) {
	src, err := r.ForRelease(attempt, members)
	if err != nil {
		return nil, err
	}
	if r.Study.Masked() {
		if src.Round, err = r.roundOf(attempt, protocol.KindFirst); err != nil {
			return nil, err
		}
	}
	return src.of(func(p release.Plan) bool { return !r.Study.SecondRound(p.Index) }), nil
}

// ReadiedSecond returns the dataset for the second round, which depends on the result of the first.
func (r *Source) ReadiedSecond(attempt uint32, members int, b protocol.Basis) (*Dataset, error) {
	src, err := r.ForRelease(attempt, members)
	if err != nil {
		return nil, err
	}
	src = src.of(func(p release.Plan) bool { return r.Study.SecondRound(p.Index) })
	by := r.Study.WithBasis(b)
	for i, before := range src.Plans {
		plan, err := release.For(by, before.Party, before.Index)
		if err == nil && by.Masked() {
			plan, err = plan.Among(members)
		}
		if err != nil {
			return nil, err
		}
		src.Plans[i] = plan
	}
	return src, nil
}

// of returns the dataset for some of its sketches.
func (o *Dataset) of(keep func(release.Plan) bool) *Dataset {
	out := *o
	out.Plans, out.Picks = nil, nil
	for i, plan := range o.Plans {
		if keep(plan) {
			out.Plans, out.Picks = append(out.Plans, plan), append(out.Picks, o.Picks[i])
		}
	}
	return &out
}
