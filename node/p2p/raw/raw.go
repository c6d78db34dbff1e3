// Package raw is a client that breaks the rules: it connects like a node and sends arbitrary bytes.
// Tests and the testnet attack nodes with it.
package raw

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	libp2pprotocol "github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"
	"github.com/libp2p/go-libp2p/p2p/host/peerstore/pstoremem"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/protocol"
)

// ErrConnecting reports that nothing was sent because there is no connection.
var ErrConnecting = errors.New("connecting")

// mostAnswer bounds the size of an answer.
const mostAnswer = 64 << 20

// Peer is a client of one node at one address.
type Peer struct {
	host host.Host
	to   peer.AddrInfo
}

// New returns a peer, which connects later. address is a TCP multiaddr without the identity.
func New(key ed25519.PrivateKey, to protocol.PeerID, address string) (*Peer, error) {
	fail := func(err error) (*Peer, error) { return nil, fmt.Errorf("making a raw peer: %w", err) }
	own, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		return fail(err)
	}
	theirs, err := crypto.UnmarshalEd25519PublicKey(to[:])
	if err != nil {
		return fail(err)
	}
	id, err := peer.IDFromPublicKey(theirs)
	if err != nil {
		return fail(err)
	}
	at, err := ma.NewMultiaddr(address)
	if err != nil {
		return fail(err)
	}
	h, err := dialer(own)
	if err != nil {
		return fail(err)
	}
	return &Peer{h, peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{at}}}, nil
}

// dialer returns a libp2p host that dials by TCP and never listens, assembled like a node's.
func dialer(own crypto.PrivKey) (host.Host, error) {
	self, err := peer.IDFromPrivateKey(own)
	if err != nil {
		return nil, err
	}
	muxers := []upgrader.StreamMuxer{{ID: yamux.ID, Muxer: yamux.DefaultTransport}}
	secure, err := libp2ptls.New(libp2ptls.ID, own, muxers)
	if err != nil {
		return nil, err
	}
	unlimited := &network.NullResourceManager{}
	up, err := upgrader.New([]sec.SecureTransport{secure}, muxers, nil, unlimited, nil)
	if err != nil {
		return nil, err
	}
	overTCP, err := tcp.NewTCPTransport(up, unlimited, nil, tcp.DisableReuseport())
	if err != nil {
		return nil, err
	}
	known, err := pstoremem.NewPeerstore()
	if err != nil {
		return nil, err
	}
	bus := eventbus.NewBus()
	conns, err := swarm.NewSwarm(self, known, bus, swarm.WithResourceManager(unlimited))
	if err != nil {
		return nil, errors.Join(err, known.Close())
	}
	err = errors.Join(known.AddPrivKey(self, own), known.AddPubKey(self, own.GetPublic()), conns.AddTransport(overTCP))
	if err != nil {
		return nil, errors.Join(err, conns.Close())
	}
	h, err := basichost.NewHost(conns, &basichost.HostOpts{EventBus: bus})
	if err != nil {
		return nil, errors.Join(err, conns.Close())
	}
	h.Start()
	return h, nil
}

func (p *Peer) Close() error { return p.host.Close() }

// Frame returns a request frame: the length, then body.
func Frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// Send opens a stream for a call, writes sent unchanged, and returns the code and body of the
// answer.
func (p *Peer) Send(ctx context.Context, call string, sent []byte) (code byte, body []byte, err error) {
	s, err := p.Open(ctx, call, nil)
	if err != nil {
		return 0, nil, err
	}
	defer s.Reset()
	defer context.AfterFunc(ctx, func() { s.Reset() })()
	if until, ok := ctx.Deadline(); ok {
		s.SetDeadline(until)
	}
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		s.Write(sent) // a refusal may come before all is sent
	}()
	code, body, err = answer(s)
	s.Reset()
	<-wrote
	return code, body, err
}

// Open opens a stream for a call, writes the beginning of a request, and returns the stream. The
// caller must reset it.
func (p *Peer) Open(ctx context.Context, call string, beginning []byte) (Stream, error) {
	if err := p.host.Connect(ctx, p.to); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConnecting, err)
	}
	s, err := p.host.NewStream(ctx, p.to.ID, libp2pprotocol.ID("/"+protocol.Version+"/"+call))
	if err != nil {
		return nil, fmt.Errorf("opening a stream of %s: %w", call, err)
	}
	if _, err := s.Write(beginning); err != nil {
		s.Reset()
		return nil, fmt.Errorf("writing to a stream of %s: %w", call, err)
	}
	return s, nil
}

// Stream is the stream of one call.
type Stream interface {
	io.ReadWriter
	SetDeadline(time.Time) error
	Reset() error
}

// answer reads an answer: code, length and body.
func answer(from io.Reader) (code byte, body []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, fmt.Errorf("reading an answer: %w", err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > mostAnswer {
		return head[0], nil, fmt.Errorf("reading an answer: %d bytes, at most %d", n, mostAnswer)
	}
	body, err = io.ReadAll(io.LimitReader(from, int64(n)))
	if err == nil && len(body) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return head[0], nil, fmt.Errorf("reading an answer: %w", err)
	}
	return head[0], body, nil
}
