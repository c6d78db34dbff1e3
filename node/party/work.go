package party

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
)

// work runs the jobs that the machine asks for.
type work struct{ *service }

func (w work) Run(ctx context.Context, job session.Job) (session.Event, error) {
	switch job := job.(type) {
	case session.MakeFirst:
		return w.makeFirst(ctx, job)
	case session.MakeRelease:
		w.shipped = nil
		return w.makeRelease(ctx, job)
	case session.Upload:
		event, err := w.upload(ctx, job)
		if err == nil {
			w.shipped = &job
		}
		return event, err
	case session.FetchResult:
		return w.fetchResult(ctx, job)
	}
	return nil, fmt.Errorf("cannot run %T", job)
}

// called runs jobs by calls, where the aggregator may have moved on: its board shows that. A bundle
// does not change.
type called struct{ *service }

func (c called) Run(ctx context.Context, job session.Job) (session.Event, error) {
	event, err := work(c).Run(ctx, job)
	if err != nil {
		return nil, c.superseded(job, err)
	}
	return event, nil
}

// superseded marks an error after which the board may show that the job is obsolete: the upload of
// a release whose attempt is void, or fetching a result that a later one has replaced. Other errors
// are returned unchanged.
func (r *service) superseded(job session.Job, failed error) error {
	var refusal *p2p.Refusal
	switch job.(type) {
	case session.Upload:
		if errors.As(failed, &refusal) && refusal.Code == p2p.CodeNotFound {
			return &drive.StaleError{Err: failed}
		}
	case session.FetchResult:
		switch {
		case transient(failed):
		case r.Study.LateUntil != 0: // the documents are being replaced, and the board will soon show that
			return &drive.StaleError{Err: fmt.Errorf("%w: %w", p2p.ErrInterrupted, failed)}
		default:
			return &drive.StaleError{Err: failed}
		}
	}
	return failed
}
