package party

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

const (
	mostKept = 4 * calls.MostFurther
)

// furtherRoom is the number of bytes that a party keeps of a study's results and further results.
func furtherRoom(s *study.Study) int64 {
	own, further := analysis.BoundsOf(s), analysis.FurtherBounds(s)
	return 1<<30 + own.Document + 4*(own.Tables+further.Tables)
}

// ErrTooManyFurther reports that a study has more further results than a party keeps.
var ErrTooManyFurther error = fail.TooManyFurther

// FetchFurther asks the aggregator for further results of a study, stores the new ones and returns
// their number.
func (p *Party) FetchFurther(ctx context.Context, id protocol.StudyID) (int, error) {
	r, err := p.open(id)
	if err != nil {
		return 0, fmt.Errorf("fetching further results of study %s: %w", id.Short(), err)
	}
	p.mu.Lock()
	p.aggregators[r.Study.Aggregator.ID] = true
	p.mu.Unlock()
	n, err := r.fetchFurther(ctx)
	if err != nil {
		return n, fmt.Errorf("fetching further results of study %s: %w", id.Short(), err)
	}
	return n, nil
}

// fetchFurther fetches the listed results that are not here, checks them against what the
// aggregator signed, and stores them.
func (r *service) fetchFurther(ctx context.Context) (fetched int, err error) {
	list, err := r.client.Call(ctx, calls.Further, r.Study.ID[:])
	if err != nil {
		return 0, err
	}
	kept, _, err := stored.Statements(r.Store, r.Study)
	if err != nil {
		return 0, err
	}
	var bad []error
	here := map[protocol.Digest]bool{}
	for _, f := range kept {
		_, err := stored.ReadFurther(r.Store, r.Study, f)
		if err != nil && !errors.Is(err, stored.ErrUnsigned) { // a damaged one is fetched again
			return 0, err
		}
		here[f.Document.Hash] = err == nil
	}
	for len(list) > 0 {
		size := 0
		if len(list) >= 4 {
			size = int(binary.BigEndian.Uint32(list))
		}
		if len(list) < 4 || size > len(list)-4 || fetched+len(bad) >= calls.MostFurther {
			return fetched, errors.New("the aggregator's list of further results is damaged")
		}
		f, err := protocol.DecodeFurther(r.Study.ID, r.Study.Aggregator.ID, list[4:4+size])
		if err != nil {
			return fetched, &node.FailedError{Err: &protocol.Fault{Culprit: r.Study.Aggregator.ID, Kind: "further result", Err: err}}
		}
		list = list[4+size:]
		if here[f.Document.Hash] {
			continue
		}
		if len(kept)+fetched >= mostKept {
			return fetched, fmt.Errorf("%w: there are %d", ErrTooManyFurther, mostKept)
		}
		var document *calls.BadDocument
		var reply *node.AnswerError
		err = r.acceptFurther(ctx, f)
		switch {
		case err == nil:
			fetched++
		case errors.As(err, &document), errors.As(err, &reply): // the others may be intact
			bad = append(bad, fmt.Errorf("further result %s: %w", f.Document.Hash.String()[:8], err))
		default:
			return fetched, err
		}
	}
	return fetched, errors.Join(bad...)
}

func (r *service) acceptFurther(ctx context.Context, f protocol.Further) error {
	left, err := r.roomLeft()
	if err != nil {
		return err
	}
	bounds := analysis.FurtherBounds(r.Study)
	for _, d := range f.PerParty {
		if d.Party != r.Signer.ID() {
			continue
		}
		rows, err := r.OwnRows()
		if err != nil {
			return err
		}
		if left -= d.Size; left < 0 {
			return r.tooMuchFurther()
		}
		data, err := r.takeLabels(ctx, d.Document, analysis.FurtherLabelsOf(r.Study, rows))
		if err != nil {
			return fmt.Errorf("the labels of the aggregator's further result: %w", err)
		}
		if err := r.Store.PutResult(r.Study.ID, filename.FurtherLabels(f.Document.Hash, d.Party), data); err != nil {
			return err
		}
	}
	if left -= f.Document.Size; left < bounds.Tables {
		return r.tooMuchFurther()
	}
	data, err := r.client.Document(ctx, f.Document, bounds.Document)
	if err != nil {
		return fmt.Errorf("the aggregator's further result: %w", err)
	}
	if _, err := r.takeTables(ctx, data, bounds); err != nil {
		return fmt.Errorf("the aggregator's further result: %w", err)
	}
	name := filename.Further(f.Document.Hash)
	if err := r.Store.PutResult(r.Study.ID, name+".json", data); err != nil {
		return err
	}
	return r.Store.PutResult(r.Study.ID, name, f.Encode())
}

func (r *service) tooMuchFurther() error {
	return fmt.Errorf("%w: together they would have more than %d bytes", ErrTooManyFurther, furtherRoom(r.Study))
}

// roomLeft is the number of bytes that may still be kept of a study's further results.
func (r *service) roomLeft() (int64, error) {
	names, err := r.Store.Results(r.Study.ID)
	if err != nil {
		return 0, err
	}
	left := furtherRoom(r.Study)
	for _, name := range names {
		f, err := r.Store.OpenResult(r.Study.ID, name)
		if err != nil {
			return 0, err
		}
		left -= f.Size()
		if err := f.Close(); err != nil {
			return 0, err
		}
	}
	return left, nil
}
