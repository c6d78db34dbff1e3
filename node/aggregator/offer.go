package aggregator

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/invitation"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// offer answers the call for study files, newest first: those that list the caller, of hosted
// studies that are not stopped and still accept approvals or late parties.
func (a *server) offer(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error) {
	if len(request) != 0 {
		return nil, p2p.Refuse(p2p.CodeInvalid, "the call for studies has no body, this one %d bytes", len(request))
	}
	entries, err := a.Store.Studies()
	if err != nil {
		return nil, err
	}
	var out []byte
	for i := len(entries) - 1; i >= 0; i-- {
		a.mu.Lock()
		h := a.hosted[entries[i].ID]
		a.mu.Unlock()
		if h == nil || a.Now() >= max(h.study.Expires, h.study.LateUntil) {
			continue
		}
		if _, listed := h.study.PartyIndex(from); !listed || h.stopped(ctx) {
			continue
		}
		if len(out)+4+len(h.study.Source) > calls.MostOffered {
			break
		}
		out = binary.BigEndian.AppendUint32(out, uint32(len(h.study.Source)))
		out = append(out, h.study.Source...)
	}
	return out, nil
}

// stopped reports whether the study was stopped, by its operator or by itself.
func (h *hosted) stopped(ctx context.Context) bool {
	stopped := false
	err := h.do(ctx, func() error {
		_, stopped = h.machine.Stopped()
		return nil
	})
	return err == nil && stopped
}

// FetchOptions says which aggregator FetchStudies asks, and under which identity.
type FetchOptions struct {
	Identity func() ed25519.PrivateKey
	Address  string // of the aggregator, with its id: /dns4/agg.example.org/tcp/7424/p2p/12D3KooW…
	Network  config.Network
	Version  string
}

// wholeAddress completes an address of another form: it returns an example of a whole address that
// names the same host and an aggregator.
func wholeAddress(text string) string {
	_, place, scheme := strings.Cut(text, "://")
	if !scheme {
		place = text
	}
	place, _, _ = strings.Cut(place, "/")
	addr := "/dns4/agg.example.org/tcp/7424"
	host, port, err := net.SplitHostPort(place)
	if scheme { // of web pages, which use another port
		port = "7424"
	}
	switch {
	case strings.HasPrefix(text, "/"):
		addr = strings.TrimRight(text, "/")
	case err == nil && net.ParseIP(host) == nil:
		addr = "/dns4/" + host + "/tcp/" + port
	case err == nil && net.ParseIP(host).To4() != nil:
		addr = "/ip4/" + host + "/tcp/" + port
	case err == nil:
		addr = "/ip6/" + host + "/tcp/" + port
	}
	return addr + "/p2p/12D3KooW…"
}

// ParseAddress splits an aggregator's whole address: its place, its id, and the invitation that may
// follow.
func ParseAddress(text string) (addr string, to protocol.PeerID, t invitation.Ticket, err error) {
	if text, t, err = invitation.Split(text); err != nil {
		return "", to, t, &node.SiteError{Err: fmt.Errorf("address %q: %w", text, fail.InvitationForm.New())}
	}
	addr, id, named := strings.Cut(text, "/p2p/")
	if !named {
		return "", to, t, &node.SiteError{Err: fmt.Errorf("address %q does not say whom to expect there: ask the operator for the whole of it, such as %s", text, wholeAddress(text))}
	}
	if to, err = protocol.ParsePeerID(id); err != nil {
		return "", to, t, &node.SiteError{Err: fmt.Errorf("address %q: %w", text, err)}
	}
	return addr, to, t, nil
}

// CheckPlace refuses text that is not a multiaddr at which an aggregator could be reached, as in
// study files: without its id.
func CheckPlace(text string) error {
	if err := p2p.CheckAddr(text); err != nil {
		return &node.SiteError{Err: fmt.Errorf("address %q: %w (such as %s)", text, err, strings.TrimSuffix(wholeAddress(text), "/p2p/12D3KooW…"))}
	}
	return nil
}

// ask makes one call to an aggregator. request is given the invitation in the address, if there is
// one.
func (o FetchOptions) ask(ctx context.Context, name string, request func(invitation.Ticket) ([]byte, error)) (answer []byte, to protocol.PeerID, err error) {
	addr, to, ticket, err := ParseAddress(o.Address)
	if err != nil {
		return nil, to, err
	}
	body, err := request(ticket)
	if err != nil {
		return nil, to, err
	}
	host, err := p2p.New(p2p.Config{Key: o.Identity, Allow: func(id protocol.PeerID) bool { return id == to }, Limits: calls.WithFrames(p2p.Limits{}), Roots: o.Network.Roots, Version: o.Version})
	if err != nil {
		return nil, to, err
	}
	defer host.Close()
	answer, err = host.Call(ctx, to, []string{addr}, name, body)
	return answer, to, err
}

// Introduce sends an introduction under the invitation in the address. It is idempotent.
func Introduce(ctx context.Context, o FetchOptions, introduction []byte) error {
	_, _, err := o.ask(ctx, calls.Introduce, func(t invitation.Ticket) ([]byte, error) {
		if n := len(introduction); n > wire.MaxIntroduction {
			return nil, fail.Usage.Of(fmt.Errorf("an introduction of %d bytes: under an invitation it has at most %d; hand it over as a file", n, wire.MaxIntroduction))
		}
		id, secret := t.Reveal()
		return wire.EncodeIntroduce(wire.Introduce{Invitation: id, Secret: secret, Introduction: introduction}), nil
	})
	var refusal *p2p.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Code == p2p.CodeConflict:
		return fail.InvitationSpent.New()
	case errors.As(err, &refusal) && refusal.Code == p2p.CodeRefused:
		return fail.Uninvited.Of(refusal)
	}
	return err
}

// FetchStudies asks an aggregator for the study files that list this party. They are checked like
// files from any source; nothing is stored or approved.
func FetchStudies(ctx context.Context, o FetchOptions) ([]*study.Study, error) {
	list, to, err := o.ask(ctx, calls.Studies, func(invitation.Ticket) ([]byte, error) { return nil, nil })
	if err != nil {
		return nil, err
	}
	var out []*study.Study
	for len(list) > 0 {
		size := 0
		if len(list) >= 4 {
			size = int(binary.BigEndian.Uint32(list))
		}
		if len(list) < 4 || size > len(list)-4 || size > file.MaxSource {
			return nil, errors.New("the aggregator's list of studies is damaged")
		}
		s, err := file.Parse(list[4 : 4+size])
		if err != nil {
			return nil, fmt.Errorf("a study file of the aggregator:\n%w", err)
		}
		if s.Aggregator.ID != to {
			return nil, fmt.Errorf("the aggregator offers study %s, which names another aggregator", s.ID.Short())
		}
		out, list = append(out, s), list[4+size:]
	}
	return out, nil
}
