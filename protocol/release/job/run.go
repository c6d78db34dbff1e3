package job

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
)

// Find returns the release of spec if it is stored, and deletes the intermediate results that led
// to it. It needs no plans: a stored release is sent, whatever was decided about the data since.
func Find(spec Spec, world World) (out Stored, found bool, err error) {
	out, there, err := find(spec, world)
	if err != nil || there != ours {
		return Stored{}, false, err
	}
	return out, true, world.Cleanup()
}

// there says what is stored in the place of a release.
type there int

const (
	nothing there = iota
	ours          // the release
	void          // the release of a void attempt
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

// Run makes and stores the release of spec, or finds it stored.
func Run(ctx context.Context, spec Spec, world World) (Stored, error) {
	found, stored, err := find(spec, world)
	if err != nil {
		return Stored{}, err
	}
	if stored == ours {
		return found, world.Cleanup()
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

// run is a job in progress.
type run struct {
	spec  Spec // after a look its plans are those of the second pass
	world World
}

// exact holds what must not leave: all sketches, before the noise that is still to be drawn.
type exact struct {
	sketches []release.Exact
	records  Records
}

// paid proves that the budget was durably debited for the release and the ledger's head
// countersigned. Only pay makes one.
type paid struct{}

// noised is a release whose noise is drawn. Only draw makes one.
type noised struct {
	sketches []release.Exact
	records  Records
}

// Sealed is a release ready to be stored. It is made only from noised.
type Sealed struct {
	header  []byte
	data    [][]byte
	orders  [][]int
	records Records
	clipped []int64
}

// Stored is a durable release: it may be sent.
type Stored struct {
	release protocol.Verified
	query   protocol.Query
}

// Header returns the signed header: an envelope, or the statement of a query.
func (s Sealed) Header() []byte { return s.header }

// Sketches returns the encoded sketches, by their place in the release.
func (s Sealed) Sketches() [][]byte { return s.data }

// Orders returns, for each sketch whose rows are records, the index into IDs of each row; nil for
// others. It is the party's secret.
func (s Sealed) Orders() [][]int { return s.orders }

// IDs returns the records' ids, which never leave the party.
func (s Sealed) IDs() [][]byte { return s.records.IDs }

// Uncounted stands for the number of clipped records of a sketch made in another round.
const Uncounted = -1

// Clipped returns how many records each sketch clipped. The counts are exact, so they are only for
// the party. Uncounted means the sketch is of another round.
func (s Sealed) Clipped() []int64 { return s.clipped }

// Release returns the signed header of a Study's release, or the signed First.
func (s Stored) Release() protocol.Verified { return s.release }

// Query returns the signed statement of a Query.
func (s Stored) Query() protocol.Query { return s.query }

// pay durably spends the budget, once per sketch, and has the ledger's head countersigned. Records
// is the number of released records.
func (r *run) pay(ctx context.Context, records int64) (*paid, error) {
	if err := r.spec.What.fits(r.spec, records); err != nil {
		return nil, err
	}
	if err := r.world.Debit(ctx, r.spec.salted); err != nil {
		return nil, err
	}
	r.world.At(Debited)
	if err := r.world.Countersign(ctx); err != nil {
		return nil, fmt.Errorf("having the ledger countersigned: %w", err)
	}
	r.world.At(Countersigned)
	return &paid{}, nil
}

// uncounted is the least number of records, for debits made before records are read and counted.
const uncounted = 1

// project makes the sketches. If noise is drawn on the way, it pays the budget first; else bought
// is nil.
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

// look switches to the plans of the second pass, by the stored look or a new one, and pays for it.
func (r *run) look(ctx context.Context) (bought *paid, err error) {
	data, err := r.world.StoredLook()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLook, err)
	}
	if data != nil {
		after, err := r.spec.withLook(data)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLook, err)
		}
		if bought, err = r.pay(ctx, uncounted); err != nil { // finds the debit made for the look: the stored look does not prove payment
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
	if err := r.world.StoreLook(data); err != nil {
		return nil, err
	}
	r.spec, err = r.spec.withLook(data)
	return bought, err
}

// drawLooks and randomise draw the noise that comes before the sketch.
func (r *run) drawLooks(_ paid, looks []*release.Look) ([]byte, error) {
	return drawLooks(r.spec, looks)
}
func (r *run) randomise(_ paid, builders []*release.Builder) error {
	return randomise(r.spec, builders)
}

// draw draws the noise into the exact sketches, which it overwrites.
func (r *run) draw(_ paid, e *exact) (*noised, error) {
	if err := e.draw(r.spec); err != nil {
		return nil, err
	}
	r.world.At(Noised)
	return &noised{e.sketches, e.records}, nil
}

// seal masks sketches under masked sums, encodes them and signs the header.
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

// save stores the release, and then deletes intermediate results.
func (r *run) save(s Sealed) (Stored, error) {
	if err := r.world.Save(s); err != nil {
		return Stored{}, err
	}
	r.world.At(Saved)
	out, _, err := r.spec.What.stored(r.spec, s.header)
	if err != nil {
		return Stored{}, err
	}
	return out, r.world.Cleanup()
}
