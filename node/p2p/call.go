package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2p "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/multiformats/go-multistream"
	"github.com/quic-go/quic-go"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// errClosed is the error of calls after Close.
var errClosed = fmt.Errorf("this node's network is %w", net.ErrClosed)

// Call calls a peer over the existing connection, or over a new one to the first address that
// works, TCP before QUIC. It returns the response, or one of these errors, wrapped: the peer's
// *Refusal, ErrUnreachable (possibly with ErrWrongPeer), ErrRefusedPeer, ErrInterrupted, or the
// context's error. Call does not retry.
func (h *Host) Call(ctx context.Context, to protocol.PeerID, addrs []string, name string, request []byte) ([]byte, error) {
	response, err := h.call(ctx, to, addrs, name, request)
	if err != nil {
		return nil, fmt.Errorf("calling %s of %s: %w", name, to, err)
	}
	return response, nil
}

func (h *Host) call(ctx context.Context, to protocol.PeerID, addrs []string, name string, request []byte) ([]byte, error) {
	if limit := h.limits.frames(name).Request; len(request) > limit {
		return nil, fmt.Errorf("request of %d bytes, at most %d", len(request), limit)
	}
	if !h.gate.allow(to) {
		return nil, errors.New("no study of this node lists that peer")
	}
	ctx, cancel := h.callContext(ctx)
	defer cancel()
	id, err := toLibp2p(to)
	if err != nil {
		return nil, err
	}
	if err := h.connect(ctx, id, addrs); err != nil {
		return nil, err
	}
	response, err := h.exchange(ctx, id, name, request)
	if err != nil {
		return nil, h.explain(ctx, id, err)
	}
	return response, nil
}

// callContext adds a deadline if there is none, and ends the context when the host closes.
func (h *Host) callContext(ctx context.Context) (context.Context, context.CancelFunc) {
	cancelDeadline := context.CancelFunc(func() {})
	if _, ok := ctx.Deadline(); !ok {
		ctx, cancelDeadline = context.WithTimeout(ctx, h.limits.Call)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.ctx, cancel)
	return ctx, func() { stop(); cancel(); cancelDeadline() }
}

// connect dials the peer unless it is connected.
func (h *Host) connect(ctx context.Context, id peer.ID, addrs []string) error {
	if h.host.Network().Connectedness(id) == network.Connected {
		return nil
	}
	parsed, err := parseAddrs(id, addrs)
	if err != nil {
		return err
	}
	if len(parsed) == 0 {
		return fmt.Errorf("%w: no address is known", ErrUnreachable)
	}
	if s, ok := h.host.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(id) // the caller decides when to retry
	}
	h.book.setAddrs(id, parsed)
	dial, cancel := context.WithTimeout(ctx, h.limits.Dial)
	defer cancel()
	if _, err := h.host.Network().DialPeer(dial, id); err != nil {
		switch {
		case h.ctx.Err() != nil:
			return errClosed
		case ctx.Err() != nil:
			return ctx.Err()
		case gated(err):
			return h.notAdmitted()
		}
		return dialError(err, parsed)
	}
	return nil
}

// exchange sends the request on a new stream and reads the answer. It does both concurrently,
// because a refusal may come before the request is sent.
func (h *Host) exchange(ctx context.Context, id peer.ID, name string, request []byte) ([]byte, error) {
	s, err := h.host.NewStream(network.WithNoDial(ctx, "connected already"), id, h.stream(name))
	if err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { s.Reset() })()
	until, _ := ctx.Deadline()
	frames := framer{pipe: s, idle: h.limits.Idle, until: until}
	sent := make(chan error, 1)
	go func() { sent <- frames.write(nil, request) }()

	response, err := readAnswer(&frames, h.limits.frames(name).Response)
	select {
	case failed := <-sent:
		if err == nil && failed == nil {
			s.Close()
			return response, nil
		}
		s.Reset()
	default: // answered before the request was sent, or failed
		s.Reset()
		<-sent
	}
	return response, err
}

// readAnswer returns a response, or a *Refusal as the error.
func readAnswer(frames *framer, limit int) ([]byte, error) {
	head, err := frames.readHead(5)
	if err != nil {
		return nil, err
	}
	code := Code(head[0])
	if code != 0 {
		limit = maxMessage
	}
	body, err := frames.readBody(head[1:], limit, func(int) error { return nil })
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	if code != 0 {
		return nil, &Refusal{Code: code, Message: printable(string(body))}
	}
	return body, nil
}

// timedOut recognises a stream's deadline error, which differs by transport.
func timedOut(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// explain turns an error of exchange into an error of Call.
func (h *Host) explain(ctx context.Context, id peer.ID, err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal) || errors.Is(err, ErrTooLarge):
		return err
	case h.ctx.Err() != nil:
		return errClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, multistream.ErrNotSupported[libp2p.ID]{}):
		return h.otherVersion(id)
	case timedOut(err):
		if until, _ := ctx.Deadline(); !time.Now().Before(until) {
			return context.DeadlineExceeded
		}
		return fmt.Errorf("%w: no progress for %v", ErrInterrupted, h.limits.Idle)
	case errors.Is(err, network.ErrResourceLimitExceeded):
		return fmt.Errorf("own limits: %w", err)
	}
	// A peer that admits this node has announced its protocols through libp2p's identify, and
	// libp2p remembers them for a minute after the connection.
	if known, _ := h.host.Peerstore().GetProtocols(id); len(known) == 0 {
		return h.notAdmitted()
	}
	return fmt.Errorf("%w: %w", ErrInterrupted, err)
}

// otherVersion explains how this node and a peer that does not know its calls differ. A peer that
// did not announce its version, or runs the same program, is shutting down.
func (h *Host) otherVersion(id peer.ID) error {
	ours := h.speaks
	said := func(what string) string {
		if v, err := h.host.Peerstore().Get(id, what); err == nil {
			return printable(fmt.Sprint(v))
		}
		return ""
	}
	theirs, agent := said("ProtocolVersion"), said("AgentVersion")
	if theirs == "" || theirs == ours && agent == h.agent {
		return fmt.Errorf("%w: the peer does not answer this call now", ErrInterrupted)
	}
	if theirs == ours {
		theirs = "none that this node knows"
	}
	theirs += ", " + agent
	return &protocol.Disagreement{
		On: protocol.OnVersion, Who: "the aggregator", From: "this party", What: "protocol", Theirs: theirs, Ours: ours + ", " + h.agent,
		Do: "update the older of the two", Err: Refuse(CodeVersion, "the peer does not know this call"),
	}
}

// notAdmitted returns the error of a call to a peer that does not admit this node.
func (h *Host) notAdmitted() error {
	return fail.NotAdmitted.New().With(fmt.Sprintf("it closed the connection before answering: does a study there list this node's id %s? A newly hosted study is active within seconds", h.id))
}

// gated reports whether a peer refused this node during the dial: over QUIC the refusal can
// overtake the end of the handshake.
func gated(err error) bool {
	var dial *swarm.DialError
	if !errors.As(err, &dial) {
		return false
	}
	return slices.ContainsFunc(dial.DialErrors, func(e swarm.TransportError) bool {
		var closed *network.ConnError
		var raw *quic.ApplicationError
		return errors.As(e.Cause, &closed) && closed.Remote && closed.ErrorCode == network.ConnGated ||
			errors.As(e.Cause, &raw) && raw.Remote && raw.ErrorCode == quic.ApplicationErrorCode(network.ConnGated)
	})
}
