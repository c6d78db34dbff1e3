package party

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/session"
)

// outgoing sends a party's requests, and journals what they carry before it sends them. One
// goroutine owns it.
type outgoing struct {
	calls.Carrier
	home  *source.Source
	noted map[[sha256.Size]byte]bool // posts journaled since this run began

	requests, bytes int64 // sent but not journaled yet: they carry no data
	uploaded        int64 // bytes of chunks since the upload began
}

func newOutgoing(way calls.Carrier, h *source.Source) *outgoing {
	return &outgoing{Carrier: way, home: h, noted: map[[sha256.Size]byte]bool{}}
}

func (o *outgoing) Call(ctx context.Context, name string, request []byte) ([]byte, error) {
	hash := sha256.Sum256(request)
	switch {
	case name == calls.Chunk:
		o.uploaded += int64(len(request))
	case name == calls.Post && !o.noted[hash]:
		if err := o.note(journal.Entry{Event: journal.Posting, Bytes: int64(len(request))}); err != nil {
			return nil, err
		}
		o.noted[hash] = true
	case name == calls.Query && len(request) > len(protocol.StudyID{}): // journaled by the caller
	default:
		o.requests, o.bytes = o.requests+1, o.bytes+int64(len(request))
	}
	return o.Carrier.Call(ctx, name, request)
}

// note journals an entry, with the time, the study and its aggregator.
func (o *outgoing) note(e journal.Entry) error {
	e.At, e.Study, e.To = o.home.Now(), o.home.Study.ID.String(), o.home.Study.Aggregator.ID.String()
	return o.home.Store.Note(e)
}

// upload journals how much of a release is about to be sent, sends it, and journals how much was.
func (o *outgoing) upload(remaining int64, send func() error) error {
	if remaining == 0 {
		return send()
	}
	if err := o.note(journal.Entry{Event: journal.Uploading, Bytes: remaining}); err != nil {
		return err
	}
	o.uploaded = 0
	if err := send(); err != nil {
		return err
	}
	return o.note(journal.Entry{Event: journal.Uploaded, Bytes: o.uploaded})
}

// sum journals the requests that carry no data, of which a run makes many: for the board, for the
// progress of an upload, for the result.
func (o *outgoing) sum() error {
	if o.requests == 0 {
		return nil
	}
	err := o.note(journal.Entry{Event: journal.Asked, Bytes: o.bytes, Note: fmt.Sprintf("%d requests without data", o.requests)})
	o.requests, o.bytes = 0, 0
	return err
}

// remaining is the number of bytes of sketches that have not arrived, given the first missing chunk
// of each.
func remaining(header protocol.Release, missing []int) int64 {
	var total int64
	for i, s := range header.Sketches {
		total += max(0, s.Size()-int64(missing[i])*protocol.ChunkSize)
	}
	return total
}

// upload sends the chunks of the stored release that the aggregator lacks.
func (r *service) upload(ctx context.Context, job session.Upload) (session.Event, error) {
	progress, err := r.client.Progress(ctx)
	if err != nil {
		return nil, err
	}
	if !progress.Complete && len(progress.Missing) != len(job.Header.Sketches) {
		return nil, &node.AnswerError{Aggregator: r.Study.Aggregator.ID, Call: calls.Progress, Err: fmt.Errorf("it counts %d sketches, the release has %d", len(progress.Missing), len(job.Header.Sketches))}
	}
	var total, done int64
	for _, s := range job.Header.Sketches {
		total += s.Size()
	}
	send := func() error {
		for i, s := range job.Header.Sketches {
			sent, err := r.uploadSketch(ctx, i, s, progress.Missing[i], func(n int64) {
				r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Uploading, Done: done + n, Total: total})
			})
			if err != nil {
				return err
			}
			done += sent
		}
		return nil
	}
	if !progress.Complete {
		if err := r.out.upload(remaining(job.Header, progress.Missing), send); err != nil {
			return nil, err
		}
	}
	r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Uploaded, Done: total, Total: total})
	return session.ReleaseUploaded{}, nil
}

// uploadSketch sends one sketch from its first missing chunk on.
func (r *service) uploadSketch(ctx context.Context, i int, s protocol.ReleasedSketch, from int, report func(int64)) (int64, error) {
	err := r.EachChunk(i, s, from, func(index int, piece []byte) error {
		err := r.client.Chunk(ctx, i, index, piece)
		if err == nil {
			r.retry.Reset() // chunks that arrived are kept
			report(int64(index)*protocol.ChunkSize + int64(len(piece)))
		}
		return err
	})
	return s.Size(), err
}
