package protocoltest

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// work runs the first waiting job. A crash loses the job, but not what it made
// durable.
func (p *Party) work() error {
	job := p.jobs[0]
	event, err := p.run(job)
	if err != nil {
		return err
	}
	p.jobs = p.jobs[1:]
	return p.Step(event)
}

func (p *Party) run(job session.Job) (session.Event, error) {
	if err := p.sim.Outcome(p.Name, job); err != nil {
		p.sim.note("%s cannot do its job: %v", p.Name, err)
		return session.JobFailed{Err: err}, nil
	}
	switch job := job.(type) {
	case session.MakeRelease:
		return p.makeRelease(job)
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
		p.Store.Result = job.Result.Document.Hash
		return session.ResultStored{Document: p.Store.Result}, p.mayCrash()
	}
	return nil, fmt.Errorf("%s cannot run %T", p.Name, job)
}

func (p *Party) mayCrash() error {
	if p.sim.crashes(p.crash) {
		return errCrashed
	}
	return nil
}

// makeRelease draws a release once. A stored one is found and only ever re-sent.
func (p *Party) makeRelease(job session.MakeRelease) (session.Event, error) {
	root := job.Seed.Bytes()
	again := p.sim.Study.Masked() && job.Attempt > p.attempt // the one before is void
	if p.T2 != (protocol.Digest{}) && (p.Seed != root || p.T2 != job.T2) && !again {
		p.sim.breach("%s is to release under a second seed", p.Name)
	}
	p.Seed, p.T2, p.attempt = root, job.T2, job.Attempt
	if p.Store.Release == nil || p.Store.Release.Attempt() != job.Attempt {
		if p.Store.Debited <= p.Store.released(job.Attempt) {
			p.Store.Debited++
			p.Debits++
			p.sim.note("%s debits its ledger", p.Name)
			if err := p.mayCrash(); err != nil {
				return nil, err
			}
		}
		header, made, err := p.draw(job)
		if err != nil {
			return nil, err
		}
		e := Sealed(p.Signer.Seal(p.sim.Study.ID, protocol.KindRelease, job.Attempt, wire.EncodeRelease(header)))
		if p.Store.Masked == nil {
			p.Store.Masked = map[protocol.Digest]Masked{}
		}
		p.Store.Masked[e.ID()] = made
		if err := p.Store.putRelease(e); err != nil {
			p.sim.breach("%s %v", p.Name, err)
		}
		p.sim.note("%s stores its release", p.Name)
		if err := p.mayCrash(); err != nil {
			return nil, err
		}
	}
	return session.ReleaseStored{Header: *p.Store.Release}, nil
}

// draw makes what a release is of.
func (p *Party) draw(job session.MakeRelease) (protocol.Release, Masked, error) {
	if p.sim.Study.Masked() {
		return p.mask(job)
	}
	header, err := Header(p.sim.Study, p.Signer.ID(), job.T2, p.entropy)
	if err == nil {
		header.Published, err = release.Publish(p.sim.Study, job.Seed)
	}
	return header, Masked{}, err
}

// records is how many records each simulated party has.
const records = 10

// Header describes a release of the study's shapes, whose chunks hash to what
// noise draws.
func Header(s *study.Study, party protocol.PeerID, t2 protocol.Digest, noise io.Reader) (protocol.Release, error) {
	out := protocol.Release{T2: t2, Records: records}
	index, _ := s.PartyIndex(party)
	for i := range s.Sketches {
		plan, err := release.For(s, index, i)
		if err != nil {
			return out, err
		}
		one := protocol.ReleasedSketch{Side: plan.Sketch().Side, Width: 2, Chunks: make([]protocol.Digest, 1), RowColumns: plan.RowColumns()}
		one.Rows, one.Cols = plan.Shape(records)
		if _, err := io.ReadFull(noise, one.Chunks[0][:]); err != nil {
			return out, err
		}
		out.Sketches = append(out.Sketches, one)
	}
	return out, nil
}
