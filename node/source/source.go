package source

import (
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/people"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// Source is what a party knows of one study without contacting anybody.
type Source struct {
	node.Env[event.Progress]
	Store  node.PartyState
	Site   func() (config.Party, error) // reads the site file
	Signer protocol.Signer
	Study  *study.Study
}

// Held opens the study's held sketch. To change or release it, the caller must hold its lock.
func (r *Source) Held(src *Dataset, seeded agree.Outcome) (*held.Set, error) {
	plans, look, err := r.looked(src)
	if err != nil {
		return nil, err
	}
	set, err := held.Open(held.Options{
		Files: r.Store.Held(r.Study.ID), Study: r.Study.ID, T2: seeded.T2, Seed: seeded.Seed,
		Plans: plans, Look: look, Looks: Looks(r.Study), Picks: src.Picks, Dataset: src.Data.Name, Source: src.Data.Source, Schema: src.Schema,
		SpillDir: r.Store.Dir(), Entropy: r.Entropy, Workers: r.Workers,
		Keep: func(of people.Sample) error { src.People = of; return r.Remember(src) },
		Observe: func(s dataset.Summary) {
			r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Reading, Done: s.Bytes, Total: s.Size})
		},
	})
	if err != nil {
		return nil, fmt.Errorf("opening the held sketch: %w", err)
	}
	return set, nil
}

// looked returns the plans for holding a sketch, and the first look on which they depend, once it
// is drawn. Only data that are elsewhere have such a look here.
func (r *Source) looked(src *Dataset) (plans []release.Plan, look []byte, err error) {
	if src.Data.Source.Elsewhere == "" || !Looks(r.Study) {
		return src.Plans, nil, nil
	}
	look, err = r.Store.Look(r.Study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return src.Plans, nil, nil
	}
	if err == nil {
		plans, err = job.After(src.Plans, look)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", job.ErrLook, err)
	}
	return plans, look, nil
}

// Welcome returns the site's rule for late parties. A missing entry for the study is no error here:
// finding the data will fail with a better one.
func (r *Source) Welcome() (func(protocol.PeerID) bool, error) {
	if r.Study.LateUntil == 0 {
		return nil, nil
	}
	file, err := r.Site()
	if err != nil {
		return nil, &node.SiteError{Err: err}
	}
	rule := file.Studies[r.Study.ID].Welcome
	for _, name := range rule.Names {
		if _, listed := r.Study.PartyByName(name); !listed {
			return nil, &node.SiteError{Err: fmt.Errorf("site file %s welcomes %q, which is no party of study %s", file.Path, name, r.Study.ID.Short())}
		}
	}
	return func(id protocol.PeerID) bool {
		i, listed := r.Study.PartyIndex(id)
		return listed && rule.Admits(r.Study.Parties[i].Name)
	}, nil
}

// NewRecords returns the party's dataset with other files, of which only the columns of
// records-side sketches are needed: new records need no label.
func (r *Source) NewRecords(files []string) (*Dataset, error) {
	src, err := r.Open()
	if err != nil {
		return nil, err
	}
	src.Data.Source = src.Data.Source.Of(files...)
	own := r.Study.OwnColumns(src.Plans[0].Party)
	fields := src.Schema.Fields[:0:0]
	for i, f := range src.Schema.Fields {
		if !r.Study.Columns[own[i]].Label {
			fields = append(fields, f)
		}
	}
	src.Schema.Fields = fields
	return src, nil
}

// OwnRows is the number of rows of this party's release, if it has one for each record.
func (r *Source) OwnRows() (int64, error) {
	raw, err := r.Store.ReleaseHeader(r.Study.ID)
	if err != nil {
		return 0, err
	}
	header, err := stored.DecodeVerified(raw)
	if err != nil {
		return 0, fmt.Errorf("stored release: %w", err)
	}
	release, err := wire.DecodeRelease(header.Payload())
	return release.Records, err
}

// FreshSeed draws a seed that no other party has.
func FreshSeed(entropy io.Reader) (seed.Seed, error) {
	var bytes [seed.Size]byte
	defer clear(bytes[:])
	if _, err := io.ReadFull(entropy, bytes[:]); err != nil {
		return seed.Seed{}, fmt.Errorf("drawing a seed: %w", err)
	}
	return seed.FromBytes(bytes), nil
}
