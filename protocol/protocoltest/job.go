package protocoltest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// work runs the first waiting job. A crash loses the job, but not what it made durable.
func (p *Party) work() error {
	return p.driven(func() error { return p.machine.Work(context.Background(), jobs{p}, network{p, most}) })
}

// jobs does a party's work.
type jobs struct{ *Party }

func (p jobs) Run(ctx context.Context, wanted session.Job) (session.Event, error) {
	if err := p.sim.Outcome(p.Name, wanted); err != nil {
		p.sim.note("%s cannot do its job: %v", p.Name, err)
		return session.JobFailed{Err: err}, nil
	}
	switch wanted := wanted.(type) {
	case session.MakeFirst:
		return p.makeFirst(ctx, wanted)
	case session.MakeRelease:
		return p.makeRelease(ctx, wanted)
	case session.Upload:
		if p.Role != nil && p.Role.withholds {
			p.Role.did = true
			p.sim.note("%s keeps the chunks of its release", p.Name)
			return session.ReleaseUploaded{}, nil
		}
		if p.Hand { // its chunks are in its bundles
			return session.ReleaseUploaded{}, p.mayCrash()
		}
		p.sim.note("%s uploads its release", p.Name)
		if err := p.keeper().collect(p.Signer.ID()); err != nil {
			return nil, err
		}
		return session.ReleaseUploaded{}, p.mayCrash()
	case session.FetchResult:
		p.sim.note("%s stores the result", p.Name)
		p.Store.Result = wanted.Result.Document.Hash
		return session.ResultStored{Document: p.Store.Result}, p.mayCrash()
	}
	return nil, fmt.Errorf("%s cannot run %T", p.Name, wanted)
}

func (p *Party) mayCrash() error {
	if p.sim.crashes(p.crash) {
		return errCrashed
	}
	return nil
}

// makeRelease makes a release of made-up numbers.
func (p *Party) makeRelease(ctx context.Context, wanted session.MakeRelease) (session.Event, error) {
	p.agreed(wanted.Seed.Bytes(), wanted.T2, wanted.Attempt)
	what := job.Study{Attempt: wanted.Attempt, T2: wanted.T2, Pairs: wanted.Pairs, Round: p.Store.released(wanted.Attempt)}
	w := world{p, wanted, p.sim.Study, onlyRound}
	if two := p.sim.Study.TwoRounds(); two != (wanted.Second != nil) {
		p.sim.breach("%s is to release as if there were another number of rounds", p.Name)
	} else if two {
		w.of = secondOfTwo
		what.Before, w.study = &wanted.Second.Own, w.study.WithBasis(wanted.Second.Interim.Basis)
	}
	stored, err := w.run(ctx, w, what)
	if err != nil {
		return nil, err
	}
	return session.ReleaseStored{Header: stored.Release()}, nil
}

// makeFirst makes a first round of made-up numbers.
func (p *Party) makeFirst(ctx context.Context, wanted session.MakeFirst) (session.Event, error) {
	p.agreed(wanted.Seed.Bytes(), wanted.T2, wanted.Attempt)
	w := world{p, session.MakeRelease{Attempt: wanted.Attempt, Seed: wanted.Seed, T2: wanted.T2, Pairs: wanted.Pairs}, p.sim.Study, firstOfTwo}
	what := job.First{Attempt: wanted.Attempt, T2: wanted.T2, Pairs: wanted.Pairs, Round: p.Store.firsts(wanted.Attempt)}
	stored, err := w.run(ctx, firstWorld{w}, what)
	if err != nil {
		return nil, err
	}
	return session.FirstStored{First: stored.Release()}, nil
}

// agreed checks that there is only one seed, except after a void attempt.
func (p *Party) agreed(root [32]byte, t2 protocol.Digest, attempt uint32) {
	again := p.sim.Study.Masked() && attempt > p.attempt // the previous attempt is void
	if p.T2 != (protocol.Digest{}) && (p.Seed != root || p.T2 != t2) && !again {
		p.sim.breach("%s is to release under a second seed", p.Name)
	}
	p.Seed, p.T2, p.attempt = root, t2, attempt
}

// round says which sketches a job makes.
type round int

const (
	onlyRound round = iota
	firstOfTwo
	secondOfTwo
)

// run makes the sketches of a round.
func (w world) run(ctx context.Context, in job.World, what job.Kind) (job.Stored, error) {
	plans, err := w.making()
	if err != nil {
		return job.Stored{}, err
	}
	return job.Run(ctx, job.Spec{
		Study: w.sim.Study, What: what, Plans: plans, Keys: w.wanted.Seed, Dataset: "data", Signer: w.Signer, Entropy: w.entropy,
		Now: func() protocol.Instant { return w.sim.Now },
	}, in)
}

// making returns the plans of this round.
func (w world) making() (out []release.Plan, err error) {
	all, err := w.plans()
	for i, plan := range all {
		if w.of == onlyRound || w.study.SecondRound(i) == (w.of == secondOfTwo) {
			out = append(out, plan)
		}
	}
	return out, err
}

// plans returns the party's part in each sketch.
func (w world) plans() (out []release.Plan, err error) {
	index, _ := w.study.PartyIndex(w.Signer.ID())
	for i := range w.study.Sketches {
		plan, err := release.For(w.study, index, i)
		if err != nil {
			return nil, err
		}
		out = append(out, plan)
	}
	return out, nil
}

// world is a party's virtual store and made-up data, for package job.
type world struct {
	*Party
	wanted session.MakeRelease
	study  *study.Study // as the interim fixes it, if there is one
	of     round
}

// firstWorld is world for a first round.
type firstWorld struct{ world }

func (w firstWorld) Stored() ([]byte, error) {
	if w.Store.First == nil {
		return nil, nil
	}
	return wire.EncodeEnvelope(w.Store.First.Envelope()), nil
}

func (w firstWorld) Drop() error {
	w.Store.First = nil
	return nil
}

func (w firstWorld) Save(s job.Sealed) error {
	plain, err := wire.DecodeEnvelope(s.Header())
	if err != nil {
		return err
	}
	e, err := w.sim.verify(plain)
	if err != nil {
		return err
	}
	if before := w.Store.First; before != nil && before.Attempt() == e.Attempt() && before.ID() != e.ID() {
		w.sim.breach("%s draws a second first round", w.Name)
	}
	w.Store.First = &e
	w.Store.Firsts++
	w.sim.note("%s stores its first round", w.Name)
	return w.mayCrash()
}

func (w world) Stored() ([]byte, error) {
	if w.Store.Release == nil {
		return nil, nil
	}
	return wire.EncodeEnvelope(w.Store.Release.Envelope()), nil
}

func (w world) Debit(_ context.Context, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	next, err := due(w.Store.Ledger)
	if err != nil || len(next) == 0 {
		return err
	}
	for _, e := range next {
		if e, err = ledger.Append(w.Store.Ledger, e); err != nil {
			return err
		}
		w.Store.Ledger = append(w.Store.Ledger, e)
	}
	w.Debits++
	w.sim.note("%s debits its ledger", w.Name)
	return w.mayCrash()
}

func (w world) Countersign(context.Context) error { return nil }

var errNoLook = errors.New("no simulated study looks at data first")

func (w world) Look(context.Context, []*release.Look) (int64, error) { return 0, errNoLook }
func (w world) StoredLook() ([]byte, error)                          { return nil, errNoLook }
func (w world) StoreLook([]byte) error                               { return errNoLook }

func (w world) Drop() error {
	w.Store.Release = nil
	return nil
}

func (w world) Cleanup() error { return nil }
func (w world) At(job.Stage)   {}

func (w world) Save(s job.Sealed) error {
	e, header, made, err := w.opened(s)
	if err != nil {
		w.sim.breach("%s makes a release that nobody takes: %v", w.Name, err)
		return err
	}
	if w.Store.Made == nil {
		w.Store.Made = map[protocol.Digest]Made{}
	}
	w.Store.Made[e.ID()] = made
	if header.Records != records {
		w.sim.breach("%s releases %d records", w.Name, header.Records)
	}
	if err := w.Store.putRelease(e); err != nil {
		w.sim.breach("%s %v", w.Name, err)
	}
	w.sim.note("%s stores its release", w.Name)
	return w.mayCrash()
}

// opened decodes and checks a release as others do.
func (w world) opened(s job.Sealed) (e protocol.Verified, header protocol.Release, made Made, err error) {
	plain, err := wire.DecodeEnvelope(s.Header())
	if err == nil {
		e, err = w.sim.verify(plain)
	}
	if err == nil {
		header, err = wire.DecodeRelease(e.Payload())
	}
	if err != nil {
		return e, header, made, err
	}
	index, _ := w.sim.Study.PartyIndex(w.Signer.ID())
	if err := release.CheckHeader(w.study, index, header); err != nil {
		return e, header, made, err
	}
	made, err = w.unmasked(header, s.Sketches())
	return e, header, made, err
}

// records is the number of records of each simulated party.
const records = 10

// Exact returns sketches with random entries drawn from entropy, as if they were held.
func (w world) Exact(_ context.Context, _ []*release.Builder) (job.Records, error) {
	out := job.Records{Count: records}
	for i := range records {
		out.IDs = append(out.IDs, fmt.Appendf(nil, "record %d", i))
	}
	plans, err := w.making()
	if err != nil {
		return out, err
	}
	for _, plan := range plans {
		one, err := w.made(plan, out.IDs)
		if err != nil {
			return out, err
		}
		out.Held = append(out.Held, one)
	}
	return out, nil
}

func (w world) made(plan release.Plan, ids [][]byte) (one release.Exact, err error) {
	rows, cols := plan.ExactShape(records)
	one.Sketch = sketch.Sketch{Side: plan.Sketch().Side, Rows: int(rows), Cols: int(cols), Data: make([]int64, rows*cols)}
	words := make([]byte, 8*rows*cols)
	if _, err := io.ReadFull(w.entropy, words); err != nil {
		return one, err
	}
	for j := range one.Sketch.Data {
		one.Sketch.Data[j] = int64(binary.LittleEndian.Uint64(words[8*j:])) >> 16 // 48 bits, signed
	}
	one.Rows.Pseudonyms, err = plan.Pseudonyms(w.wanted.Seed, ids)
	return one, err
}
