package node

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// refusedFile remembers, among a study's results, the document that this party refused: what was
// signed does not get better by being fetched again.
const refusedFile = "refused.json"

// refusal of a document.
type refusal struct {
	Document string `json:"document"` // its hash
	Why      string `json:"why"`
	Version  string `json:"version"` // of the program that refused it: another may know more
}

// BadResultError refuses a result that an aggregator signed and that is none of its study. Another
// one, that the aggregator signs later, is taken.
type BadResultError struct {
	Aggregator protocol.PeerID
	Document   protocol.Digest
	Err        error
}

func (e *BadResultError) Error() string {
	return fmt.Sprintf("aggregator %s signed document %s as a result, and it is none of this study: %v (it is not fetched again; ask the aggregator's operator, whose software may be another)",
		e.Aggregator, e.Document.String()[:8], e.Err)
}

// Unwrap returns what is wrong with it.
func (e *BadResultError) Unwrap() error { return e.Err }

// badDocument is an error of what an aggregator signed, whoever fetches it how often.
type badDocument struct{ Err error }

func (b *badDocument) Error() string { return b.Err.Error() }

func (b *badDocument) Unwrap() error { return b.Err }

// refusedBefore is the refusal of a document that this program refused before, or nil.
func (r *service) refusedBefore(document protocol.Digest) error {
	raw, err := r.Store.Result(r.study.ID, refusedFile)
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
	return &BadResultError{r.study.Aggregator.ID, document, errors.New(before.Why)}
}

// refuse remembers a bad document. Other errors stay as they are, and so does that of another
// version of the software, which says itself what to do.
func (r *service) refuse(document protocol.Digest, err error) error {
	var bad *badDocument
	var version *protocol.Disagreement
	if !errors.As(err, &bad) || errors.As(err, &version) {
		return err
	}
	raw, failed := json.Marshal(refusal{hex.EncodeToString(document[:]), bad.Error(), r.Version})
	if failed == nil {
		failed = r.Store.PutResult(r.study.ID, refusedFile, raw)
	}
	return errors.Join(&BadResultError{r.study.Aggregator.ID, document, bad.Err}, failed)
}

// forgive forgets a refused document, since another one was taken in its place.
func (r *service) forgive() error {
	if _, err := r.Store.Result(r.study.ID, refusedFile); errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return r.Store.DropResult(r.study.ID, refusedFile)
}

// ownRows is how many rows this party's release has, where it has any for each record.
func (r *home) ownRows() (int64, error) {
	raw, err := r.Store.ReleaseHeader(r.study.ID)
	if err != nil {
		return 0, err
	}
	header, err := decodeVerified(raw)
	if err != nil {
		return 0, fmt.Errorf("stored release: %w", err)
	}
	release, err := wire.DecodeRelease(header.Payload())
	return release.Records, err
}
