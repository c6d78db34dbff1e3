//go:build unix

package node_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/wire"
)

// curious is a study whose parties may ask about new records.
func curious() terms {
	w := clustered
	w.sketches = "[{side: records, family: sparse, k: 8, s: 1, matrix: public}]"
	w.caps = "{attribute: {epsilon: 10}}"
	w.more = fmt.Sprintf("new_records_until: %s\nqueries: {releases: 3, records: 5, neighbors: 2}\n", now()+10*3600)
	return w
}

// curiousBits is such a study with noise in the values before they are projected.
func curiousBits() terms {
	w := curious()
	w.sketches = "[{side: records, family: sparse, k: 2, s: 1, matrix: public}]"
	w.columns = "[{name: x, kind: binary}, {name: y, kind: binary}]"
	w.privacy = "{unit: attribute, mechanism: randomised-response, epsilon: 1}"
	return w
}

const news = "id,x,y\nnewcomer1,1,0\nnewcomer2,0,1\nnewcomer3,1,1\n"

// answered runs a study to its result and leaves the aggregator serving.
func answered(t *testing.T, w terms) (b *bench, stop func()) {
	t.Helper()
	data := points
	if w.columns != clustered.columns {
		data = func(int) string { return news }
	}
	b = newBench(t, w, data)
	stop = b.serve()
	t.Cleanup(stop)
	b.runAll(b.context(), "a", "b", "c")
	check(t, os.WriteFile(b.path("new.csv"), []byte(news), 0o600))
	return b, stop
}

// ask makes a query about a file, for a party in this process.
func (b *bench) ask(ctx context.Context, name, file string) (party.Asked, error) {
	st, err := store.Open(b.path(name), store.Party, store.Options{})
	if err != nil {
		return party.Asked{}, err
	}
	defer st.Close()
	options := partyOptions(b.state(name, st), b.path(name+".yaml"), nil, b.logger())
	options.Now = b.now
	p, err := party.New(options)
	if err != nil {
		return party.Asked{}, err
	}
	defer p.Close()
	return p.Ask(ctx, b.study.ID, party.Question{Files: []string{b.path(file)}})
}

// queryFaults lists what is wrong with query 1 of party a once it is answered: it must have been
// debited once, be unchanged since it was first stored, and equal the aggregator's.
func (b *bench) queryFaults(before []byte) (out []string) {
	b.t.Helper()
	st, agg := b.open("a"), b.open("agg")
	defer st.Close()
	defer agg.Close()
	entries, err := st.Ledger()
	check(b.t, err)
	if ok := slices.ContainsFunc(entries, func(e ledger.Entry) bool { return e.Study == b.study.ID && e.Query == 1 }); !ok || len(entries) != 2 {
		out = append(out, fmt.Sprintf("the ledger holds %d debits, want one of the release and one of query 1", len(entries)))
	}
	own, err := st.Query(b.study.ID, 1).Header()
	check(b.t, err)
	if before != nil && !bytes.Equal(before, own) {
		out = append(out, "the query changed after it was stored")
	}
	self, err := st.ID()
	check(b.t, err)
	name := fmt.Sprintf("query-%x-1", self[:])
	theirs, err := agg.Result(b.study.ID, name)
	if err != nil || !bytes.Equal(theirs, own) {
		out = append(out, fmt.Sprintf("the aggregator holds another query (%v)", err))
	}
	rows, err := agg.Result(b.study.ID, name+".bin")
	check(b.t, err)
	f, err := st.Query(b.study.ID, 1).Open("sketch.bin")
	check(b.t, err)
	defer f.Close()
	data := make([]byte, f.Size())
	if _, err := f.ReadAt(data, 0); err != nil || !bytes.Equal(data, rows) {
		out = append(out, "the aggregator holds other rows")
	}
	return out
}

// storedQuery is the statement of query 1 of party a, or nil.
func (b *bench) storedQuery() []byte {
	b.t.Helper()
	st := b.open("a")
	defer st.Close()
	raw, err := st.Query(b.study.ID, 1).Header()
	if !errors.Is(err, store.ErrNotFound) {
		check(b.t, err)
	}
	return raw
}

// A party killed at any point of a query finishes it, with one debit. Once something could have
// been sent, noise is not drawn again.
func TestQuerySurvivesSIGKILL(t *testing.T) {
	all := []string{"checked", "projected", "debited", "stored"}
	for name, of := range map[string]struct {
		terms
		dies []string
	}{"laplace": {curious(), all}, "randomised response": {curiousBits(), full.Or([]string{"debited"}, all)}} {
		for _, at := range of.dies {
			t.Run(name+" "+at, func(t *testing.T) {
				t.Parallel()
				b, stop := answered(t, of.terms)
				if err := b.process(b.context(), at, b.path("new.csv")); !killed(err) {
					t.Fatalf("the party was to die at %q, and ended with: %v", at, err)
				}
				before := b.storedQuery()
				if (before != nil) != (at == "stored") {
					t.Fatalf("a query is stored: %v", before != nil)
				}
				check(t, b.process(b.context(), "", b.path("new.csv")))
				stop()
				for _, fault := range b.queryFaults(before) {
					t.Error(fault)
				}
			})
		}
	}
}

// Every durable write of a query fails at the party or at the aggregator, once without effect and
// once after taking effect. Asking again gives the one answer.
func TestEveryWriteOfAQueryFails(t *testing.T) {
	places := map[string][]nth{
		"a":   {{"Debit", 1}, {"SaveQuery", 1}, {"PutResult query", 1}, {"PutResult query", 2}},
		"agg": {{"PutResult query", 1}, {"PutResult query", 2}, {"PutResult answer", 1}, {"PutResult answer", 2}},
	}
	for who, fails := range places {
		for turn, fail := range fails {
			for _, how := range fail.ways(turn) {
				t.Run(fmt.Sprintf("%s %s %s", who, fail, how), func(t *testing.T) {
					t.Parallel()
					b, stop := answered(t, curious())
					w := &writes{fail: fail, how: how}
					b.writes = map[string]*writes{who: w}
					if who == "agg" {
						stop()
						t.Cleanup(b.serve())
					}
					_, err := b.ask(b.context(), "a", "new.csv")
					if who == "a" && !errors.Is(err, errDisk) {
						t.Fatalf("with a failing disk: %v", err)
					}
					before := b.storedQuery()
					asked, err := b.ask(b.context(), "a", "new.csv")
					check(t, err)
					if !w.hasFailed() {
						t.Fatalf("%s was never done: %v", fail, w.seen)
					}
					if len(asked.Table) != 3 || asked.Number != 1 {
						t.Errorf("query %d is about %d records", asked.Number, len(asked.Table))
					}
					for _, fault := range b.queryFaults(before) {
						t.Error(fault)
					}
				})
			}
		}
	}
}

// A store that lost a query which the aggregator has must not draw its noise again; nor must one
// whose ledger lost the debit.
func TestQueryOfARolledBackStore(t *testing.T) {
	t.Parallel()
	b, _ := answered(t, curious())
	if _, err := b.ask(b.context(), "a", "new.csv"); err != nil {
		t.Fatal(err)
	}
	st := b.open("a")
	dir := string(st.Query(b.study.ID, 1))
	check(t, st.Close())
	check(t, os.RemoveAll(dir))
	if _, err := b.ask(b.context(), "a", "new.csv"); !errors.Is(err, party.ErrQueryLost) {
		t.Errorf("the query is gone from the store: %v", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("it was drawn again")
	}
}

// After a purge neither node has the sketch of a query. The statements and the answer stay, and fsck
// finds nothing wrong.
func TestPurgeOfQueries(t *testing.T) {
	t.Parallel()
	b, stop := answered(t, curious())
	if _, err := b.ask(b.context(), "a", "new.csv"); err != nil {
		t.Fatal(err)
	}
	stop()
	for name, role := range map[string]store.Role{"a": store.Party, "agg": store.Aggregator} {
		st := b.open(name)
		_, err := st.Purge(b.study.ID, now())
		check(t, err)
		if left, err := st.Purgeable(b.study.ID); err != nil || left {
			t.Errorf("%s: sketches are left: %t, %v", name, left, err)
		}
		check(t, st.Close())
		if wrong := damageFound(t, b.path(name), role); wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	st := b.open("agg")
	defer st.Close()
	raw := b.storedQuery()
	if raw != nil {
		t.Error("the party still has the query")
	}
	names, err := st.Results(b.study.ID)
	check(t, err)
	if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "answer-") }) {
		t.Errorf("the answer is gone: %v", names)
	}
}

// Queries that break the rules are refused with a reason, also for another party's answer. The one
// query of a number stays unchanged.
func TestForgedQueriesAreRefused(t *testing.T) {
	t.Parallel()
	b, _ := answered(t, curious())
	if _, err := b.ask(b.context(), "a", "new.csv"); err != nil {
		t.Fatal(err)
	}
	st := b.open("a")
	defer st.Close()
	raw, err := st.Query(b.study.ID, 1).Header()
	check(t, err)
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	good, err := protocol.DecodeQuery(b.study.ID, signer.ID(), raw)
	check(t, err)
	host, err := p2p.New(p2p.Config{Key: st.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer host.Close()
	call := func(name string, parts ...[]byte) error {
		_, err := host.Call(b.context(), b.study.Aggregator.ID, b.study.Aggregator.Addrs, name, slices.Concat(parts...))
		return err
	}
	rows := bytes.Repeat([]byte{100, 156}, 12) // 3 x 8 bytes
	of := func(change func(*protocol.Query)) protocol.Query {
		q := good
		q.Number, q.Rows, q.Width, q.Data = 2, 3, 1, document(rows)
		change(&q)
		return signer.SignQuery(q)
	}
	other := b.open("b")
	defer other.Close()
	stranger, err := protocol.NewSigner(other.Identity())
	check(t, err)
	for _, c := range []struct {
		name  string
		query protocol.Query
		rows  []byte
		code  p2p.Code
		want  string
	}{
		{"another query under one number", of(func(q *protocol.Query) { q.Number = 1 }), rows, p2p.CodeConflict, "another query under number 1"},
		{"a number beyond the last", of(func(q *protocol.Query) { q.Number = 4 }), rows, p2p.CodeRefused, "the study admits 3"},
		{"another agreement", of(func(q *protocol.Query) { q.T2[0] ^= 1 }), rows, p2p.CodeConflict, "T2 differs"},
		{"too many rows", of(func(q *protocol.Query) { q.Rows = 6 }), rows, p2p.CodeInvalid, "the study admits 5 rows of 8"},
		{"rows of another length", of(func(q *protocol.Query) { q.Cols = 4 }), rows, p2p.CodeInvalid, "the study admits 5 rows of 8"},
		{"a size that does not fit the shape", of(func(q *protocol.Query) { q.Width = 2 }), rows, p2p.CodeInvalid, "not those of the statement"},
		{"other rows", of(func(*protocol.Query) {}), bytes.Repeat([]byte{7}, 24), p2p.CodeInvalid, "not those of the statement"},
		{"rows cut off", of(func(*protocol.Query) {}), rows[:20], p2p.CodeInvalid, "not those of the statement"},
		{"rows wider than they need be", of(func(q *protocol.Query) { q.Width, q.Data = 2, document(make([]byte, 48)) }), make([]byte, 48), p2p.CodeInvalid, "suffice"},
		{"another's signature", stranger.SignQuery(of(func(*protocol.Query) {})), rows, p2p.CodeInvalid, "signature"},
	} {
		err := call("query", b.study.ID[:], c.query.Encode(), c.rows)
		var refusal *p2p.Refusal
		if !errors.As(err, &refusal) || refusal.Code != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want code %d and %q", c.name, err, c.code, c.want)
		}
	}
	for name, request := range map[string][]byte{"nothing": nil, "half a statement": append(b.study.ID[:len(b.study.ID):len(b.study.ID)], raw[:50]...)} {
		var refusal *p2p.Refusal
		if err := call("query", request); !errors.As(err, &refusal) || refusal.Code != p2p.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	// a's answers are only for a.
	agg := b.open("agg")
	defer agg.Close()
	self := signer.ID()
	statement, err := agg.Result(b.study.ID, fmt.Sprintf("answer-%x-1", self[:]))
	check(t, err)
	answer, err := protocol.DecodeAnswer(b.study.ID, b.study.Aggregator.ID, statement)
	check(t, err)
	if answer.Party != self || answer.Query != good.ID() {
		t.Errorf("the answer is to %s, of query %s", answer.Party, answer.Query)
	}
	theirs, err := p2p.New(p2p.Config{Key: other.Identity, Allow: func(protocol.PeerID) bool { return true }})
	check(t, err)
	defer theirs.Close()
	_, err = theirs.Call(b.context(), b.study.Aggregator.ID, b.study.Aggregator.Addrs, "document", documentRequest(b.study.ID, answer.Document.Hash))
	var refusal *p2p.Refusal
	if !errors.As(err, &refusal) || refusal.Code != p2p.CodeRefused {
		t.Errorf("another party asks for the answer: %v", err)
	}
	if found := search(t, b.path("agg"), map[string][]byte{"id": []byte("newcomer1")}); len(found) > 0 {
		t.Errorf("the aggregator's files have an asked record's id: %v", found)
	}
	if files, err := filepath.Glob(filepath.Join(b.path("b"), "results", b.study.ID.String(), "*query*")); len(files) > 0 {
		t.Errorf("party b has %v of a's query (%v)", files, err)
	}
}

func document(data []byte) protocol.Document {
	return protocol.Document{Hash: sha256.Sum256(data), Size: int64(len(data))}
}

func documentRequest(study protocol.StudyID, hash protocol.Digest) []byte {
	return wire.EncodeDocumentRequest(wire.DocumentRequest{Study: study, Hash: hash})
}
