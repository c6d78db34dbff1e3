package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/seed"
)

// Labels is what the released labels of a plan reveal.
type Labels struct {
	Drawn   dp.Epsilon // ε of the response as drawn
	Finding audit.Finding

	Conclusive bool // the trials would have failed labels randomised for twice the ε
}

// Passed reports whether no test contradicts the claim.
func (l *Labels) Passed() bool {
	return l == nil || l.Drawn <= l.Finding.Claimed && l.Finding.Passed
}

// auditLabels judges randomised labels as they are shipped. Records differ only in their label, the
// first class against the last, and go through builder, noise, shuffle and encoding. It returns nil
// if labels are not randomised: nothing is claimed about unchanged labels.
func (p plan) auditLabels(ctx context.Context, root seed.Seed, n int, entropy io.Reader) (*Labels, error) {
	if p.Labels == nil || p.Labels.Response.Zero() {
		return nil, nil
	}
	part, err := p.Study.Part(p.Index)
	if err != nil {
		return nil, err
	}
	epsilon, err := part.Labels.PureEquivalent()
	if err != nil {
		return nil, err
	}
	claim, err := dp.Promise(dp.RandomisedResponse, dp.Budget{Epsilon: epsilon})
	if err != nil {
		return nil, err
	}
	last := len(p.Labels.Classes) - 1
	var trials audit.Trials
	for len(trials.With) < n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		got, err := p.shipLabels(root, last, entropy)
		if err != nil {
			return nil, err
		}
		for i, label := range got {
			score := 0.0
			switch label {
			case 0:
				score = -1
			case last:
				score = 1
			}
			if i%2 == 1 {
				trials.With = append(trials.With, score)
			} else {
				trials.Without = append(trials.Without, score)
			}
		}
	}
	out := &Labels{Drawn: p.Labels.Response.Epsilon()}
	if out.Finding, err = audit.Judge(claim, trials); err != nil {
		return nil, err
	}
	out.Conclusive = audit.FlipsConclude(claim.Epsilon(), out.Finding.Trials)
	return out, nil
}

// shipLabels releases records of zeros, every other one with the last class, and returns their
// labels as the aggregator decodes them, in the records' original order.
func (p plan) shipLabels(root seed.Seed, last int, entropy io.Reader) ([]int, error) {
	b, err := p.NewBuilder(root, 1)
	if err != nil {
		return nil, err
	}
	if err := b.Randomise(entropy); err != nil {
		return nil, err
	}
	width, one := len(p.Inputs()), p.Study.Bits.One()
	var ids [][]byte
	values := make([]int64, mostRows*width)
	for i := range mostRows {
		ids = append(ids, canaryID(i))
		label := values[i*width+p.Values : (i+1)*width]
		switch {
		case i%2 == 1:
			label[len(label)-1] = one
		case len(label) > 1:
			label[0] = one
		}
	}
	if err := b.Add(ids, values); err != nil {
		return nil, err
	}
	out, err := b.Finish(entropy)
	if err != nil {
		return nil, err
	}
	if err := p.Draw(&out.Sketch, entropy, 1); err != nil {
		return nil, err
	}
	header, data, err := release.Encode(out.Sketch)
	if err != nil {
		return nil, err
	}
	decoded, err := release.Decode(header, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	_, labels, err := p.Unpack(decoded)
	if err != nil {
		return nil, fmt.Errorf("unpacking a release: %w", err)
	}
	inOrder := make([]int, len(labels))
	for row, record := range out.Order {
		inOrder[record] = labels[row]
	}
	return inOrder, nil
}
