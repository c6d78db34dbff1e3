package node_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// lie is how party c misbehaves: it signs something else instead of a message of a kind.
type lie struct {
	name   string
	kind   protocol.Kind
	change func(payload []byte) []byte
}

var lies = []lie{
	{"a wrong confirmation", protocol.KindConfirm, func(b []byte) []byte {
		c, err := wire.DecodeConfirm(b)
		mustNot(err)
		c.Tag[0] ^= 1
		return wire.EncodeConfirm(c)
	}},
	{"bad shares", protocol.KindShare, func(b []byte) []byte {
		s, err := wire.DecodeShare(b)
		mustNot(err)
		for i := range s.Sealed {
			s.Sealed[i][agree.SealedSize-1] ^= 1
		}
		return wire.EncodeShare(s)
	}},
	{"one bad share", protocol.KindShare, func(b []byte) []byte {
		s, err := wire.DecodeShare(b)
		mustNot(err)
		s.Sealed[0][agree.SealedSize-1] ^= 1
		return wire.EncodeShare(s)
	}},
	{"another transcript", protocol.KindShare, func(b []byte) []byte {
		s, err := wire.DecodeShare(b)
		mustNot(err)
		s.T1[0] ^= 1
		return wire.EncodeShare(s)
	}},
	{"a commit of junk", protocol.KindCommit, junk},
	{"a share of junk", protocol.KindShare, junk},
	{"a confirmation of junk", protocol.KindConfirm, junk},
}

func junk([]byte) []byte { return []byte("junk") }

func mustNot(err error) {
	if err != nil {
		panic(err)
	}
}

// perjurer is a store that keeps the lie as signed.
type perjurer struct {
	node.PartyState
	lie lie
}

func (l perjurer) Own(id protocol.StudyID) ([]store.SignedEnvelope, error) {
	own, err := l.PartyState.Own(id)
	for i, o := range own {
		if o.Kind != l.lie.kind {
			continue
		}
		e, err := wire.DecodeEnvelope(o.Raw)
		mustNot(err)
		signer, err := protocol.NewSigner(l.Identity())
		mustNot(err)
		own[i].Raw = wire.EncodeEnvelope(protocoltest.Sealed(signer.Seal(id, e.Kind, e.Attempt, l.lie.change(e.Payload))).Envelope())
	}
	return own, err
}

// handParty opens a party for one command; wrap may change its store.
func (b *bench) handParty(name string, entropy io.Reader, wrap func(node.PartyState) node.PartyState, do func(*party.Party) error) error {
	st := b.open(name)
	defer st.Close()
	options := partyOptions(wrap(b.state(name, st)), b.path(name+".yaml"), nil, b.logger())
	options.Now, options.Entropy = b.now, entropy
	p, err := party.New(options)
	check(b.t, err)
	defer p.Close()
	return do(p)
}

// walks carries bundles to and fro, in the order of the names; wrap changes c's store. It ends when
// a and b have their result. Whatever c does and whatever happens to its bundles, theirs are
// imported.
func (b *bench) walks(order []string, wrap func(node.PartyState) node.PartyState, each func(round int)) {
	b.t.Helper()
	entropy, done := map[string]io.Reader{}, map[string]bool{}
	for _, name := range b.parties {
		entropy[name] = fixed(name)
	}
	honest := func(st node.PartyState) node.PartyState { return st }
	for round := range 12 {
		each(round)
		exported := map[string]*bytes.Buffer{}
		for _, name := range order {
			mine := honest
			if name == "c" {
				mine = wrap
			}
			var out bytes.Buffer
			err := b.handParty(name, entropy[name], mine, func(p *party.Party) error {
				_, err := p.Export(b.context(), b.study.ID, &out)
				return err
			})
			if name != "c" {
				check(b.t, err)
			}
			exported[name] = &out
		}
		for _, name := range order {
			if _, err := b.take(exported[name].Bytes()); name != "c" && err != nil {
				b.t.Fatalf("round %d: the bundle of %s is refused: %v", round, name, err)
			}
		}
		for _, name := range order {
			mine := honest
			if name == "c" {
				mine = wrap
			}
			if name == "c" && exported[name].Len() == 0 {
				continue
			}
			err := b.handParty(name, entropy[name], mine, func(p *party.Party) error {
				c, err := p.Import(b.context(), bytes.NewReader(b.answer(name)))
				done[name] = c.Status.State == session.Done
				return err
			})
			if name != "c" {
				check(b.t, err)
			}
		}
		if done["a"] && done["b"] {
			return
		}
	}
	b.t.Fatal("the honest parties have no result after twelve rounds of bundles")
}

// In a study carried by hand, a misbehaving party loses only its own place, in whatever order
// bundles arrive. Those of the others are imported, and they get a result.
func TestBadPartiesByHand(t *testing.T) {
	t.Parallel()
	for _, l := range lies {
		orders := [][]string{{"c", "b", "a"}, {"a", "b", "c"}}
		for _, order := range orders[:full.Or(1, len(orders))] {
			t.Run(l.name+" "+strings.Join(order, ""), func(t *testing.T) {
				b := newBench(t, smallSketch, uniform(50))
				b.walks(order, func(st node.PartyState) node.PartyState { return perjurer{st, l} }, func(int) {})
				b.inResult("a", 2, "c")
				b.inResult("b", 2, "c")
			})
		}
	}
}

// A party that withdraws before it has seen the roster takes nobody's turn: what the others sent
// meanwhile is passed over, and they go on.
func TestWithdrawalByHand(t *testing.T) {
	t.Parallel()
	for _, order := range [][]string{{"c", "a", "b"}, {"a", "c", "b"}, {"a", "b", "c"}} {
		t.Run(strings.Join(order, ""), func(t *testing.T) {
			b := newBench(t, smallSketch, uniform(50))
			// c's withdrawal is in its mail before it has imported the roster.
			b.walks(order, unread, func(round int) {
				if round == 1 {
					st := b.open("c")
					check(t, st.PutDecision(b.study.ID, store.Withdraw, now()))
					check(t, st.Close())
				}
			})
			b.inResult("a", 2, "c")
		})
	}
}

// unread is a store whose board is always empty: its party imports nothing.
func unread(st node.PartyState) node.PartyState { return noBoard{st} }

type noBoard struct{ node.PartyState }

var errUnread = errors.New("the answer was not read")

func (noBoard) AppendBoard(protocol.StudyID, uint64, [][]byte, []byte) error { return errUnread }

// A party that is silent after its share is named missing at the attempt's end; the others go on
// without it.
func TestSilentPartyByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	b.walks(b.parties, func(st node.PartyState) node.PartyState { return silent{st} }, func(round int) {
		if round == 5 {
			b.skew.Store(5000) // past the end of the first attempt, before the second's
		}
	})
	b.inResult("a", 2, "c")
}

// silent is a store that cannot sign a confirmation.
type silent struct{ node.PartyState }

func (s silent) PutSigned(id protocol.StudyID, kind protocol.Kind, attempt uint32, raw []byte) error {
	if kind == protocol.KindConfirm {
		return errors.New("silent")
	}
	return s.PartyState.PutSigned(id, kind, attempt, raw)
}

// Over the network both of the others find every lie at the same moment. The second complaint has
// lost its turn, which costs its sender nothing.
func TestBadPartiesOverTheNetwork(t *testing.T) {
	t.Parallel()
	for _, l := range lies {
		t.Run(l.name, func(t *testing.T) {
			b := newBench(t, smallSketch, uniform(50))
			stop := b.serve()
			defer stop()
			ctx, end := context.WithCancel(b.context())
			defer end()
			gone := b.fallSilent(ctx, "c", l.kind)
			bad := make(chan error, 1)
			go func() {
				<-gone
				st := b.open("c")
				defer st.Close()
				p, err := party.New(partyOptions(perjurer{b.state("c", st), l}, b.path("c.yaml"), nil, b.logger()))
				mustNot(err)
				defer p.Close()
				bad <- p.Run(ctx, b.study.ID)
			}()
			b.runAll(b.context(), "a", "b")
			b.inResult("a", 2, "c")
			b.inResult("b", 2, "c")
			end()
			if err := <-bad; err == nil {
				t.Error("the bad party has a result")
			}
		})
	}
}
