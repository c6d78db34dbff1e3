package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed/agree"
)

// Every confirmation and every release contains what the study publishes, and these match. The
// aggregator and parties refuse those that do not.
func TestPublicRowKeys(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Public: true}), Seed: 3})
	if n := len(f.study.Published()); n != 2 {
		t.Fatalf("the study publishes %d keys", n)
	}
	for _, c := range []struct {
		name string
		e    protocol.Verified
		want string
	}{
		{"no hash", f.confirm(func(c *protocol.Confirm) { c.Published = nil }), "0 hashes of public row keys, the study publishes 2"},
		{"one hash", f.confirm(func(c *protocol.Confirm) { c.Published = c.Published[:1] }), "1 hashes of public row keys"},
		{"no key", f.release(func(r *protocol.Release) { r.Published = nil }), "0 public row keys, the study publishes 2"},
		{"another key", f.release(func(r *protocol.Release) { r.Published[0][7] ^= 1 }), "the public key of column rows is not the one that all have confirmed"},
		{"another second key", f.release(func(r *protocol.Release) { r.Published[1][7] ^= 1 }), "the public key of hadamard permutation is not"},
		{"keys in disorder", f.release(func(r *protocol.Release) { r.Published[0], r.Published[1] = r.Published[1], r.Published[0] }), "is not the one that all have confirmed"},
	} {
		b := f.before(c.e.Kind())
		if err := f.atAggregator(b, c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// Cells sketches publish row keys under masked sums, too.
	masked := newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Masked: true}), Seed: 3})
	for _, c := range []struct {
		e    protocol.Verified
		want string
	}{
		{masked.confirm(func(c *protocol.Confirm) { c.Published = nil }), "0 hashes of public row keys, the study publishes 2"},
		{masked.release(func(r *protocol.Release) { r.Published = nil }), "0 public row keys, the study publishes 2"},
		{masked.release(func(r *protocol.Release) { r.Published[0][7] ^= 1 }), "the public key of cell rows is not the one that all have confirmed"},
		{masked.release(func(r *protocol.Release) { r.Published[1][7] ^= 1 }), "the public key of cell permutation is not"},
	} {
		if err := masked.atAggregator(masked.before(c.e.Kind()), c.e); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("cells: %v, want %q", err, c.want)
		}
	}
	secret := newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{}), Seed: 3})
	for _, e := range []protocol.Verified{
		secret.confirm(func(c *protocol.Confirm) { c.Published = make([][32]byte, 1) }),
		secret.release(func(r *protocol.Release) { r.Published = make([][32]byte, 1) }),
	} {
		if err := secret.atAggregator(secret.before(e.Kind()), e); err == nil || !strings.Contains(err.Error(), "the study publishes 0") {
			t.Errorf("a %s of a study with a secret matrix: %v", e.Kind(), err)
		}
	}
}

// If members have confirmed different keys and nobody complains, no release is accepted. The
// aggregator has no seed and cannot tell whose key is right.
func TestConfirmationsOfDifferentKeys(t *testing.T) {
	f := newFixture(t, protocoltest.Options{Study: newStudy(t, protocoltest.Terms{Public: true}), Seed: 3})
	b := f.before(protocol.KindRelease)
	last := len(b.Envelopes) - 1
	lie := b.Envelopes[last]
	if lie.Kind() != protocol.KindConfirm {
		t.Fatalf("the last message before releases is %s", lie.Kind())
	}
	c, err := wire.DecodeConfirm(lie.Payload())
	check(t, err)
	c.Published[0][0] ^= 1
	var liar protocol.Signer
	for i := range f.parties {
		if f.party(i).ID() == lie.Sender() {
			liar = f.party(i)
		}
	}
	a, err := session.NewAggregator(session.AggregatorConfig{Study: f.study, Signer: f.board.Keeper})
	check(t, err)
	check(t, a.Restore(append(b.Envelopes[:last:last], f.sign(liar, protocol.KindConfirm, wire.EncodeConfirm(c)))))
	_, err = a.Step(session.Post{Envelope: f.posted(0, protocol.KindRelease)})
	var fault *protocol.Fault
	if !errors.Is(err, agree.ErrPublished) || !errors.As(err, &fault) {
		t.Errorf("a release where confirmations differ: %v", err)
	}
}
