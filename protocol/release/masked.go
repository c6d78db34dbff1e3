package release

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed/agree"
	"github.com/cosketch/cosketch/seed/stream"
)

// Masked sums: of every pair of members of an attempt, one adds a keystream and the other subtracts
// it, word by word modulo 2^64. So what a member releases is uniform to anybody without its
// pairwise secrets, and the sum over all members is the sum of their noised sketches.

// maskedWidth is the bytes of a masked entry: every 64-bit word is equally likely.
const maskedWidth = 8

// maskBlock is how many words of a mask's keystream form one block. Blocks are addressed by number,
// so a mask need not be made in one piece.
const maskBlock = 8192

// Among returns the plan of a member of an attempt with that many members: under masked sums its
// noise is a share of what the sum needs. Call it only on plans for all the study's parties.
func (p Plan) Among(members int) (Plan, error) {
	if !p.Study.Masked() {
		return p, nil
	}
	if members > len(p.Study.Parties) {
		return Plan{}, fmt.Errorf("planning sketch %d: %d members of a study of %d parties", p.Index+1, members, len(p.Study.Parties))
	}
	part, err := p.summed.Shared(p.Study.HonestMembers(members))
	if err != nil {
		return Plan{}, fmt.Errorf("planning sketch %d for %d members: %w", p.Index+1, members, err)
	}
	p.Noise, p.members = part, members
	return p, nil
}

// sharers returns how many shares of noise are sure to be in anything that is seen of a release: 1
// if it is not masked.
func (p Plan) sharers() int { return p.Study.HonestMembers(p.members) }

// DrawSeen draws the noise that is sure to be in anything that others see of an exact sketch; Draw
// draws what the party itself adds. They differ only under masked sums, where nobody sees less than
// the sum over the parties that do not collude.
func (p Plan) DrawSeen(s *sketch.Sketch, entropy io.Reader, workers int) error {
	for range p.sharers() - 1 { // besides the party's own
		if err := p.Noise.AddParallel(s.Data, entropy, workers); err != nil {
			return err
		}
	}
	return p.Draw(s, entropy, workers)
}

// Mask masks a noised sketch in place, for the sum over all members of the attempt that pairs
// belongs to. Of each pair, the member with the lower place adds the keystream and the other
// subtracts it.
func (e *Exact) Mask(p Plan, pairs agree.Pairs) error {
	if n := pairs.Members(); n < 2 || n != p.members {
		return fmt.Errorf("masking sketch %d: pairwise secrets of %d members for a plan of %d", p.Index+1, n, p.members)
	}
	for other := range pairs.Members() {
		if other == pairs.Self() {
			continue
		}
		key, err := pairs.With(other)
		if err != nil {
			return fmt.Errorf("masking sketch %d: %w", p.Index+1, err)
		}
		addMask(e.Sketch.Data, stream.New(key), uint32(p.Index), other > pairs.Self())
	}
	e.Masked = pairs.Members()
	return nil
}

// addMask adds a pair's keystream to the entries of a sketch, or subtracts it.
func addMask(data []int64, from stream.Stream, index uint32, add bool) {
	buf := make([]byte, 8*min(len(data), maskBlock))
	for block := uint64(0); len(data) > 0; block++ {
		n := min(len(data), maskBlock)
		label := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, index), block)
		key := from.Block(label)
		from.Expand(&key, buf[:8*n])
		for i := range data[:n] {
			word := int64(binary.LittleEndian.Uint64(buf[8*i:]))
			if !add {
				word = -word
			}
			data[i] += word // modulo 2^64
		}
		data = data[n:]
	}
	clear(buf)
}

// ErrSpoilt reports a sum of masked sketches that cannot come from honest ones. The sum cannot tell
// whose fault it is.
var ErrSpoilt error = fail.MaskedSum

// Unmask adds the masked sketches of all members of an attempt, modulo 2^64: their masks cancel. It
// refuses any other number of sketches, and sums that Unmasked refuses.
func (p Plan) Unmask(parts []sketch.Sketch) (sketch.Sketch, error) {
	if err := p.ofAll(len(parts)); err != nil {
		return sketch.Sketch{}, err
	}
	out := parts[0]
	out.Data = make([]int64, len(parts[0].Data))
	for i, part := range parts {
		if part.Side != out.Side || part.Rows != out.Rows || part.Cols != out.Cols || len(part.Data) != len(out.Data) {
			return sketch.Sketch{}, fmt.Errorf("unmasking sketch %d: contribution %d has a %s, the first has a %s", p.Index+1, i+1, part, out)
		}
		for j, v := range part.Data {
			out.Data[j] += v // modulo 2^64
		}
	}
	if err := p.Unmasked(out, len(parts)); err != nil {
		return sketch.Sketch{}, err
	}
	return out, nil
}

// Unmasked checks a sum, modulo 2^64, of that many masked sketches. It refuses one that is not over
// all members of an attempt, and one that no honest sketches have: if masks do not cancel, each
// entry reveals it with probability at least one half.
func (p Plan) Unmasked(sum sketch.Sketch, parts int) error {
	if err := p.ofAll(parts); err != nil {
		return err
	}
	limit := int64(parts) * p.largest()
	for _, v := range sum.Data {
		if v >= limit || v <= -limit {
			return fmt.Errorf("unmasking sketch %d: %w", p.Index+1, ErrSpoilt)
		}
	}
	return nil
}

func (p Plan) ofAll(parts int) error {
	if parts != p.members {
		return fmt.Errorf("unmasking sketch %d: got %d of %d masked sketches; masks cancel only in the sum of all", p.Index+1, parts, p.members)
	}
	return nil
}

// checkMasked checks what a header says of masks against the study.
func checkMasked(s *study.Study, r protocol.Release) error {
	for i, h := range r.Sketches {
		switch {
		case !s.Masked() && h.Masked != 0:
			return fmt.Errorf("sketch %d is masked, but the study's sums are plain", i+1)
		case !s.Masked():
		case h.Masked == 0:
			return fmt.Errorf("sketch %d is not masked, but the study's sums are", i+1)
		case h.Masked < s.Quorum || h.Masked > len(s.Parties) || h.Masked != r.Sketches[0].Masked:
			return fmt.Errorf("sketch %d is masked for %d members, of %d parties with a quorum of %d", i+1, h.Masked, len(s.Parties), s.Quorum)
		case h.Width != maskedWidth:
			return fmt.Errorf("sketch %d has entries of %d bytes, masked ones have %d", i+1, h.Width, maskedWidth)
		}
	}
	return nil
}
