package protocoltest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
)

// Masked is a party's release of made-up sums in a masked study: as the party noised it,
// and as it ships it.
type Masked struct {
	Plain   []sketch.Sketch // noised, before masks
	Shipped [][]byte
}

// mask makes a party's release of sums of which entropy draws every entry, with noise and
// masks as a party has them.
func (p *Party) mask(job session.MakeRelease) (protocol.Release, Masked, error) {
	out, made := protocol.Release{T2: job.T2, Records: records}, Masked{}
	var err error
	if out.Published, err = release.Publish(p.sim.Study, job.Seed); err != nil {
		return out, made, err
	}
	index, _ := p.sim.Study.PartyIndex(p.Signer.ID())
	for i := range p.sim.Study.Sketches {
		plan, err := release.For(p.sim.Study, index, i)
		if err == nil {
			plan, err = plan.Among(job.Pairs.Members())
		}
		if err != nil {
			return out, made, err
		}
		rows, cols := plan.Shape(records)
		one := release.Exact{Sketch: sketch.Sketch{Side: plan.Sketch().Side, Rows: int(rows), Cols: int(cols), Data: make([]int64, rows*cols)}}
		words := make([]byte, 8*rows*cols)
		if _, err := io.ReadFull(p.entropy, words); err != nil {
			return out, made, err
		}
		for j := range one.Sketch.Data {
			one.Sketch.Data[j] = int64(binary.LittleEndian.Uint64(words[8*j:])) >> 16 // 48 bits, of both signs
		}
		if err := plan.Draw(&one.Sketch, p.entropy, 1); err != nil {
			return out, made, err
		}
		plain := one.Sketch
		plain.Data = slices.Clone(plain.Data)
		made.Plain = append(made.Plain, plain)
		if err := one.Mask(plan, job.Pairs); err != nil {
			return out, made, err
		}
		header, data, err := one.Encode()
		if err != nil {
			return out, made, err
		}
		out.Sketches, made.Shipped = append(out.Sketches, header), append(made.Shipped, data)
	}
	return out, made, release.CheckHeader(p.sim.Study, index, out)
}

// summed adds up what the members of an attempt have shipped, as the aggregator does, and
// compares it with the sum of what they noised: it must be that, to the last bit.
func (s *Simulation) summed(job session.Compute) error {
	for i := range s.Study.Sketches {
		var parts, plain []sketch.Sketch
		for _, h := range job.Releases {
			p := s.party(h.Party.ID)
			made, ok := p.Store.Masked[h.ID]
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
		plan, err := release.For(s.Study, index, i)
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

// lossRoles are lost when all have agreed: to a masked sum that is worse than before.
func lossRoles() []*Role {
	return []*Role{
		{Name: "no data", Blame: "perhaps", withholds: true, Story: `Posts the header of its release and keeps the numbers to itself, so that the board looks
as if it had released. The aggregator says that they have not arrived, and the others go on as without a release.`,
			act: func(_ *Party, e protocol.Verified) []protocol.Verified { return as(e) }},
	}
}
