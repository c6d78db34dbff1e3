package aggregator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	numbers "github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator/upload"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/mapped"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// computer computes a study's result from what is stored. It does not use the study's machine and
// runs beside the goroutine that owns it.
type computer struct {
	*shared
	study   *study.Study
	uploads upload.Uploads
}

// finished is the outcome of a job: an event, or an error of the store, which ends the service.
type finished struct {
	event session.AggregatorEvent
	err   error
}

// within computes a result once there is memory for it. If an earlier computation ended the
// process, it waits for all of the memory.
func (c computer) within(ctx context.Context, job session.Compute, before attempts) (out finished) {
	defer func() {
		if p := recover(); p != nil {
			out = finished{err: node.Recovered(c.Log, c.study.ID, p)}
		}
	}()
	size, err := c.takes(c.study, job.Releases)
	if err != nil {
		return finished{err: err}
	}
	if before.Tries > 0 {
		size = c.memory.size
	}
	leave, err := c.memory.take(ctx, size)
	if err != nil {
		return finished{err: err}
	}
	defer leave()
	if err := c.marks.begin(c.study.ID, before); err != nil {
		return finished{err: err}
	}
	out = c.compute(ctx, job)
	if err := c.marks.end(c.study.ID); err != nil && out.err == nil {
		out.err = err
	}
	return out
}

// takes estimates the memory that the study's analyses of these releases need, capped at all that
// there is.
func (c computer) takes(s *study.Study, releases []session.Header) (most int64, err error) {
	for index := range s.Sketches {
		one, err := c.Quotas.Needs(s, index, recordsOf(releases))
		if err != nil {
			return 0, err
		}
		most = max(most, one)
	}
	return min(most, c.memory.size), nil
}

// compute runs the analyses and stores the documents. A panic in numerics must cost only this
// study. A failure of the store is not a failure of the study: the result is computed again when
// the study is taken up again.
func (c computer) compute(ctx context.Context, job session.Compute) (out finished) {
	defer func() {
		if p := recover(); p != nil {
			c.Observe(event.Event{What: event.Uncomputed, Study: c.study.ID})
			what, stack := node.PanicText(p)
			c.Log.Error("analyses panicked", "study", c.study.ID.Short(), "panic", what, "stack", stack)
			out = finished{event: session.JobFailed{Err: errors.New("internal error")}}
		}
	}()
	began := time.Now()
	var done session.AggregatorEvent
	var err error
	if job.Between() {
		done, err = c.interim(ctx, job)
	} else {
		done, err = c.analyse(ctx, job)
	}
	var impossible *analysisError
	switch {
	case ctx.Err() != nil: // the node stops
		return finished{err: ctx.Err()}
	case err == nil:
		c.Observe(event.Event{What: event.Computed, Study: c.study.ID, Took: time.Since(began)})
		return finished{event: done}
	case errors.As(err, &impossible):
		c.Observe(event.Event{What: event.Uncomputed, Study: c.study.ID, Took: time.Since(began)})
		c.Log.Error("analyses failed", "study", c.study.ID.Short(), "error", err)
		return finished{event: session.JobFailed{Err: err}}
	}
	return finished{err: fmt.Errorf("computing the result: %w", err)}
}

// analysisError is a failure of the analyses themselves, which parties may read.
type analysisError struct{ error }

// interim computes the interim result on which the second round depends.
func (c computer) interim(ctx context.Context, job session.Compute) (session.AggregatorEvent, error) {
	o := analysis.Options{Study: c.study, Attempt: job.Attempt, T2: job.T2, Workers: c.Workers}
	var err error
	if o.Contributions, err = firstRounds(c.study, job.Firsts); err != nil {
		return nil, &analysisError{err}
	}
	basis, err := analysis.ComputeBasis(ctx, o)
	if err != nil {
		return nil, &analysisError{err}
	}
	return session.InterimComputed{Firsts: job.Firsts, Basis: basis}, nil
}

// firstRounds returns contributions of the first round only.
func firstRounds(s *study.Study, firsts []session.First) (out []analysis.Contribution, err error) {
	for _, f := range firsts {
		one, err := analysis.FromFirst(s, f.ID, f.Party.ID, f.First)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

func (c computer) analyse(ctx context.Context, job session.Compute) (done session.Computed, err error) {
	files := c.files()
	defer func() { err = errors.Join(err, files.Close()) }()
	o := analysis.Options{
		Study: c.study, Attempt: job.Attempt, T2: job.T2, Complete: job.Complete,
		Entropy: c.Entropy, Workers: c.Workers, Memory: c.Quotas.Memory, FirstOnly: len(job.Firsts) > 0, Scratch: files,
	}
	steps := c.steps(job)
	o.Memo = steps
	if o.Contributions, err = firstRounds(c.study, job.Firsts); err != nil {
		return session.Computed{}, &analysisError{err}
	}
	releases, err := c.contributions(ctx, job.Releases, files, c.Quotas.Quotas)
	if err != nil {
		return session.Computed{}, err
	}
	o.Contributions = append(o.Contributions, releases...)
	o.Observe = func(p analysis.Progress) {
		c.Observe(event.Event{What: event.Analysing, Study: c.study.ID, Progress: p})
		c.Log.Info("analysing", "study", c.study.ID.Short(), "analysis", p.Analysis+1, "kind", p.Kind, "done", p.Done, "of", p.Total)
	}
	o.Failed = c.failed
	before, err := stored.StoredTables(c.Store, c.study.ID)
	if err != nil {
		return session.Computed{}, err
	}
	o.Keep = shelf{c.Store, c.study.ID}
	result, labels, err := analysis.Run(ctx, o)
	var reading *upload.ReadingError
	var keeping *analysis.StoreError
	if errors.As(err, &reading) || errors.As(err, &keeping) {
		return session.Computed{}, err
	}
	if err != nil {
		return session.Computed{}, &analysisError{err}
	}
	done = session.Computed{Releases: job.Releases, Firsts: job.Firsts}
	if done.Document, err = c.put(filename.Result, result); err != nil {
		return session.Computed{}, err
	}
	if err := stored.DropTables(c.Store, c.study, before, result); err != nil {
		return session.Computed{}, err
	}
	for i, l := range labels {
		party := c.study.Parties[o.Contributions[i].Party].ID
		d, err := putLabels(c.Store, c.study.ID, filename.PartyLabels(party), l, " ")
		if err != nil {
			return session.Computed{}, err
		}
		done.PerParty = append(done.PerParty, protocol.PartyDocument{Party: party, Document: d})
	}
	return done, steps.clear()
}

// files returns mapped files beside the store, for records that do not fit into memory.
func (s *shared) files() *mapped.Files {
	return &mapped.Files{Dir: s.Store.Dir(), Room: s.disk.roomToCompute}
}

// contributions reads releases for analyses, within the quotas.
func (c computer) contributions(ctx context.Context, releases []session.Header, files *mapped.Files, q analysis.Quotas) (out []analysis.Contribution, err error) {
	where := func(sketch int) (numbers.Allocator, error) {
		apart, err := q.OnDisk(c.study, sketch, recordsOf(releases))
		if err != nil || !apart {
			return nil, err
		}
		return files, nil
	}
	for _, header := range releases {
		one, err := c.uploads.Contribution(ctx, header, where)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// recordsOf counts the records of all releases.
func recordsOf(releases []session.Header) (n int64) {
	for _, r := range releases {
		n += r.Release.Records
	}
	return n
}

// failed logs an analysis that is undefined in the result because its numerics failed.
func (c computer) failed(f analysis.Failure) {
	c.Log.Error("an analysis failed", "study", c.study.ID.Short(), "analysis", f.Analysis+1, "kind", f.Kind, "error", f.Err, "stack", f.Stack)
}

// putLabels stores the labels of records, which may not fit into memory.
func putLabels(st node.State, study protocol.StudyID, name string, l analysis.Labels, indent string) (d protocol.Document, err error) {
	f, err := st.NewResult(study)
	if err != nil {
		return d, err
	}
	sum, size := sha256.New(), new(counter)
	to := io.MultiWriter(f, sum, size)
	if err = l.Encode(to, indent); err == nil && indent != "" {
		_, err = io.WriteString(to, "\n")
	}
	if err != nil {
		f.Discard()
		return d, err
	}
	sum.Sum(d.Hash[:0])
	d.Size = int64(*size)
	return d, f.Keep(name)
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (c computer) put(name string, document any) (protocol.Document, error) {
	data, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return protocol.Document{}, fmt.Errorf("encoding %s: %w", name, err)
	}
	data = append(data, '\n')
	return stored.DocumentOf(data), c.Store.PutResult(c.study.ID, name, data)
}
