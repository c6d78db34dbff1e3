package node

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
)

// outgoing carries a party's requests, and notes in the journal what leaves by them before
// it does. One goroutine owns it.
type outgoing struct {
	carrier
	home  *home
	noted map[[sha256.Size]byte]bool // posts that are in the journal since this run began

	requests, bytes int64 // that were sent and are not in the journal yet: they carry no data
	uploaded        int64 // bytes of chunks since the upload began
}

func newOutgoing(way carrier, h *home) *outgoing {
	return &outgoing{carrier: way, home: h, noted: map[[sha256.Size]byte]bool{}}
}

func (o *outgoing) call(ctx context.Context, name string, request []byte) ([]byte, error) {
	hash := sha256.Sum256(request)
	switch {
	case name == callChunk:
		o.uploaded += int64(len(request))
	case name == callPost && !o.noted[hash]:
		if err := o.note(journal.Entry{Event: journal.Posting, Bytes: int64(len(request))}); err != nil {
			return nil, err
		}
		o.noted[hash] = true
	case name == callQuery && len(request) > len(protocol.StudyID{}): // noted by who asks
	default:
		o.requests, o.bytes = o.requests+1, o.bytes+int64(len(request))
	}
	return o.carrier.call(ctx, name, request)
}

// note dates an entry about the study and its aggregator.
func (o *outgoing) note(e journal.Entry) error {
	e.At, e.Study, e.To = o.home.Now(), o.home.study.ID.String(), o.home.study.Aggregator.ID.String()
	return o.home.Store.Note(e)
}

// upload notes how much of a release is about to leave, sends it, and notes how much did.
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

// sum notes the requests that carry no data, of which a run makes many: for the board,
// for what has arrived, for the result.
func (o *outgoing) sum() error {
	if o.requests == 0 {
		return nil
	}
	err := o.note(journal.Entry{Event: journal.Asked, Bytes: o.bytes, Note: fmt.Sprintf("%d requests without data", o.requests)})
	o.requests, o.bytes = 0, 0
	return err
}

// remaining is how many bytes of sketches have not arrived, where the first missing chunk of
// each is known.
func remaining(header protocol.Release, missing []int) int64 {
	var total int64
	for i, s := range header.Sketches {
		total += max(0, s.Size()-int64(missing[i])*protocol.ChunkSize)
	}
	return total
}
