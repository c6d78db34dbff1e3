package job

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
)

// Find returns the release that spec says where it is stored, and ends what was kept on the way to it. It needs no
// plans: a release that is stored is sent, whatever was decided about the data since.
func Find(spec Spec, world World) (out Stored, found bool, err error) {
	out, there, err := find(spec, world)
	if err != nil || there != ours {
		return Stored{}, false, err
	}
	return out, true, world.Forget()
}

// there is what is stored in the place of a release.
type there int

const (
	nothing there = iota
	ours          // the release
	void          // that of an attempt which is void
)

func find(spec Spec, world World) (Stored, there, error) {
	header, err := world.Stored()
	if err != nil || header == nil {
		return Stored{}, nothing, err
	}
	out, isVoid, err := spec.What.stored(spec, header)
	switch {
	case err != nil:
		return Stored{}, nothing, err
	case isVoid:
		return Stored{}, void, nil
	}
	return out, ours, nil
}

// Run makes the release that spec says and stores it, or finds it stored.
func Run(ctx context.Context, spec Spec, world World) (Stored, error) {
	found, stored, err := find(spec, world)
	if err != nil {
		return Stored{}, err
	}
	if stored == ours {
		return found, world.Forget()
	}
	if spec, err = spec.prepared(); err != nil {
		return Stored{}, err
	}
	r := &run{spec, world}
	exact, bought, err := r.project(ctx)
	if err != nil {
		return Stored{}, err
	}
	if bought == nil {
		if bought, err = r.pay(ctx, exact.records.Count); err != nil {
			return Stored{}, err
		}
	}
	if stored == void { // from here on another one can be stored
		if err := world.Drop(); err != nil {
			return Stored{}, err
		}
	}
	noise, err := r.draw(*bought, exact)
	if err != nil {
		return Stored{}, err
	}
	sealed, err := r.seal(noise)
	if err != nil {
		return Stored{}, err
	}
	return r.save(sealed)
}

// run is one job on its way.
type run struct {
	spec  Spec // its plans are those of the second pass, once there was a look
	world World
}

// exact is what may not leave: all sketches, without the noise that is still to come.
type exact struct {
	sketches []release.Exact
	records  Records
}

// paid is that the budget was debited for the release, durably, and the ledger's head countersigned. Only pay
// makes one.
type paid struct{}

// noised is a release whose noise is drawn. Only draw makes one.
type noised struct {
	sketches []release.Exact
	records  Records
}

// Sealed is a release as it is stored. Only what was noised becomes one.
type Sealed struct {
	header  []byte
	data    [][]byte
	orders  [][]int
	records Records
	clipped []int64
}

// Stored is a release that is durable: what may be sent.
type Stored struct {
	release protocol.Verified
	query   protocol.Query
}

// Header is the signed header: an envelope, or the statement of a query.
func (s Sealed) Header() []byte { return s.header }

// Sketches are the sketches as they leave, by their place in the release.
func (s Sealed) Sketches() [][]byte { return s.data }

// Orders say, for each sketch whose rows are records, which of IDs each row is; nil for others. This is the
// party's secret.
func (s Sealed) Orders() [][]int { return s.orders }

// IDs are the records' ids, which never leave.
func (s Sealed) IDs() [][]byte { return s.records.IDs }

// Uncounted is how many records a sketch cut that was made in another round.
const Uncounted = -1

// Clipped is how many records each sketch cut: exact, and so for the party alone. Uncounted where the round did not see it.
func (s Sealed) Clipped() []int64 { return s.clipped }

// Release is the signed header of a Study's release, or the signed First.
func (s Stored) Release() protocol.Verified { return s.release }

// Query is the signed statement of a Query.
func (s Stored) Query() protocol.Query { return s.query }

// pay spends the budget, once per sketch, durably, and has the ledger's head countersigned. Records are as many
// as are released.
func (r *run) pay(ctx context.Context, records int64) (*paid, error) {
	if err := r.spec.What.fits(r.spec, records); err != nil {
		return nil, err
	}
	if err := r.world.Debit(ctx, r.spec.salted); err != nil {
		return nil, err
	}
	r.world.At(Debited)
	if err := r.world.Vouch(ctx); err != nil {
		return nil, fmt.Errorf("having the ledger countersigned: %w", err)
	}
	r.world.At(Vouched)
	return &paid{}, nil
}

// uncounted is as many records as there are at least before they are counted, which is when they are read.
const uncounted = 1

// project makes the sketches. The budget is paid on the way where noise is drawn there; else bought is nil.
func (r *run) project(ctx context.Context) (out *exact, bought *paid, err error) {
	if r.spec.looks() {
		if bought, err = r.look(ctx); err != nil {
			return nil, nil, err
		}
	}
	builders, err := r.spec.builders()
	if err != nil {
		return nil, nil, err
	}
	if r.spec.randomised() {
		if bought == nil {
			if bought, err = r.pay(ctx, uncounted); err != nil {
				return nil, nil, err
			}
		}
		if err := r.randomise(*bought, builders); err != nil {
			return nil, nil, err
		}
	}
	if out, err = project(ctx, r.spec, r.world, builders); err != nil {
		return nil, nil, err
	}
	if err := r.spec.accept(out.records.Count); err != nil {
		return nil, nil, err
	}
	r.world.At(Projected)
	return out, bought, nil
}

// look makes the plans those of the second pass, by the stored look or a new one, and pays for it.
func (r *run) look(ctx context.Context) (bought *paid, err error) {
	data, err := r.world.TakenLook()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLook, err)
	}
	if data != nil {
		after, err := r.spec.by(data)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLook, err)
		}
		if bought, err = r.pay(ctx, uncounted); err != nil { // which finds that of the look: nothing else stands for it
			return nil, err
		}
		r.spec = after
		return bought, nil
	}
	looks := r.spec.newLooks()
	records, err := r.world.Look(ctx, looks)
	if err != nil {
		return nil, err
	}
	if err := r.spec.accept(records); err != nil {
		return nil, err
	}
	if bought, err = r.pay(ctx, records); err != nil {
		return nil, err
	}
	if data, err = r.drawLooks(*bought, looks); err != nil {
		return nil, err
	}
	if err := r.world.KeepLook(data); err != nil {
		return nil, err
	}
	r.spec, err = r.spec.by(data)
	return bought, err
}

// drawLooks and randomise draw the noise that comes before the sketch.
func (r *run) drawLooks(_ paid, looks []*release.Look) ([]byte, error) {
	return drawLooks(r.spec, looks)
}
func (r *run) randomise(_ paid, builders []*release.Builder) error {
	return randomise(r.spec, builders)
}

// draw draws the noise into the exact sketches, which no longer exist afterwards.
func (r *run) draw(_ paid, e *exact) (*noised, error) {
	if err := e.draw(r.spec); err != nil {
		return nil, err
	}
	r.world.At(Noised)
	return &noised{e.sketches, e.records}, nil
}

// seal masks what is to be masked, writes the sketches and signs the header.
func (r *run) seal(n *noised) (Sealed, error) {
	out := Sealed{records: n.records}
	var described []protocol.ReleasedSketch
	for i, plan := range r.spec.Plans {
		one := &n.sketches[i]
		if err := r.spec.What.mask(plan, one); err != nil {
			return Sealed{}, err
		}
		header, data, err := one.Encode()
		if err != nil {
			return Sealed{}, err
		}
		described = append(described, header)
		out.data, out.orders, out.clipped = append(out.data, data), append(out.orders, one.Order), append(out.clipped, one.Clipped)
	}
	if before, of := r.spec.What.before(), r.spec.Study; before != nil {
		described = allRounds(of, before, described, func(f *protocol.First, i int) protocol.ReleasedSketch { return f.Sketches[i] })
		out.data = allRounds(of, before, out.data, func(f *protocol.First, i int) []byte { return f.Data[i] })
		out.orders = allRounds(of, before, out.orders, func(*protocol.First, int) []int { return nil })
		out.clipped = allRounds(of, before, out.clipped, func(*protocol.First, int) int64 { return Uncounted })
	}
	var err error
	out.header, err = r.spec.What.seal(r.spec, described, out.data, n.records.Count)
	return out, err
}

// save stores the release, and then ends what was kept on the way.
func (r *run) save(s Sealed) (Stored, error) {
	if err := r.world.Save(s); err != nil {
		return Stored{}, err
	}
	r.world.At(Saved)
	out, _, err := r.spec.What.stored(r.spec, s.header)
	if err != nil {
		return Stored{}, err
	}
	return out, r.world.Forget()
}
