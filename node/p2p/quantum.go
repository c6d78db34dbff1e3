package p2p

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/quic-go/quic-go"
)

// keyExchange is the only group that connections may use, so that a future quantum computer cannot
// decrypt traffic recorded today.
const keyExchange = tls.X25519MLKEM768

// undated makes a node's certificate valid from 1970 to 9999. The identity is proved by a signature
// over the connection's key. A node whose clock is wrong should still get far enough to be told so.
func undated(local peer.ID) libp2ptls.IdentityOption {
	return libp2ptls.WithCertTemplate(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{SerialNumber: local.String()}, // an issuer must have a name
		NotBefore: time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	})
}

// hybridTLS is libp2p's TLS 1.3 for TCP, compatible with it, with two changes: it closes
// connections with a classical key exchange, and its certificate is undated.
type hybridTLS struct {
	id       protocol.ID
	local    peer.ID
	identity *libp2ptls.Identity
	muxers   []string // in order of preference
}

func newHybridTLS(id protocol.ID, key crypto.PrivKey, muxers []upgrader.StreamMuxer) (*hybridTLS, error) {
	local, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, err
	}
	identity, err := libp2ptls.NewIdentity(key, undated(local))
	if err != nil {
		return nil, err
	}
	t := &hybridTLS{id: id, local: local, identity: identity}
	for _, m := range muxers {
		t.muxers = append(t.muxers, string(m.ID))
	}
	return t, nil
}

// ID returns the name under which peers negotiate this protocol.
func (t *hybridTLS) ID() protocol.ID { return t.id }

// SecureInbound answers a peer's handshake; p is empty if any peer may call.
func (t *hybridTLS) SecureInbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	return t.secure(ctx, insecure, p, tls.Server)
}

func (t *hybridTLS) SecureOutbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	return t.secure(ctx, insecure, p, tls.Client)
}

func (t *hybridTLS) secure(ctx context.Context, insecure net.Conn, p peer.ID, side func(net.Conn, *tls.Config) *tls.Conn) (sec.SecureConn, error) {
	config, keys := t.identity.ConfigForPeer(p)
	config.NextProtos = append(slices.Clone(t.muxers), config.NextProtos...)
	conn := side(insecure, config)
	remote, err := shake(ctx, conn, keys)
	var id peer.ID
	if err == nil {
		id, err = peer.IDFromPublicKey(remote)
	}
	if err != nil {
		insecure.Close()
		return nil, err
	}
	out := &hybridConn{Conn: conn, local: t.local, remote: id, key: remote, state: network.ConnectionState{Security: t.id}}
	if muxer := conn.ConnectionState().NegotiatedProtocol; slices.Contains(t.muxers, muxer) {
		out.state.StreamMultiplexer, out.state.UsedEarlyMuxerNegotiation = protocol.ID(muxer), true
	}
	return out, nil
}

// shake performs the handshake and returns the peer's key, which certificate verification has put
// into keys.
func shake(ctx context.Context, conn *tls.Conn, keys <-chan crypto.PubKey) (crypto.PubKey, error) {
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if group := conn.ConnectionState().CurveID; group != keyExchange {
		return nil, fmt.Errorf("key exchange %s is not post-quantum, want %s", group, keyExchange)
	}
	select {
	case key := <-keys:
		if key != nil {
			return key, nil
		}
	default:
	}
	return nil, errors.New("the peer showed no certificate")
}

// hybridConn is a connection whose peer has proved its identity.
type hybridConn struct {
	*tls.Conn
	local, remote peer.ID
	key           crypto.PubKey // the peer's
	state         network.ConnectionState
}

func (c *hybridConn) LocalPeer() peer.ID                 { return c.local }
func (c *hybridConn) RemotePeer() peer.ID                { return c.remote }
func (c *hybridConn) RemotePublicKey() crypto.PubKey     { return c.key }
func (c *hybridConn) ConnState() network.ConnectionState { return c.state }

// hybridQUIC reports whether a connection used the hybrid group. It is true for other transports
// than QUIC.
func hybridQUIC(conn network.Conn) bool {
	var q *quic.Conn
	if !conn.As(&q) {
		return true // TCP: hybridTLS has checked it already
	}
	return q.ConnectionState().TLS.CurveID == keyExchange
}
