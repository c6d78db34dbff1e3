package aggregator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/mapped"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

// Further is the answer to an analysis of a study's releases that was asked after its result: a
// document like the result's, with only that analysis.
type Further struct {
	Result analysis.Result
	Raw    []byte            // the document
	T2     protocol.Digest   // of the agreement from whose releases it was computed
	Labels []analysis.Labels // one for each party in it, in the study's order; nil if records are not labelled

	tables *scratch
	files  *mapped.Files // where labels may lie
}

// Close removes the answer's tables and frees the files of its labels, which must not be read any
// more. A published answer has its tables in the store.
func (f Further) Close() error {
	err := f.tables.remove()
	if f.files != nil {
		err = errors.Join(err, f.files.Close())
	}
	return err
}

// MemoryError refuses an analysis that would need more memory than the operator allows.
type MemoryError struct{ Needs, Limit int64 } // bytes

func (e *MemoryError) Error() string { return e.Fail().Error() }

func (e *MemoryError) Fail() *fail.Error {
	return fail.MemoryLimit.New(mebibytes(e.Needs), mebibytes(e.Limit))
}

// Analyze answers an analysis from the releases of a study's newest result, which stay unchanged:
// it is post-processing and spends no budget. It only reads the store, so an aggregator may serve
// at the same time. The error is store.ErrNotFound if there is no result yet, and *MemoryError if
// the sketches need more than limit bytes.
func Analyze(ctx context.Context, o Options, s *study.Study, asked study.Analysis, limit int64) (out Further, err error) {
	defer func() {
		if p := recover(); p != nil { // in numerics; the caller is unharmed
			what, _ := node.PanicText(p)
			out, err = Further{}, fmt.Errorf("internal error: %s", what)
		}
	}()
	a, err := newShared(o)
	if err != nil {
		return Further{}, err
	}
	h, err := newHosted(a, s)
	if err != nil {
		return Further{}, fmt.Errorf("reading study %s: %w", s.ID.Short(), err)
	}
	result, raw, err := h.resultBefore()
	if err != nil {
		return Further{}, err
	}
	if gone, err := stored.Purged(h.Store, s.ID); err != nil || gone {
		return Further{}, cmp.Or(err, stored.ErrPurged)
	}
	files := a.files()
	defer func() {
		if err != nil {
			err = errors.Join(err, files.Close())
		}
	}()
	run := analysis.Options{
		Memory: limit, Scratch: files,
		Study: h.effective(), Attempt: raw.Attempt, T2: result.T2, Complete: result.Completed, FirstOnly: result.FirstOnly, Analyses: []study.Analysis{asked},
		Entropy: h.Entropy, Workers: h.Workers, Failed: h.computer().failed,
	}
	index, _ := s.SketchFor(asked)
	if run.Contributions, err = h.contributionsTo(ctx, asking(h.effective(), asked), index, result, limit, files); err != nil {
		return Further{}, err
	}
	out.T2, out.tables, out.files = result.T2, &scratch{}, files
	run.Keep = out.tables
	if out.Result, out.Labels, err = analysis.Run(ctx, run); err != nil {
		return Further{}, errors.Join(err, out.tables.remove())
	}
	out.Result = out.Result.With(out.tables)
	if out.Raw, err = json.MarshalIndent(out.Result, "", " "); err != nil {
		return Further{}, fmt.Errorf("encoding the answer: %w", err)
	}
	out.Raw = append(out.Raw, '\n')
	return out, nil
}

// resultBefore returns the study's newest result: the signed statement and the document.
func (h *hosted) resultBefore() (protocol.Result, analysis.Result, error) {
	signed, ok := h.machine.Result()
	if !ok {
		return signed, analysis.Result{}, store.ErrNotFound
	}
	raw, err := h.Store.Result(h.study.ID, filename.Result)
	if err != nil {
		return signed, analysis.Result{}, err
	}
	document, err := analysis.Decode(raw, h.study.ID)
	return signed, document, err
}

// asking returns the study with only the given analyses.
func asking(s *study.Study, analyses ...study.Analysis) *study.Study {
	out := *s
	out.Analyses = analyses
	return &out
}

// contributionsTo reads every release that a result was computed from, in the study's order, unless
// the analysis of the sketch with that index needs more than limit bytes.
func (h *hosted) contributionsTo(ctx context.Context, asked *study.Study, index int, r protocol.Result, limit int64, files *mapped.Files) ([]analysis.Contribution, error) {
	if r.FirstOnly {
		return firstRounds(h.effective(), h.machine.Used())
	}
	used := map[protocol.Digest]bool{}
	for _, id := range r.Releases {
		used[id] = true
	}
	var headers []session.Header
	for _, p := range h.study.Parties {
		header, posted := h.machine.Release(p.ID)
		if !posted || !used[header.ID] {
			continue
		}
		headers = append(headers, header)
	}
	q := analysis.Quotas{Memory: limit}
	needs, err := q.Needs(asked, index, recordsOf(headers))
	if err != nil {
		return nil, err
	}
	if needs > limit {
		return nil, &MemoryError{Needs: needs, Limit: limit}
	}
	c := h.computer()
	c.study = asked
	return c.contributions(ctx, headers, files, q)
}
