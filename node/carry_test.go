package node_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/carry"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
)

// fixed is a party's deterministic source of entropy: the same bytes in the same order, however its
// messages are carried.
func fixed(party string) io.Reader {
	return rand.NewChaCha8(sha256.Sum256([]byte("entropy of " + party)))
}

// byHand opens a party for one command, as its owner would between two trips with the stick. Its
// entropy continues where the last command stopped.
func (b *bench) byHand(name string, entropy io.Reader, do func(*party.Party) error) error {
	b.t.Helper()
	st := b.open(name)
	defer st.Close()
	options := partyOptions(b.state(name, st), b.path(name+".yaml"), nil, b.logger())
	options.Now, options.Entropy = b.now, entropy
	p, err := party.New(options)
	check(b.t, err)
	defer p.Close()
	return do(p)
}

func (b *bench) deskOptions(st *store.Store) aggregator.Options {
	return aggregator.Options{Env: node.AggregatorEnv{Now: b.now, Log: b.logger()}, Store: b.state("agg", st)}
}

// take gives the aggregator a bundle.
func (b *bench) take(data []byte) (aggregator.Arrived, error) {
	st := b.open("agg")
	defer st.Close()
	in := bytes.NewReader(data)
	label, err := bundle.ReadLabel(in)
	if err != nil {
		return aggregator.Arrived{}, err
	}
	desk, err := aggregator.OpenOffline(b.context(), b.deskOptions(st), label.Study)
	if err != nil {
		return aggregator.Arrived{}, err
	}
	defer desk.Close()
	return desk.Import(b.context(), label, in)
}

// answer is the aggregator's bundle for a party.
func (b *bench) answer(name string) []byte {
	b.t.Helper()
	st := b.open("agg")
	defer st.Close()
	i, _ := b.study.PartyByName(name)
	var out bytes.Buffer
	check(b.t, aggregator.ExportBoard(b.deskOptions(st), b.study, b.study.Parties[i].ID, &out))
	return out.Bytes()
}

// carryAll carries bundles to and fro until every party has its result. It returns all bundles.
func (b *bench) carryAll() (bundles [][]byte) {
	b.t.Helper()
	entropy := map[string]io.Reader{}
	for _, name := range b.parties {
		entropy[name] = fixed(name)
	}
	for range 8 {
		for _, name := range b.parties {
			var out bytes.Buffer
			check(b.t, b.repeated(name, func() error {
				out.Reset()
				return b.byHand(name, entropy[name], func(p *party.Party) error {
					_, err := p.Export(b.context(), b.study.ID, &out)
					return err
				})
			}))
			check(b.t, b.repeated("agg", func() error {
				_, err := b.take(out.Bytes())
				return err
			}))
			bundles = append(bundles, out.Bytes())
		}
		done := 0
		for _, name := range b.parties {
			in := b.answer(name)
			bundles = append(bundles, in)
			check(b.t, b.repeated(name, func() error {
				return b.byHand(name, entropy[name], func(p *party.Party) error {
					c, err := p.Import(b.context(), bytes.NewReader(in))
					if c.Status.State == session.Done {
						done++
					}
					return err
				})
			}))
		}
		if done == len(b.parties) {
			return bundles
		}
	}
	b.t.Fatal("the study did not end in eight rounds of bundles")
	return nil
}

// released reads what a party released, and its result without what depends on the shares'
// randomness: the agreement's transcript, and the headers that contain it.
func (b *bench) released(name string) (sketch []byte, result string) {
	b.t.Helper()
	st := b.open(name)
	defer st.Close()
	f, err := st.OpenReleaseFile(b.study.ID, "sketch-0.bin")
	check(b.t, err)
	defer f.Close()
	sketch, err = io.ReadAll(f)
	check(b.t, err)
	_, raw, err := stored.Result(st, b.study.ID)
	check(b.t, err)
	return sketch, regexp.MustCompile(`"(t2|release)": "[0-9a-f]{64}"`).ReplaceAllString(string(raw), `"$1": ""`)
}

// A study carried by hand releases the same bytes and has the same result as over the network. No
// bundle shows a name, a value or a key.
func TestStudyByHand(t *testing.T) {
	t.Parallel()
	net := newBench(t, smallSketch, uniform(50))
	hand := *net
	hand.dir = t.TempDir()
	copyState(t, hand.dir, net.dir)

	stop := net.serve()
	net.entropy = fixed
	net.runAll(net.context(), net.parties...)
	stop()
	bundles := hand.carryAll()

	for _, name := range net.parties {
		wantSketch, wantResult := net.released(name)
		gotSketch, gotResult := hand.released(name)
		if !bytes.Equal(gotSketch, wantSketch) {
			t.Errorf("party %s released other bytes by hand", name)
		}
		if gotResult != wantResult || !strings.Contains(wantResult, `"full"`) {
			t.Errorf("party %s has another result by hand:\n%s\n%s", name, gotResult, wantResult)
		}
		sealed := false
		for _, data := range bundles {
			sealed = sealed || len(data) > len(wantSketch)
			if bytes.Contains(data, wantSketch[:64]) || bytes.Contains(data, []byte("correlation")) {
				t.Error("a bundle holds a plain sketch or result")
			}
		}
		if !sealed {
			t.Error("no bundle is as large as a sketch")
		}
	}
}

// copyState copies state directories, with the required modes.
func copyState(t *testing.T, to, from string) {
	t.Helper()
	check(t, os.CopyFS(to, os.DirFS(from)))
	check(t, filepath.WalkDir(to, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		} else if err == nil {
			return os.Chmod(path, 0o600)
		}
		return err
	}))
}

// Bundles carry ledger heads too: a party with a restored old ledger is told.
func TestRestoredLedgerByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	backup := filepath.Join(t.TempDir(), "a")
	copyState(t, backup, b.path("a"))
	b.carryAll()
	check(t, os.RemoveAll(b.path("a")))
	check(t, os.Rename(backup, b.path("a")))
	err := b.byHand("a", fixed("a"), func(p *party.Party) error {
		_, err := p.Import(b.context(), bytes.NewReader(b.answer("a")))
		return err
	})
	var rolledBack *node.LedgerRolledBackError
	if !errors.As(err, &rolledBack) || rolledBack.Signed != 1 || rolledBack.Held != 0 {
		t.Errorf("a restored ledger: %v", err)
	}
}

func TestBundleRefusals(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	export := func(name string) []byte {
		var out bytes.Buffer
		check(t, b.byHand(name, fixed(name), func(p *party.Party) error {
			_, err := p.Export(b.context(), b.study.ID, &out)
			return err
		}))
		return out.Bytes()
	}
	whole := export("a")
	refused := func(what string, data []byte, want string) {
		t.Helper()
		if _, err := b.take(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	refused("a text", []byte("cosketch?"), "not a bundle")
	refused("cut in the key", whole[:500], "cut off")
	refused("cut before the end", whole[:len(whole)-10], "cut off")
	turned := bytes.Clone(whole)
	turned[len(turned)-100] ^= 1
	refused("a bit turned", turned, "damaged")
	refused("one more byte", append(bytes.Clone(whole), 0), "bytes after its end")
	relabelled := bytes.Clone(whole)
	other, _ := b.study.PartyByName("b")
	copy(relabelled[len("cosketch bundle/1\n")+32:], b.study.Parties[other].ID[:])
	refused("in another party's name", relabelled, "damaged")

	st := b.open("agg")
	defer st.Close()
	err := aggregator.ExportBoard(b.deskOptions(st), b.study, b.study.Parties[other].ID, io.Discard)
	if !errors.Is(err, aggregator.ErrNoMailbox) {
		t.Errorf("a party that sent nothing: %v", err)
	}
}

// A mailbox to which nothing can be sealed is refused on arrival, however it comes. One that is
// already stored costs only its owner the answer.
func TestUnusableMailboxes(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("a")
	signer, err := protocol.NewSigner(st.Identity())
	check(t, err)
	check(t, st.Close())
	sealed := func(mailbox []byte) []byte {
		var out bytes.Buffer
		w, err := bundle.Create(&out, bundle.Label{Study: b.study.ID, From: signer.ID(), To: b.study.Aggregator.ID}, b.study.Aggregator.HPKE)
		check(t, err)
		check(t, w.Add("mailbox", mailbox))
		check(t, w.Close())
		return out.Bytes()
	}
	forged := signer.SignMailbox(b.study.ID, b.study.Aggregator.HPKE)
	forged.Signature = make([]byte, 64)
	unusable := signer.SignMailbox(b.study.ID, bytes.Repeat([]byte{0xff}, 1216)).Encode()
	for name, mailbox := range map[string][]byte{"of an invalid key": unusable, "of another's signature": forged.Encode()} {
		_, err := b.take(sealed(mailbox))
		if !errors.As(err, new(*protocol.MailboxError)) || fail.Find(err).Exit != fail.Usage {
			t.Errorf("a mailbox %s: %v", name, err)
		}
	}
	agg := b.open("agg")
	defer agg.Close()
	i, _ := b.study.PartyByName("a")
	if err := aggregator.ExportBoard(b.deskOptions(agg), b.study, b.study.Parties[i].ID, io.Discard); !errors.Is(err, aggregator.ErrNoMailbox) {
		t.Errorf("a refused mailbox was stored: %v", err)
	}
	id := signer.ID()
	check(t, agg.PutResult(b.study.ID, fmt.Sprintf("mailbox-%x", id[:]), unusable))
	if err := aggregator.ExportBoard(b.deskOptions(agg), b.study, id, io.Discard); !errors.As(err, new(*protocol.MailboxError)) {
		t.Errorf("an unusable mailbox that is stored: %v", err)
	}
}

// A bundle of too many pieces is refused and leaves nothing behind.
func TestBundleOfTooManyPieces(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("a")
	key, err := carry.MailboxKey(st.Identity(), b.study.ID)
	check(t, err)
	id := peerID(t, st)
	check(t, st.Close())
	var out bytes.Buffer
	w, err := bundle.Create(&out, bundle.Label{Study: b.study.ID, From: b.study.Aggregator.ID, To: id}, key.PublicKey().Bytes())
	check(t, err)
	for i := range 1<<18 + 1 {
		check(t, w.Add("document", binary.BigEndian.AppendUint64(make([]byte, 24), uint64(i))))
	}
	check(t, w.Close())
	err = b.byHand("a", fixed("a"), func(p *party.Party) error {
		_, err := p.Import(b.context(), &out)
		return err
	})
	if !errors.Is(err, bundle.ErrTooMuch) || fail.Find(err).Exit != fail.Usage {
		t.Errorf("ended with %v", err)
	}
	if left, err := filepath.Glob(b.path("a/*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind are %q, %v", left, err)
	}
}

// A party on the network and parties with sticks take part in one study. The serving aggregator
// imports their bundles from its inbox.
func TestBundlesBesideTheNetwork(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- b.run(b.context(), "a", nil) }()
	entropy := map[string]io.Reader{"b": fixed("b"), "c": fixed("c")}
	st, err := store.Open(b.path("agg"), store.Aggregator, store.Options{ReadOnly: true})
	check(t, err)
	defer st.Close()
	for round := 0; ; round++ {
		if round == 100 {
			t.Fatal("the study did not end")
		}
		done := 0
		for name, e := range entropy {
			check(t, b.byHand(name, e, func(p *party.Party) error {
				var out bytes.Buffer
				if _, err := p.Export(b.context(), b.study.ID, &out); err != nil {
					return err
				}
				if err := aggregator.HandOver(b.context(), st, &out); err != nil {
					return err
				}
				c, err := p.Import(b.context(), bytes.NewReader(b.answerBeside(st, name)))
				if c.Status.State == session.Done {
					done++
				}
				return err
			}))
		}
		if done == len(entropy) {
			break
		}
	}
	check(t, <-ended)
	if err := aggregator.HandOver(b.context(), st, strings.NewReader("no bundle")); err == nil || !strings.Contains(err.Error(), "not a bundle") {
		t.Errorf("a text in the inbox: %v", err)
	}
}

// answerBeside exports while the aggregator serves.
func (b *bench) answerBeside(st *store.Store, name string) []byte {
	i, _ := b.study.PartyByName(name)
	var out bytes.Buffer
	check(b.t, aggregator.ExportBoard(b.deskOptions(st), b.study, b.study.Parties[i].ID, &out))
	return out.Bytes()
}
