package p2p

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	libp2p "github.com/libp2p/go-libp2p/core/protocol"

	"github.com/cosketch/cosketch/protocol"
)

// Handler answers one call. Its context ends when the caller disconnects or cancels, when the host
// closes, and after Limits.Call. The caller's identity is authenticated. A returned *Refusal is
// sent to the caller; any other error is logged, and the caller learns only that there was one.
type Handler func(ctx context.Context, from protocol.PeerID, request []byte) ([]byte, error)

// stream returns the protocol name of a call's streams.
func (h *Host) stream(name string) libp2p.ID { return libp2p.ID("/" + h.speaks + "/" + name) }

// drainTime is how long a refused request may go on arriving.
const drainTime = 5 * time.Second

// Serve registers a handler for calls to name. It replaces an earlier handler of that name.
func (h *Host) Serve(name string, handler Handler) {
	h.host.SetStreamHandler(h.stream(name), func(s network.Stream) {
		from, who := h.gate.rank(s.Conn().RemotePeer())
		if who == stranger { // no longer admitted since it connected
			s.Conn().Close()
			return
		}
		c := inbound{Host: h, stream: s, name: name, from: from, guest: who == guest}
		c.until = time.Now().Add(h.limits.Call)
		c.frames = framer{pipe: s, idle: h.limits.Idle, until: c.until.Add(h.limits.Idle)} // leaves time for the answer
		if c.guest && name != h.asks {
			c.refuse(Refuse(CodeUnknownStudy, "no study here lists this node: a guest makes the call %s, and no other", h.asks))
			return
		}
		switch h.enter(from, c.most()) {
		case entered:
			defer h.leave(from)
			c.serve(handler)
		case full:
			c.refuse(Refuse(CodeBusy, "more than %d calls at once", c.most()))
		case closed:
			s.Reset()
		}
	})
}

type entry int

const (
	entered entry = iota
	full
	closed
)

// enter counts a call, unless its caller has too many or the host is closing.
func (h *Host) enter(from protocol.PeerID, most int) entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return closed
	}
	if h.serving[from] >= most {
		return full
	}
	h.serving[from]++
	h.calls.Add(1)
	return entered
}

func (h *Host) leave(from protocol.PeerID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.serving[from]--; h.serving[from] == 0 {
		delete(h.serving, from)
	}
	h.calls.Done()
}

// inbound is one call being answered.
type inbound struct {
	*Host
	stream network.Stream
	frames framer
	name   string
	from   protocol.PeerID
	guest  bool
	until  time.Time // the handler's deadline
	size   int64     // bytes of memory held by the request
}

// most bounds the caller's concurrent calls.
func (c *inbound) most() int {
	if c.guest {
		return guestStreams // here a call may end after its caller saw it end
	}
	return c.limits.CallsPerPeer
}

func (c *inbound) serve(handler Handler) {
	defer c.giveBack()
	request, err := c.readRequest()
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		c.refuse(refusal)
		return
	case err != nil:
		c.log.Debug("request did not arrive", "call", c.name, "peer", c.from.String(), "err", err)
		c.stream.Reset()
		return
	}

	ctx, cancel := context.WithDeadline(c.ctx, c.until)
	defer cancel()
	c.stream.SetReadDeadline(time.Time{}) // the request's deadline must not end a long wait
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(cancel)
	}()
	response, err := c.run(ctx, handler, request)
	gone := errors.Is(ctx.Err(), context.Canceled) // the caller is gone, or this host is closing
	c.stream.SetReadDeadline(time.Unix(1, 0))      // stops watch
	<-watched
	if gone {
		c.stream.Reset()
		return
	}
	c.giveBack() // before the answer, since the caller may call again at once
	c.answer(response, err)
}

func (c *inbound) readRequest() ([]byte, error) {
	length, err := c.frames.readHead(4)
	if err != nil {
		return nil, err
	}
	request, err := c.frames.readBody(length, c.limits.frames(c.name).Request, c.reserve)
	if errors.Is(err, ErrTooLarge) {
		return nil, Refuse(CodeTooLarge, "request: %v", err)
	}
	return request, err
}

// reserve takes memory for more of the request; giveBack returns it.
func (c *inbound) reserve(n int) error {
	if !c.requests.acquire(c.from, int64(n)) {
		return Refuse(CodeBusy, "no memory for %d more bytes of this peer now", n)
	}
	c.size += int64(n)
	return nil
}

// giveBack returns the request's memory.
func (c *inbound) giveBack() {
	c.requests.release(c.from, c.size)
	c.size = 0
}

// watch waits for the caller to cancel, disconnect or close its side, and then ends the handler's
// context. It also ends it if the caller sends anything after its request.
func (c *inbound) watch(cancel context.CancelFunc) {
	defer cancel()
	if n, _ := c.stream.Read(make([]byte, 1)); n > 0 {
		c.limitedLog.Warn(c.from.String(), "peer sent bytes after its request", "call", c.name)
	}
}

// run calls the handler and turns a panic into an error, so that one bad call does not take the
// node down.
func (c *inbound) run(ctx context.Context, handler Handler, request []byte) (response []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			response, err = nil, fmt.Errorf("handler panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return handler(ctx, c.from, request)
}

func (c *inbound) answer(response []byte, err error) {
	if limit := c.limits.frames(c.name).Response; err == nil && len(response) > limit {
		err = fmt.Errorf("response of %d bytes, at most %d", len(response), limit)
	}
	var refusal *Refusal
	switch {
	case err == nil:
		c.send(0, response)
		c.stream.Close()
		return
	case errors.As(err, &refusal) && refusal.Code != 0:
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		refusal = Refuse(CodeBusy, "the call was not done in time")
	default:
		c.limitedLog.Error(c.from.String(), "call "+c.name+" failed", "err", err)
		refusal = &Refusal{Code: CodeInternal}
	}
	c.send(refusal.Code, []byte(printable(refusal.Message)))
	c.stream.Close()
}

// refuse answers a call whose request was not read. It keeps reading the request for up to
// drainTime, because a reset would overtake the answer; from a guest at most one request's size.
func (c *inbound) refuse(refusal *Refusal) {
	c.send(refusal.Code, []byte(printable(refusal.Message)))
	c.stream.CloseWrite()
	c.stream.SetReadDeadline(time.Now().Add(drainTime))
	rest := io.Reader(c.stream)
	if c.guest {
		rest = io.LimitReader(rest, int64(c.limits.frames(c.asks).Request))
	}
	io.Copy(io.Discard, rest)
	c.stream.Reset()
}

func (c *inbound) send(code Code, body []byte) {
	if err := c.frames.write([]byte{byte(code)}, body); err != nil {
		c.log.Debug("answer was not taken", "call", c.name, "peer", c.from.String(), "err", err)
		c.stream.Reset()
	}
}
