package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/invitation"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// outsider is a node that no study lists.
func (b *bench) outsider(name string) *hostile {
	b.t.Helper()
	check(b.t, store.Create(b.path(name), store.Party, rand.Reader))
	return b.hostile(name)
}

// introduction is a node's description of itself.
func (h *hostile) introduction(name string) []byte {
	return []byte(config.ColumnList{Name: name, ID: h.signer.ID(), Records: []string{"id"}, Columns: []file.DraftColumn{{Name: "x", Kind: study.Numeric}}}.Text())
}

// introduce makes the call for guests and returns the refusal's code, or 0.
func (h *hostile) introduce(ctx context.Context, t invitation.Ticket, text []byte) (code p2p.Code, err error) {
	id, secret := t.Reveal()
	_, err = h.call(ctx, calls.Introduce, wire.EncodeIntroduce(wire.Introduce{Invitation: id, Secret: secret, Introduction: text}))
	var refusal *p2p.Refusal
	if errors.As(err, &refusal) {
		return refusal.Code, nil
	}
	return 0, err
}

// invites makes an invitation like a command that runs while the node serves.
func (b *bench) invites(st *store.Store, name string, lasts protocol.Instant) (invitation.Invitation, invitation.Ticket) {
	b.t.Helper()
	i, ticket, err := invitation.New(name, b.now(), b.now()+lasts)
	check(b.t, err)
	check(b.t, st.PutInvitation(i.ID, i.Encode()))
	return i, ticket
}

// admitted waits until the serving node admits the invited, or no longer does.
func (h *hostile) admitted(ctx context.Context, want bool) {
	h.t.Helper()
	h.until(func() bool {
		_, err := h.call(ctx, calls.Studies, nil)
		var refusal *p2p.Refusal
		return errors.As(err, &refusal) == want
	})
}

// ticketOf is a ticket with an invitation's id and a guessed secret.
func ticketOf(t *testing.T, id string) invitation.Ticket {
	t.Helper()
	_, ticket, err := invitation.Split("/ip4/192.0.2.1/tcp/1/p2p/x/invitation/" + id + "_" + strings.Repeat("A", 22))
	check(t, err)
	return ticket
}

// What a guest may do, in the order of the checks. Nobody is admitted without an open invitation.
// Nothing is read before the secret is shown. An invitation brings one introduction, of the node
// that sends it.
func TestInvitations(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	operator := b.open("agg")
	defer operator.Close()
	north, thief, ctx := b.outsider("north"), b.outsider("thief"), b.context()
	wants := func(what string, want p2p.Code, got p2p.Code, err error) {
		t.Helper()
		if err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", what, got, err, want)
		}
	}

	if _, err := north.introduce(ctx, ticketOf(t, "00000000"), north.introduction("north")); !errors.Is(err, p2p.ErrRefusedPeer) {
		t.Errorf("before anybody is invited: %v", err)
	}
	made, ticket := b.invites(operator, "north", 3600)
	north.admitted(ctx, true)

	for _, name := range []string{calls.Post, calls.Read, calls.Chunk, calls.Progress, calls.Document, calls.Hello, calls.Ledger, calls.Further, calls.Query, calls.Studies} {
		_, err := thief.call(ctx, name, nil)
		var refusal *p2p.Refusal
		if !errors.As(err, &refusal) || refusal.Code != p2p.CodeUnknownStudy {
			t.Errorf("a guest calls %s: %v", name, err)
		}
	}
	code, err := thief.introduce(ctx, ticketOf(t, made.ID), thief.introduction("north"))
	wants("a wrong secret", p2p.CodeRefused, code, err)
	code, err = thief.introduce(ctx, ticketOf(t, "0123abcd"), []byte("}{"))
	wants("an id that is not there", p2p.CodeRefused, code, err)
	code, err = thief.introduce(ctx, ticketOf(t, made.ID), []byte("}{"))
	wants("a wrong secret before what is no introduction", p2p.CodeRefused, code, err)
	code, err = north.introduce(ctx, ticket, []byte("}{"))
	wants("no introduction", p2p.CodeInvalid, code, err)
	code, err = north.introduce(ctx, ticket, thief.introduction("north"))
	wants("an introduction of somebody else", p2p.CodeInvalid, code, err)
	for what, request := range map[string][]byte{"junk": []byte("junk"), "nothing": nil} {
		_, err = north.call(ctx, calls.Introduce, request)
		var refusal *p2p.Refusal
		if !errors.As(err, &refusal) || refusal.Code != p2p.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}

	for range 2 { // the answer to the first may have been lost
		code, err = north.introduce(ctx, ticket, north.introduction("north"))
		wants("the introduction", 0, code, err)
	}
	code, err = north.introduce(ctx, ticket, north.introduction("north again"))
	wants("another one", p2p.CodeConflict, code, err)
	if _, err = thief.introduce(ctx, ticket, thief.introduction("north")); err == nil || strings.Contains(err.Error(), "refusal") {
		t.Errorf("with no invitation open: %v", err)
	}
	_, other := b.invites(operator, "south", 3600)
	thief.admitted(ctx, true)
	code, err = thief.introduce(ctx, ticket, north.introduction("north")) // with an overheard ticket
	wants("a replay by another peer", p2p.CodeConflict, code, err)
	code, err = thief.introduce(ctx, ticket, thief.introduction("north"))
	wants("an invitation that is spent", p2p.CodeConflict, code, err)
	kept, err := invitation.Read(operator, made.ID)
	check(t, err)
	if kept.Came == nil || kept.Came.From != north.signer.ID() || !bytes.Equal(kept.Came.Text, north.introduction("north")) {
		t.Errorf("kept: %+v", kept.Came)
	}

	b.skew.Add(3600)
	if code, err = north.introduce(ctx, other, north.introduction("north")); err != nil || code != p2p.CodeRefused {
		t.Errorf("when it is over: %s, %v", code, err)
	}
	code, err = north.introduce(ctx, ticket, north.introduction("north"))
	wants("the introduction, again, when it is over", 0, code, err)
	thief.admitted(ctx, false)
	check(t, operator.RemoveInvitation(made.ID))
	if code, err = north.introduce(ctx, ticket, north.introduction("north")); err == nil && code != p2p.CodeRefused {
		t.Errorf("when it was revoked: %s, %v", code, err)
	}
	north.admitted(ctx, false)

	stop()
	for _, ticket := range []invitation.Ticket{ticket, other} {
		_, secret := ticket.Reveal()
		if bytes.Contains(b.logs.Bytes(), []byte(base64.RawURLEncoding.EncodeToString(secret[:]))) {
			t.Error("the log has the secret of an invitation")
		}
	}
}

// A crowd of strangers repeats the largest call. It costs the node little memory, keeps no party
// out, and leaves few lines in the log.
func TestStrangersAreNoFlood(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	uptime := time.Now()
	b.uptime = func() time.Duration { return time.Since(uptime) } // so that the log's minutes pass
	stop := b.serve()
	defer stop()
	operator := b.open("agg")
	defer operator.Close()
	made, ticket := b.invites(operator, "north", 3600)
	north, ctx := b.outsider("north"), b.context()
	north.admitted(ctx, true)
	var crowd []*hostile
	for i := range 24 {
		crowd = append(crowd, b.outsider("stranger"+string(rune('a'+i))))
	}
	const rounds = 5
	cost := took(func() {
		var all sync.WaitGroup
		for _, stranger := range crowd {
			all.Go(func() {
				for range rounds {
					code, err := stranger.introduce(ctx, ticketOf(t, made.ID), make([]byte, wire.MaxIntroduction))
					if err == nil && code != p2p.CodeRefused {
						t.Errorf("a stranger is told %s", code)
					}
				}
			})
		}
		all.Go(func() {
			party := b.hostile("c")
			for range rounds {
				if _, err := party.call(ctx, calls.Studies, nil); err != nil {
					t.Errorf("a party meanwhile: %v", err)
				}
			}
		})
		all.Wait()
	})
	calls := uint64(rounds * len(crowd))
	if limit := calls * (8*wire.MaxIntroduce + 1<<20); cost > limit { // for both sides, which share this process
		t.Errorf("%d calls: %d bytes of memory, at most %d", calls, cost, limit)
	}
	b.until(func() bool {
		code, err := north.introduce(ctx, ticket, north.introduction("north"))
		return err == nil && code == 0
	})
	stop()
	if n := b.logged("refused an introduction"); n > len(crowd) {
		t.Errorf("the log has %d lines of %d strangers", n, len(crowd))
	}
}

// fsck accounts for what was made, received and revoked. A backup has none of it, so that no
// invitation is open again.
func TestInvitationsAreAccountedFor(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	defer st.Close()
	made, _ := b.invites(st, "north", 3600)
	gone, _ := b.invites(st, "south", 3600)
	check(t, st.PutIntroduction(made.ID, invitation.Introduction{From: peerID(t, st), Text: []byte("text")}.Encode()))
	check(t, st.RemoveInvitation(gone.ID))
	wants := func(st *store.Store, of string, verdict local.Verdict, said string) {
		t.Helper()
		findings, err := local.Fsck(b.context(), local.FsckOptions{Store: st, Role: store.Aggregator})
		check(t, err)
		i := slices.IndexFunc(findings, func(f local.Finding) bool { return f.Check == of })
		if said == "" && i < 0 {
			return
		}
		if i < 0 || findings[i].Verdict != verdict || !strings.Contains(findings[i].Said, said) {
			t.Errorf("%s: want %s %q among %+v", of, verdict, said, findings)
		}
	}
	wants(st, "invitations", local.Pass, "1, as they were made")
	wants(st, "introductions", local.Pass, "1, as they were made")

	var backup bytes.Buffer
	_, err := st.Backup(&backup)
	check(t, err)
	_, err = store.Restore(b.path("restored"), store.Aggregator, bytes.NewReader(backup.Bytes()))
	check(t, err)
	restored, err := store.Open(b.path("restored"), store.Aggregator, store.Options{})
	check(t, err)
	defer restored.Close()
	if ids, err := restored.Invitations(); err != nil || len(ids) > 0 {
		t.Errorf("a backup brings back %v, %v", ids, err)
	}
	wants(restored, "invitations", local.Pass, "")

	record, introduction := b.path("agg/invitations/"+made.ID+"/record"), b.path("agg/invitations/"+made.ID+"/introduction")
	was, err := os.ReadFile(introduction)
	check(t, err)
	check(t, os.WriteFile(introduction, append(was, ' '), 0o600))
	wants(st, "introductions", local.Fail, made.ID+" is not the one that the journal says was made")
	check(t, os.Remove(introduction))
	wants(st, "introductions", local.Fail, made.ID+" is gone, and was not revoked")
	check(t, os.Remove(record))
	wants(st, "invitations", local.Fail, made.ID)
	check(t, st.RemoveInvitation(made.ID))
	wants(st, "invitations", local.Pass, "")
	wants(st, "introductions", local.Pass, "")
}
