package p2p

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/net/upgrader"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/quic-go/quic-go"
)

// keyExchange is the one group that connections may use: what is recorded today
// stays closed to a quantum computer of tomorrow.
const keyExchange = tls.X25519MLKEM768

// hybridTLS is libp2p's TLS 1.3 for TCP, which closes a connection whose key
// exchange is classical.
type hybridTLS struct{ *libp2ptls.Transport }

func newHybridTLS(id protocol.ID, key crypto.PrivKey, muxers []upgrader.StreamMuxer) (*hybridTLS, error) {
	t, err := libp2ptls.New(id, key, muxers)
	if err != nil {
		return nil, err
	}
	return &hybridTLS{t}, nil
}

func (t *hybridTLS) SecureInbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	return requireHybrid(t.Transport.SecureInbound(ctx, insecure, p))
}

func (t *hybridTLS) SecureOutbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	return requireHybrid(t.Transport.SecureOutbound(ctx, insecure, p))
}

func requireHybrid(conn sec.SecureConn, err error) (sec.SecureConn, error) {
	if err != nil {
		return nil, err
	}
	state, ok := conn.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		conn.Close()
		return nil, fmt.Errorf("key exchange of a %T cannot be told", conn)
	}
	if group := state.ConnectionState().CurveID; group != keyExchange {
		conn.Close()
		return nil, fmt.Errorf("key exchange %s is not post-quantum, want %s", group, keyExchange)
	}
	return conn, nil
}

// hybridQUIC reports whether a connection, if it is QUIC, used the hybrid group.
func hybridQUIC(conn network.Conn) bool {
	var q *quic.Conn
	if !conn.As(&q) {
		return true // TCP: hybridTLS has checked it
	}
	return q.ConnectionState().TLS.CurveID == keyExchange
}
