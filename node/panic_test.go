package node_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cosketch/cosketch/kernel/parallel"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// mistaken is a node's state that panics in one study while told to.
type mistaken struct {
	*store.Store
	at   protocol.StudyID
	told *atomic.Bool
}

const inThePanic = "a value of somebody's record"

func (m mistaken) AppendBoard(id protocol.StudyID, from uint64, raws [][]byte, head []byte) error {
	if id == m.at && m.told.Load() {
		panic(inThePanic)
	}
	return m.Store.AppendBoard(id, from, raws, head)
}

// Study panics on a worker's goroutine.
func (m mistaken) Study(id protocol.StudyID) ([]byte, error) {
	if id == m.at && m.told.Load() {
		parallel.Share(2, 2, func(int, int) { panic(inThePanic) })
	}
	return m.Store.Study(id)
}

// A panic in one study does not affect the node and its other studies. The study is out of service,
// is retried, and continues once the defect is gone. The log has the stack but not the panic's
// message.
func TestAPanicAtOneStudy(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	other, err := file.Parse([]byte(strings.Replace(string(b.study.Source), "nonce: 00", "nonce: ff", 1)))
	check(t, err)
	st := b.open("agg")
	check(t, st.PutStudy(other.ID, other.Source, now()))
	check(t, st.Close())
	var told atomic.Bool
	b.tune = func(o *aggregator.Options) { o.Store = mistaken{o.Store.(*store.Store), b.study.ID, &told} }
	stop := b.serve()
	defer stop()
	b.until(func() bool { return b.logged("hosting study") == 2 })
	told.Store(true)
	ctx := b.context()
	var all sync.WaitGroup
	for _, name := range b.parties {
		all.Go(func() {
			if err := b.run(ctx, name, nil); err != nil {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	status := func(id protocol.StudyID) stored.Snapshot {
		st, err := store.Open(b.path("agg"), store.Aggregator, store.Options{ReadOnly: true})
		check(t, err)
		defer st.Close()
		raw, err := st.Status(id)
		check(t, err)
		s, err := stored.DecodeSnapshot(raw)
		check(t, err)
		return s
	}
	b.until(func() bool { return b.logged("study is not served") == 1 && b.logged("internal error") >= 2 })
	b.until(func() bool {
		return strings.HasPrefix(status(b.study.ID).Trouble, "internal error: a panic of type string (this is a bug")
	})
	if s := status(other.ID); s.State != string(session.Open) || s.Trouble != "" {
		t.Errorf("the other study: %+v", s)
	}
	b.skew.Add(600)
	told.Store(false)
	all.Wait()
	if b.logged("study is served again") == 0 {
		t.Error("the log does not say that the study is served again")
	}
	b.saysWhere(t, "AppendBoard")
}

// A panic at a party ends its run with an error, not the process.
func TestAPanicAtAParty(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	var told atomic.Bool
	told.Store(true)
	mistakes := func(name string) error {
		st := b.open(name)
		defer st.Close()
		p, err := party.New(partyOptions(mistaken{st, b.study.ID, &told}, b.path(name+".yaml"), nil, b.logger()))
		check(t, err)
		defer p.Close()
		return p.Run(b.context(), b.study.ID)
	}
	if err := mistakes("a"); err == nil || !strings.Contains(err.Error(), "internal error: a panic of type string") {
		t.Errorf("party a: %v", err)
	}
	b.saysWhere(t, "Study")
	b.runAll(b.context(), b.parties...)
}

// saysWhere checks the log's lines about internal errors.
func (b *bench) saysWhere(t *testing.T, function string) {
	t.Helper()
	if bytes.Contains(b.logs.Bytes(), []byte(inThePanic)) {
		t.Error("the log has what the panic said")
	}
	for line := range bytes.Lines(b.logs.Bytes()) {
		var said struct{ Level, Msg, Study, Stack string }
		if json.Unmarshal(line, &said) != nil || said.Msg != "internal error" {
			continue
		}
		if said.Level != "ERROR" || said.Study != b.study.ID.Short() || !strings.Contains(said.Stack, "mistaken") {
			t.Errorf("the log says %+v", said)
		}
		if strings.Contains(said.Stack, function) {
			return
		}
	}
	t.Errorf("no stack in the log has %s", function)
}
