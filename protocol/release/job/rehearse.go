package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
)

// Rehearsed is a release made by the same steps. It cannot be stored or sent: nothing was debited
// for it.
type Rehearsed struct {
	Plans    []release.Plan // of the second pass, if there was a look
	Sketches []release.Exact
	Records  Records
}

// Rehearse makes a release with the noise that the party draws. Spec needs no signer, and its What
// no pairs.
func Rehearse(ctx context.Context, spec Spec, data Data, at func(Stage)) (Rehearsed, error) {
	return rehearse(ctx, spec, data, at, (*exact).draw)
}

// RehearseSeen is Rehearse with the noise that is sure to be in what others see. It differs only
// under masked sums: see release.Plan.DrawSeen.
func RehearseSeen(ctx context.Context, spec Spec, data Data, at func(Stage)) (Rehearsed, error) {
	return rehearse(ctx, spec, data, at, (*exact).drawSeen)
}

func rehearse(ctx context.Context, spec Spec, data Data, at func(Stage), draw func(*exact, Spec) error) (Rehearsed, error) {
	if spec.looks() {
		looks := spec.newLooks()
		if _, err := data.Look(ctx, looks); err != nil {
			return Rehearsed{}, err
		}
		taken, err := drawLooks(spec, looks)
		if err == nil {
			spec, err = spec.withLook(taken)
		}
		if err != nil {
			return Rehearsed{}, err
		}
	}
	builders, err := spec.builders()
	if err == nil {
		err = randomise(spec, builders)
	}
	if err != nil {
		return Rehearsed{}, err
	}
	exact, err := project(ctx, spec, data, builders)
	if err != nil {
		return Rehearsed{}, err
	}
	at(Projected)
	if err := draw(exact, spec); err != nil {
		return Rehearsed{}, err
	}
	at(Noised)
	return Rehearsed{spec.Plans, exact.sketches, exact.records}, nil
}

// Describe encodes the sketches as for a release and returns their headers. A rehearsal has no
// other members to agree on masks with: masked sketches are described as masked for all parties.
func (r Rehearsed) Describe() (out []protocol.ReleasedSketch, err error) {
	for i, plan := range r.Plans {
		one := r.Sketches[i]
		if plan.Study.Masked() {
			one.Masked = len(plan.Study.Parties)
		}
		described, _, err := one.Encode()
		if err != nil {
			return nil, err
		}
		out = append(out, described)
	}
	return out, nil
}

// The functions below draw noise for paid releases and for rehearsals, which are never released.

// project makes the exact sketches from the data, or takes the held ones. It puts rows that are
// records in an order that reveals nothing.
func project(ctx context.Context, s Spec, data Data, builders []*release.Builder) (*exact, error) {
	records, err := data.Exact(ctx, builders)
	if err != nil {
		return nil, err
	}
	switch n := len(records.Held); {
	case records.Held == nil:
	case n != len(builders):
		return nil, fmt.Errorf("%d of %d sketches are held", n, len(builders))
	case s.randomised() || !bytes.Equal(records.Look, s.look): // Draw adds nothing if the noise is in the values
		return nil, errors.New("the held sketch cannot be used: its noise has to be drawn before it is made, or it was made with another first look")
	}
	out := &exact{records: records}
	for i, b := range builders {
		var one release.Exact
		if records.Held == nil {
			one, err = b.Finish(s.Entropy)
		} else {
			one = records.Held[i]
			err = one.Shuffle(s.Entropy)
		}
		if err == nil && one.Sketch.Side == sketch.Records && len(records.IDs) != one.Sketch.Rows {
			err = fmt.Errorf("%d ids for %d rows", len(records.IDs), one.Sketch.Rows)
		}
		if err != nil {
			return nil, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		out.sketches = append(out.sketches, one)
	}
	out.records.Held = nil // noise will be drawn into them
	return out, nil
}

// drawLooks draws the noise of all looks and encodes them one after the other.
func drawLooks(s Spec, looks []*release.Look) (data []byte, err error) {
	for i, look := range looks {
		if look == nil {
			continue
		}
		moves, err := look.Draw(s.Entropy)
		if err != nil {
			return nil, fmt.Errorf("sketch %d: %w", i+1, err)
		}
		data = append(data, release.EncodeLook(moves)...)
	}
	return data, nil
}

// randomise makes the builders draw noise into the values they are given.
func randomise(s Spec, builders []*release.Builder) error {
	for _, b := range builders {
		if err := b.Randomise(s.Entropy); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the noise that the party adds.
func (e *exact) draw(s Spec) error {
	for i, plan := range s.Plans {
		if err := e.sketches[i].Draw(plan, s.Entropy, s.workers()); err != nil {
			return fmt.Errorf("noising sketch %d: %w", i+1, err)
		}
	}
	return nil
}

// drawSeen draws the noise that is sure to be in what others see.
func (e *exact) drawSeen(s Spec) error {
	for i, plan := range s.Plans {
		if err := plan.DrawSeen(&e.sketches[i].Sketch, s.Entropy, s.workers()); err != nil {
			return fmt.Errorf("noising sketch %d: %w", i+1, err)
		}
	}
	return nil
}
