package protocoltest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
)

// Made holds the contents of a release; it is empty unless that is masked.
type Made struct {
	Plain   []sketch.Sketch // noised, before masks
	Shipped [][]byte
}

// unmaskedBits is more than any made-up sum with its noise needs. All words of a mask fit in that
// many bits with probability below 2^-50.
const unmaskedBits = 52

// unmasked removes the masks from a release that its party has masked.
func (w world) unmasked(header protocol.Release, shipped [][]byte) (out Made, err error) {
	if !w.sim.Study.Masked() {
		return out, nil
	}
	plans, err := w.plans()
	if err != nil {
		return out, err
	}
	out.Shipped = shipped
	for i, plan := range plans {
		if plan, err = plan.Among(w.wanted.Pairs.Members()); err != nil {
			return out, err
		}
		part, err := release.Decode(header.Sketches[i], bytes.NewReader(shipped[i]))
		if err != nil {
			return out, err
		}
		if !slices.ContainsFunc(part.Data, func(word int64) bool { return word >= 1<<unmaskedBits || word < -1<<unmaskedBits }) {
			return out, fmt.Errorf("sketch %d is said to be masked, and is not", i+1)
		}
		mask := release.Exact{Sketch: part}
		mask.Sketch.Data = make([]int64, len(part.Data))
		if err := mask.Mask(plan, w.wanted.Pairs); err != nil {
			return out, err
		}
		for j, word := range mask.Sketch.Data {
			part.Data[j] -= word // modulo 2^64
		}
		out.Plain = append(out.Plain, part)
	}
	return out, nil
}

// summed adds the released sketches of an attempt's members, as the aggregator does, and checks
// that the result is exactly the sum of what they noised.
func (s *Simulation) summed(job session.Compute) error {
	for i := range s.Study.Sketches {
		var parts, plain []sketch.Sketch
		for _, h := range job.Releases {
			p := s.party(h.Party.ID)
			made, ok := p.Store.Made[h.ID]
			if !ok {
				return fmt.Errorf("nothing is known of the release of %s", p.Name)
			}
			part, err := release.Decode(h.Release.Sketches[i], bytes.NewReader(made.Shipped[i]))
			if err != nil {
				return fmt.Errorf("the release of %s: %w", p.Name, err)
			}
			parts, plain = append(parts, part), append(plain, made.Plain[i])
		}
		index, _ := s.Study.PartyIndex(job.Releases[0].Party.ID)
		plan, err := release.For(job.Releases[0].By, index, i)
		if err == nil {
			plan, err = plan.Among(len(job.Releases))
		}
		if err != nil {
			return err
		}
		sum, err := plan.Unmask(parts)
		if err != nil {
			return err
		}
		want, err := sketch.Add(plain...)
		if err != nil {
			return err
		}
		if !slices.Equal(sum.Data, want.Data) {
			return errors.New("the unmasked sum is not the sum of what the parties noised")
		}
	}
	return nil
}

// lossRoles are lost after the agreement, which is worst for a masked sum.
func lossRoles() []*Role {
	return []*Role{
		{Name: "no data", Blame: "perhaps", withholds: true, Story: `Posts the header of its release and keeps the numbers to itself, so that the board looks
as if it had released. The aggregator says that they have not arrived, and the others go on as without a release.`,
			act: func(_ *Party, e protocol.Verified) []protocol.Verified { return as(e) }},
	}
}
