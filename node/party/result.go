package party

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
)

// refusal is the stored refusal of a document.
type refusal struct {
	Document string `json:"document"` // its hash
	Why      string `json:"why"`
	Version  string `json:"version"` // of the program that refused it: another version may accept it
}

// BadResultError refuses a result that an aggregator signed but that does not fit its study.
// Another result that the aggregator signs later is accepted.
type BadResultError struct {
	Aggregator protocol.PeerID
	Document   protocol.Digest
	Err        error
}

func (e *BadResultError) Error() string { return e.Fail().Error() }

func (e *BadResultError) Fail() *fail.Error {
	return fail.BadResult.Of(e.Err, e.Aggregator, e.Document.String()[:8])
}

func (e *BadResultError) Unwrap() error { return e.Err }

// refusedBefore returns this program version's earlier refusal of a document, or nil.
func (r *service) refusedBefore(document protocol.Digest) error {
	raw, err := r.Store.Result(r.Study.ID, filename.Refused)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var before refusal
	if json.Unmarshal(raw, &before) != nil || before.Version != r.Version || before.Document != hex.EncodeToString(document[:]) {
		return nil
	}
	return &BadResultError{r.Study.Aggregator.ID, document, errors.New(before.Why)}
}

// refuse stores the refusal of a bad document. Other errors are returned unchanged, also one about
// another version of the software, which has its own remedy.
func (r *service) refuse(document protocol.Digest, err error) error {
	var bad *calls.BadDocument
	var version *protocol.Disagreement
	if !errors.As(err, &bad) || errors.As(err, &version) {
		return err
	}
	raw, failed := json.Marshal(refusal{hex.EncodeToString(document[:]), bad.Error(), r.Version})
	if failed == nil {
		failed = r.Store.PutResult(r.Study.ID, filename.Refused, raw)
	}
	return errors.Join(&BadResultError{r.Study.Aggregator.ID, document, bad.Err}, failed)
}

// clearRefusal deletes a stored refusal after another document was accepted.
func (r *service) clearRefusal() error {
	if _, err := r.Store.Result(r.Study.ID, filename.Refused); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return r.Store.DropResult(r.Study.ID, filename.Refused)
}

// fetchResult fetches what this party may see, checks it against the hashes that the aggregator
// signed, and stores it. A document that does not fit the study is refused once.
func (r *service) fetchResult(ctx context.Context, job session.FetchResult) (session.Event, error) {
	document := job.Result.Document.Hash
	if err := r.refusedBefore(document); err != nil {
		return nil, err
	}
	if err := r.takeResult(ctx, job.Result); err != nil {
		return nil, r.refuse(document, err)
	}
	return session.ResultStored{Document: document}, r.clearRefusal()
}

func (r *service) takeResult(ctx context.Context, signed protocol.Result) error {
	for _, d := range signed.PerParty {
		if d.Party != r.Signer.ID() {
			continue
		}
		rows, err := r.OwnRows()
		if err != nil {
			return err
		}
		data, err := r.takeLabels(ctx, d.Document, analysis.LabelsOf(r.Study, rows))
		if err != nil {
			return fmt.Errorf("the aggregator's labels: %w", err)
		}
		if err := r.Store.PutResult(r.Study.ID, filename.Labels, data); err != nil {
			return err
		}
	}
	bounds := analysis.BoundsOf(r.Study)
	data, err := r.client.Document(ctx, signed.Document, bounds.Document)
	if err != nil {
		return fmt.Errorf("the aggregator's result: %w", err)
	}
	before, err := stored.StoredTables(r.Store, r.Study.ID)
	if err != nil {
		return err
	}
	result, err := r.takeTables(ctx, data, bounds)
	if err != nil {
		return fmt.Errorf("the aggregator's result: %w", err)
	}
	if err := r.Store.PutResult(r.Study.ID, filename.Result, data); err != nil {
		return err
	}
	return stored.DropTables(r.Store, r.Study, before, result)
}

// takeLabels fetches the labels of this party's own records.
func (r *service) takeLabels(ctx context.Context, d protocol.Document, bounds analysis.LabelBounds) ([]byte, error) {
	data, err := r.client.Document(ctx, d, bounds.Document)
	if err != nil {
		return nil, err
	}
	labels, err := bounds.Decode(data, r.Study.ID)
	if err == nil {
		err = labels.CheckNames(r.Study)
	}
	if err != nil {
		return nil, &calls.BadDocument{Err: err}
	}
	return data, nil
}

// takeTables decodes a fetched document, within bounds, and fetches the tables that it names and
// that are not here. It fetches part after part, with one piece in memory. It checks each part's
// hash before storing it, and then the contents of all tables.
func (r *service) takeTables(ctx context.Context, document []byte, bounds analysis.Bounds) (analysis.Result, error) {
	result, err := bounds.Decode(ctx, document, r.Study.ID)
	if err != nil {
		if ctx.Err() != nil {
			return result, ctx.Err()
		}
		return result, &calls.BadDocument{Err: err}
	}
	if err := result.CheckNames(r.Study); err != nil {
		return result, &calls.BadDocument{Err: err}
	}
	parts, err := result.Parts()
	if err != nil {
		return result, err
	}
	var fetched []protocol.Document
	for _, part := range parts {
		isNew, err := r.takePart(ctx, part)
		if err != nil {
			return result, fmt.Errorf("a table of it: %w", err)
		}
		if isNew {
			fetched = append(fetched, part)
		}
	}
	err = result.With(stored.Tables{Documents: r.Store, Study: r.Study.ID}).CheckTables()
	if err != nil { // as signed, but not valid tables: nothing will refer to them
		if disk := (*fs.PathError)(nil); !errors.As(err, &disk) {
			err = &calls.BadDocument{Err: err}
		}
		for _, part := range fetched {
			err = errors.Join(err, r.Store.DropResult(r.Study.ID, filename.Table(part.Hash)))
		}
	}
	return result, err
}

// takePart fetches a part unless it is here, and reports whether it did.
func (r *service) takePart(ctx context.Context, part protocol.Document) (isNew bool, err error) {
	f, err := r.Store.OpenResult(r.Study.ID, filename.Table(part.Hash))
	if err == nil {
		return false, f.Close() // it was checked before it got its name
	}
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	to, err := r.Store.NewResult(r.Study.ID)
	if err != nil {
		return false, err
	}
	if err := r.client.Pieces(ctx, part, to); err != nil {
		to.Discard()
		return false, err
	}
	r.retry.Reset() // parts that arrived are kept
	return true, to.Keep(filename.Table(part.Hash))
}
