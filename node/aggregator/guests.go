package aggregator

import (
	"context"
	"encoding/hex"
	"errors"
	"sync"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/invitation"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/wire"
)

// guests are nodes that no study lists but that hold an invitation.
type guests struct {
	*shared
	taking sync.Mutex // held while an introduction is read and kept, one at a time

	mu    sync.Mutex
	known map[string]invitation.Kept // invitations by id, without what they brought; guarded by mu
}

func newGuests(s *shared) *guests { return &guests{shared: s, known: map[string]invitation.Kept{}} }

// look reads invitations that are new and forgets those that were revoked.
func (g *guests) look() error {
	ids, err := g.Store.Invitations()
	if err != nil {
		return err
	}
	g.mu.Lock()
	before := g.known
	g.mu.Unlock()
	now := make(map[string]invitation.Kept, len(ids))
	var unread error
	for _, id := range ids {
		one, known := before[id]
		if !known {
			var err error
			if one, err = invitation.Read(g.Store, id); errors.Is(err, store.ErrNotFound) {
				continue // it is just being made, or was just revoked
			} else if err != nil {
				unread = errors.Join(unread, err)
				continue
			}
			one.Forget()
		}
		now[id] = one
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, one := range g.known { // used meanwhile
		if _, there := now[id]; there && one.Came != nil {
			now[id] = one
		}
	}
	g.known = now
	return unread
}

// invited admits everybody as a guest while an invitation is open; whether they hold it is checked
// later. The user of an invitation may repeat the call.
func (g *guests) invited(id protocol.PeerID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.Now()
	for _, one := range g.known {
		if one.Open(now) || one.Came != nil && one.Came.From == id {
			return true
		}
	}
	return false
}

// introduce keeps one introduction for each invitation. It reads nothing of it before the caller
// has shown the invitation's secret.
func (a *server) introduce(_ context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	q, err := wire.DecodeIntroduce(request)
	if err != nil {
		return nil, p2p.Refuse(p2p.CodeInvalid, "%v", err)
	}
	id := hex.EncodeToString(q.Invitation[:])
	if err = a.guests.hold(id, q.Secret); err == nil {
		err = a.guests.take(id, invitation.Introduction{From: from, At: a.Now(), Text: q.Introduction})
	}
	var refusal *p2p.Refusal
	if errors.As(err, &refusal) {
		a.refusals.Warn(from.String(), "refused an introduction", "invitation", id, "error", refusal.Message)
	}
	return nil, err
}

// errRevoked is returned if the invitation was revoked during the call.
var errRevoked = p2p.Refuse(p2p.CodeRefused, "the invitation was revoked")

// hold refuses a caller that does not hold the invitation. It does not reveal whether one with this
// id exists.
func (g *guests) hold(id string, secret [16]byte) error {
	var one invitation.Invitation // whose secret nobody knows
	raw, err := g.Store.Invitation(id)
	if err == nil {
		one, err = invitation.Decode(raw)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if !one.Knows(secret) {
		return p2p.Refuse(p2p.CodeRefused, "there is no such invitation: it was revoked, or its address is not whole")
	}
	return nil
}

// take keeps an introduction, unless its invitation was used before or has expired. It succeeds if
// the same introduction was kept before.
func (g *guests) take(id string, came invitation.Introduction) error {
	g.taking.Lock()
	defer g.taking.Unlock()
	of, err := invitation.Read(g.Store, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return errRevoked
	case err != nil:
		return err
	case of.Came != nil && of.Came.Same(came):
		return nil
	case of.Came != nil:
		return p2p.Refuse(p2p.CodeConflict, "the invitation is spent: it has brought another introduction")
	case !of.Open(g.Now()):
		return p2p.Refuse(p2p.CodeRefused, "the invitation was good until %s", of.Expires)
	}
	list, err := config.ParseColumns("of the call", came.Text)
	switch {
	case err != nil:
		return p2p.Refuse(p2p.CodeInvalid, "%v", err)
	case list.ID != came.From:
		return p2p.Refuse(p2p.CodeInvalid, "the introduction is of %s, which is not the caller", list.ID)
	}
	if err := g.disk.roomFor(int64(len(came.Text))); err != nil {
		return err
	}
	switch err := g.Store.PutIntroduction(id, came.Encode()); {
	case errors.Is(err, store.ErrNotFound):
		return errRevoked
	case err != nil:
		return err
	}
	of.Came = &came
	of.Forget()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.known[id] = of
	g.Log.Info("an introduction came", "invitation", id, "invited", of.Name, "peer", came.From.String())
	return nil
}

// keepOver is how long an expired invitation and its introduction are kept, in seconds.
const keepOver = 30 * 24 * 3600

// sweep deletes the invitations that expired long ago.
func (g *guests) sweep(now protocol.Instant) error {
	all, err := invitation.All(g.Store)
	for _, k := range all {
		if now >= k.Expires+keepOver {
			err = errors.Join(err, g.Store.RemoveInvitation(k.ID))
		}
	}
	return err
}
