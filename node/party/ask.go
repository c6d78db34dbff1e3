package party

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
)

// Reasons why no query can be made.
var (
	ErrNoQueries      error = fail.NoQueries
	ErrQueriesAsked   error = fail.QueriesAsked
	ErrQueryLost      error = fail.QueryLost
	ErrRecordsChanged error = fail.DataChanged
)

// Question is what a party asks about.
type Question struct {
	Files  []string // required: new records, in the form of the study's data
	DryRun bool     // read the records, check policy and budget, and stop before anything is spent or sent
}

// Asked is a query, and its answer if it has arrived.
type Asked struct {
	Number  int
	Before  bool // the same records were queried before: nothing new was spent
	Promise dp.Guarantee
	Records int64 // in the query
	Answer  analysis.QueryAnswer
	Columns []string   // of the ids, then of the answer
	Table   [][]string // by record, in the order of the files; ids are normalised
}

// Ask finds the records of the union that are nearest to records of this party that are in no
// release. A query is a release and is made like one:
//
//	project → debit durably → have the ledger's head countersigned → draw noise →
//	store durably → (only then) send
//
// Under randomised response it is debited before values are read. A crash before the debit leaves
// nothing. After the debit, the next query finds it and does not repeat it. After the store, the
// query is only ever re-sent unchanged. Asking about the same records again is the same query and
// spends nothing. The answer is verified and stored. Failed calls are retried until ctx ends.
func (p *Party) Ask(ctx context.Context, id protocol.StudyID, o Question) (Asked, error) {
	out, err := p.ask(ctx, id, o)
	if err != nil {
		return out, fmt.Errorf("querying study %s: %w", id.Short(), err)
	}
	return out, nil
}

func (p *Party) ask(ctx context.Context, id protocol.StudyID, o Question) (Asked, error) {
	unlock, err := p.Store.LockStudy(id)
	if err != nil {
		return Asked{}, err
	}
	defer unlock()
	r, err := p.open(id)
	if err != nil {
		return Asked{}, err
	}
	p.mu.Lock()
	p.aggregators[r.Study.Aggregator.ID] = true
	p.mu.Unlock()
	q, err := r.newQuery(o.Files)
	if err != nil {
		return Asked{}, err
	}
	if err := q.look(ctx); err != nil || o.DryRun {
		return q.Asked, err
	}
	if err := q.patiently(ctx, q.compare); err != nil {
		return Asked{}, err
	}
	if !q.Before {
		if err := q.make(ctx); err != nil {
			return q.Asked, err
		}
	}
	err = q.patiently(ctx, q.send)
	if noted := r.out.sum(); err == nil {
		err = noted
	}
	if err == nil {
		err = q.join()
	}
	return q.Asked, err
}

// query is one query in progress.
type query struct {
	*service
	Asked
	src      *source.Dataset
	plan     release.Plan
	keys     seed.Kept
	t2       protocol.Digest // of the agreement
	released int64           // rows of the party's release
	digest   [32]byte        // of the records
}

// newQuery checks whether a query can be made at all.
func (r *service) newQuery(files []string) (*query, error) {
	q := &query{service: r}
	party, _ := r.Study.PartyIndex(r.Signer.ID())
	if _, ok := r.Study.QuerySketch(); !ok {
		return nil, ErrNoQueries
	}
	if r.Now() >= r.Study.NewRecords {
		return nil, node.ErrKeptNoMore
	}
	raw, err := r.Store.Kept(r.Study.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, node.ErrNothingKept
	}
	if err != nil {
		return nil, err
	}
	if q.keys, err = seed.ParseKept(raw); err != nil {
		return nil, err
	}
	if _, err := r.Store.Result(r.Study.ID, filename.Result); err != nil {
		return nil, err
	}
	if raw, err = r.Store.ReleaseHeader(r.Study.ID); err != nil {
		return nil, err
	}
	header, err := stored.DecodeVerified(raw)
	if err != nil {
		return nil, fmt.Errorf("stored release: %w", err)
	}
	own, err := wire.DecodeRelease(header.Payload())
	if err != nil {
		return nil, fmt.Errorf("stored release: %w", err)
	}
	q.t2, q.released = own.T2, own.Records
	if q.plan, err = release.ForQuery(r.Study, party); err != nil {
		return nil, err
	}
	q.Promise = q.plan.Guarantee()
	if q.src, err = r.NewRecords(files); err != nil {
		return nil, err
	}
	q.src.Schema.MaxRecords = q.plan.Limit
	return q, nil
}

// look reads the records once. It finds an earlier query about them, or takes the next number and
// checks policy and budget.
func (q *query) look(ctx context.Context) error {
	sum, summary, err := q.read(ctx, nil)
	if err != nil {
		return err
	}
	q.digest, q.Records = sum, summary.Records
	q.Observe(event.Progress{Study: q.Study.ID, Milestone: event.Checked, Note: source.SummaryText(summary)})
	for number := 1; number <= q.Study.Queries.Releases; number++ {
		kept := q.Store.Query(q.Study.ID, number)
		switch _, err := kept.Header(); {
		case errors.Is(err, store.ErrNotFound):
			q.Number = number
			return q.permitted()
		case err != nil:
			return err
		}
		before, err := stored.ReadAll(kept, filename.QueryDigest)
		if err != nil {
			return err
		}
		if bytes.Equal(before, sum[:]) {
			q.Number, q.Before = number, true
			return nil
		}
	}
	return ErrQueriesAsked
}

// read reads and hashes the records and passes them to into, unless that is nil.
func (q *query) read(ctx context.Context, into func(dataset.Batch) error) (sum [32]byte, summary dataset.Summary, err error) {
	hash := sha256.New()
	summary, err = q.Pass(ctx, q.src, func(b dataset.Batch) error {
		for i, id := range b.IDs {
			hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(id))))
			hash.Write(id)
			for _, v := range b.Values[i*q.plan.Values : (i+1)*q.plan.Values] {
				hash.Write(binary.BigEndian.AppendUint64(nil, uint64(v)))
			}
		}
		if into == nil {
			return nil
		}
		return into(b)
	})
	return [32]byte(hash.Sum(nil)), summary, err
}

// spec describes the query's release to package job.
func (q *query) spec() (job.Spec, error) {
	spec := q.Spec(q.src, job.Query{Number: q.Number, T2: q.t2}, q.keys)
	spec.Plans = []release.Plan{q.plan}
	return q.Budgeted(spec, q.src)
}

// permitted returns an error if a cap refuses the query, or if its people have a budget under
// another dataset's name.
func (q *query) permitted() error {
	entries, err := q.Store.Ledger()
	if err != nil {
		return err
	}
	spec, err := q.spec()
	if err != nil {
		return err
	}
	if _, err := spec.Debits(entries); err != nil {
		return err
	}
	refusal, failed := q.CheckPeople(q.src, entries)
	return errors.Join(refusal, failed)
}

// compare shows the aggregator the ledger's head, and asks which queries of this party it holds. If
// the store lacks one of them, a later state of the store sent it.
func (q *query) compare(ctx context.Context) error {
	if err := q.vouch(ctx); err != nil {
		return err
	}
	list, err := q.client.Call(ctx, calls.Query, q.Study.ID[:])
	if err != nil {
		return err
	}
	const size = 4 + 32
	if len(list)%size != 0 || len(list) > size*q.Study.Queries.Releases {
		return &node.FailedError{Err: &protocol.Fault{Culprit: q.Study.Aggregator.ID, Kind: "query", Err: errors.New("its list of queries is damaged")}}
	}
	for ; len(list) > 0; list = list[size:] {
		own, err := q.stored(int(binary.BigEndian.Uint32(list)))
		if errors.Is(err, store.ErrNotFound) || err == nil && own.ID() != protocol.Digest(list[4:size]) {
			return ErrQueryLost
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stored returns the statement of a stored query.
func (q *query) stored(number int) (protocol.Query, error) {
	raw, err := q.Store.Query(q.Study.ID, number).Header()
	if err != nil {
		return protocol.Query{}, err
	}
	return protocol.DecodeQuery(q.Study.ID, q.Signer.ID(), raw)
}

// make makes and stores the release; package job defines the order of the steps.
func (q *query) make(ctx context.Context) error {
	spec, err := q.spec()
	if err != nil {
		return err
	}
	_, err = job.Run(ctx, spec, queryWorld{q})
	return err
}

// queryWorld implements job.World for a query's release.
type queryWorld struct{ *query }

var errNoLook = errors.New("a query takes no first look, and none of its releases is void")

// Stored returns the statement of the stored query.
func (w queryWorld) Stored() ([]byte, error) {
	return none(w.Store.Query(w.Study.ID, w.Number).Header())
}

func (w queryWorld) Debit(ctx context.Context, due func([]ledger.Entry) ([]ledger.Entry, error)) error {
	return w.Spend(ctx, w.src, due)
}

// Countersign has the aggregator countersign the ledger's head.
func (w queryWorld) Countersign(ctx context.Context) error { return w.vouchPatiently(ctx) }

// Exact reads the records again; they must not have changed since look.
func (w queryWorld) Exact(ctx context.Context, builders []*release.Builder) (job.Records, error) {
	var ids [][]byte
	sum, _, err := w.read(ctx, func(b dataset.Batch) error {
		for _, id := range b.IDs {
			ids = append(ids, append([]byte(nil), id...))
		}
		return builders[0].Add(b.IDs, b.Values)
	})
	if err == nil && sum != w.digest {
		err = ErrRecordsChanged
	}
	return job.Records{Count: int64(len(ids)), IDs: ids}, err
}

// Save stores the query.
func (w queryWorld) Save(s job.Sealed) error {
	rows, err := stored.RowsCSV(s.IDs(), s.Orders()[0])
	if err != nil {
		return err
	}
	return w.Store.SaveQuery(w.Study.ID, w.Number, store.Release{Header: s.Header(), Files: map[string]io.Reader{
		filename.QueryRows: bytes.NewReader(s.Sketches()[0]), filename.QueryOrder: bytes.NewReader(rows), filename.QueryDigest: bytes.NewReader(w.digest[:]),
	}})
}

// StoredLook, StoreLook, Look and Drop are only for releases of a study.
func (w queryWorld) StoredLook() ([]byte, error)                          { return nil, errNoLook }
func (w queryWorld) StoreLook([]byte) error                               { return errNoLook }
func (w queryWorld) Look(context.Context, []*release.Look) (int64, error) { return 0, errNoLook }
func (w queryWorld) Drop() error                                          { return errNoLook }

// Cleanup has nothing to destroy.
func (w queryWorld) Cleanup() error { return nil }

// At notifies the observer.
func (w queryWorld) At(stage job.Stage) {
	p := event.Progress{Study: w.Study.ID}
	switch stage {
	case job.Projected:
		p.Milestone, p.Note = event.Projected, fmt.Sprintf("query %d, %d records", w.Number, w.Records)
	case job.Debited:
		p.Milestone = event.Debited
	case job.Saved:
		p.Milestone = event.Stored
	default:
		return
	}
	w.Observe(p)
}

// send sends the stored query, unless its answer is here, and stores the answer.
func (q *query) send(ctx context.Context) error {
	own, err := q.stored(q.Number)
	if err != nil {
		return err
	}
	if _, err := q.Store.Result(q.Study.ID, filename.QueryAnswer(q.Number)); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	data, err := stored.ReadAll(q.Store.Query(q.Study.ID, q.Number), filename.QueryRows)
	if err != nil {
		return err
	}
	request := append(append(q.Study.ID[:len(q.Study.ID):len(q.Study.ID)], own.Encode()...), data...)
	what := fmt.Sprintf("query %d", q.Number)
	if err := q.out.note(journal.Entry{Event: journal.Uploading, Bytes: int64(len(data)), Note: what}); err != nil {
		return err
	}
	raw, err := q.client.Call(ctx, calls.Query, request)
	if err != nil {
		return err
	}
	if err := q.out.note(journal.Entry{Event: journal.Uploaded, Bytes: int64(len(data)), Note: what}); err != nil {
		return err
	}
	answer, err := protocol.DecodeAnswer(q.Study.ID, q.Study.Aggregator.ID, raw)
	if err == nil && (answer.Party != q.Signer.ID() || answer.Query != own.ID()) {
		err = errors.New("it answers another query")
	}
	if err != nil {
		return &node.FailedError{Err: &protocol.Fault{Culprit: q.Study.Aggregator.ID, Kind: "answer", Err: err}}
	}
	bounds := analysis.AnswerOf(q.Study, own.Rows)
	document, err := q.client.Document(ctx, answer.Document, bounds.Document)
	if err != nil {
		return err
	}
	if err := bounds.Check(document); err != nil {
		return &node.FailedError{Err: &protocol.Fault{Culprit: q.Study.Aggregator.ID, Kind: "answer", Err: err}}
	}
	said, err := analysis.DecodeQueryAnswer(document, q.Study.ID, q.Number, int(own.Rows), q.released)
	if err == nil {
		err = said.CheckNames(q.Study)
	}
	if err != nil {
		return &node.FailedError{Err: &protocol.Fault{Culprit: q.Study.Aggregator.ID, Kind: "answer", Err: err}}
	}
	name := filename.QueryAnswer(q.Number)
	if err := q.Store.PutResult(q.Study.ID, name+".json", document); err != nil {
		return err
	}
	return q.Store.PutResult(q.Study.ID, name, raw)
}

// join reads the stored answer and adds the party's own ids.
func (q *query) join() error {
	own, err := q.stored(q.Number)
	if err != nil {
		return err
	}
	raw, err := q.Store.Result(q.Study.ID, filename.QueryAnswer(q.Number)+".json")
	if err != nil {
		return err
	}
	if q.Answer, err = analysis.DecodeQueryAnswer(raw, q.Study.ID, q.Number, int(own.Rows), q.released); err != nil {
		return err
	}
	asked, err := stored.OrderIn(q.Store.Query(q.Study.ID, q.Number).Open(filename.QueryOrder))
	if err != nil {
		return err
	}
	ours, err := stored.OrderIn(q.Store.OpenReleaseFile(q.Study.ID, filename.Rows(q.plan.Index)))
	if err != nil {
		return err
	}
	q.Columns, q.Table, err = answerTable(q.Study, q.Answer, asked, ours)
	return err
}

// answerTable returns the answer by record, with the party's own ids.
func answerTable(s *study.Study, a analysis.QueryAnswer, asked, ours []stored.Ordered) (columns []string, table [][]string, err error) {
	// It has the form of the table of labels; own neighbours are identified by their row of the
	// release.
	columns = append(columns, s.Records.ID...)
	table = make([][]string, len(asked))
	for _, o := range asked {
		if table[o.Record], err = stored.IdFields(o.ID, len(s.Records.ID)); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range a.Columns {
		columns = append(columns, c.Name)
		for row, o := range asked {
			text := c.Text(row)
			if row < len(c.Own) && c.Own[row] >= 0 {
				if text, err = stored.OwnName(ours, c.Own[row], len(s.Records.ID)); err != nil {
					return nil, nil, err
				}
			}
			table[o.Record] = append(table[o.Record], text)
		}
	}
	return columns, table, nil
}

// patiently retries a call while it fails for a reason that may pass.
func (q *query) patiently(ctx context.Context, call func(context.Context) error) error {
	retry := node.Backoff{Least: 200 * time.Millisecond, Most: 10 * time.Second}
	for {
		err := call(ctx)
		var refusal *p2p.Refusal
		if err == nil || !transient(err) || timeIsUp(ctx) || errors.As(err, &refusal) && refusal.Code == p2p.CodeUnknownStudy {
			return err
		}
		q.Observe(event.Progress{Study: q.Study.ID, Milestone: event.Retrying, Err: err})
		if !retry.Wait(ctx, err) {
			return &node.WaitError{For: "the aggregator", Err: err}
		}
	}
}
