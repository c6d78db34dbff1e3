package local

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/session"
)

// Job makes the job with which workers read a dataset that is elsewhere. With afresh it begins a
// new sum, which accepts no part of an earlier job.
func Job(o source.Options, afresh bool) (*part.Job, error) {
	var out *part.Job
	err := withHeld(o, func(r *source.Source, src *source.Dataset, set *held.Set) (err error) {
		if out, err = jobOf(r, src); err != nil {
			return err
		}
		if until := out.Expires(); o.Now() >= until {
			return &session.DeadlineError{What: "the parts of a job", Until: until}
		}
		return set.PrepareJob(afresh, out)
	})
	return out, err
}

// jobOf makes a job without what the held sketch adds.
func jobOf(r *source.Source, src *source.Dataset) (*part.Job, error) {
	from := src.Data.Source
	if from.Elsewhere == "" {
		return nil, &node.SiteError{Err: fmt.Errorf("dataset %q is read by this node, and a job is for data that are elsewhere (write elsewhere: WHERE in the place of its source)", src.Data.Name)}
	}
	text, err := r.Store.Study(r.Study.ID)
	if err != nil {
		return nil, err
	}
	people, err := r.Store.PeopleKey()
	if err != nil {
		return nil, err
	}
	return &part.Job{
		Study: r.Study, Source: text, Party: r.Signer.ID(), People: people,
		Entry: part.Entry{Dataset: src.Data.Name, Where: from.Elsewhere, ID: src.Data.ID, Columns: src.Site.Columns, CSV: from.CSV, Sheet: from.Sheet, Words: from.Words},
	}, nil
}

// SumParts makes the held sketch the sum of parts, and then removes the parts.
func SumParts(ctx context.Context, o source.Options, paths []string) (Holding, error) {
	var out Holding
	err := withHeld(o, func(r *source.Source, src *source.Dataset, set *held.Set) error {
		j, err := jobOf(r, src)
		if err != nil {
			return err
		}
		var files []part.File
		for _, path := range paths {
			f, err := part.Look(path)
			if err != nil {
				return err
			}
			files = append(files, f)
		}
		if out.Changes, err = set.Sum(ctx, j, files); err != nil {
			return err
		}
		out.Summary, out.Look = set.Summary(), set.Looked()
		for _, f := range files {
			if err := os.Remove(f.Path); err != nil {
				return fmt.Errorf("all parts are added up, and not removed: %w (remove them)", err)
			}
		}
		return nil
	})
	return out, err
}

// PartOptions configures MakePart.
type PartOptions struct {
	node.Env[event.Progress] // its observer receives Reading

	Job      *part.Job      // required
	Shard    part.Shard     // required
	From     dataset.Source // required: the shard's data, in files or a stream; the job says how to read them
	SpillDir string         // directory for keyed hashes of ids, readable by nobody else
}

// MakePart writes the part for a shard. It needs no state of a node.
func MakePart(ctx context.Context, w io.Writer, o PartOptions) (part.Counts, error) {
	o.Env = o.Env.OrDefaults()
	counts, err := makePart(ctx, w, o)
	if err != nil {
		return part.Counts{}, fmt.Errorf("making part %s of study %s: %w", o.Shard, o.Job.Study.ID.Short(), err)
	}
	return counts, nil
}

func makePart(ctx context.Context, w io.Writer, o PartOptions) (part.Counts, error) {
	s, entry := o.Job.Study, o.Job.Entry
	if until := o.Job.Expires(); o.Now() >= until {
		return part.Counts{}, fail.BadJob.Of(&session.DeadlineError{What: "the parts of a job", Until: until}, "the study has ended")
	}
	party, listed := s.PartyIndex(o.Job.Party)
	if !listed {
		return part.Counts{}, fail.BadJob.New("its study does not list its party")
	}
	if why := source.NotHeld(s, true); why != "" {
		return part.Counts{}, fail.BadJob.New("parts do not go with " + why)
	}
	src, err := source.Entry(s, party, config.StudySite{Dataset: entry.Dataset, Columns: entry.Columns}, config.Dataset{Name: entry.Dataset, ID: entry.ID})
	if err != nil {
		return part.Counts{}, err
	}
	pass := part.Pass{Plans: src.Plans, Looks: o.Job.ForFirstLook()}
	if o.Job.Look != nil {
		if pass.Plans, err = job.After(src.Plans, o.Job.Look); err != nil {
			return part.Counts{}, fail.BadJob.Of(err, "its first look is damaged")
		}
	}
	from := o.From
	from.CSV, from.Sheet, from.Words = entry.CSV, entry.Sheet, entry.Words
	return part.Make(ctx, w, part.MakeOptions{
		Job: o.Job, Shard: o.Shard, Source: from, Schema: src.Schema, Pass: pass, Picks: src.Picks, SpillDir: o.SpillDir, Workers: o.Workers,
		Observe: func(s dataset.Summary) {
			o.Observe(event.Progress{Study: o.Job.Study.ID, Milestone: event.Reading, Done: s.Bytes, Total: s.Size})
		},
	})
}
