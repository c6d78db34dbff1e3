// Package p2p carries Cosketch's calls between nodes: one authenticated connection per pair of
// nodes, one stream per call, one request frame and one answer frame per stream. It is the only
// package that imports go-libp2p, and no libp2p type appears in its API.
//
// In both directions, a Host communicates only with peers that Config.Allow admits, and only under
// a hybrid post-quantum key exchange (X25519MLKEM768): connections with any other group are closed.
// Transports are TCP with TLS 1.3, WebSocket for networks that allow only outgoing HTTPS, and QUIC
// if neither connects. WebSocket carries the same TLS 1.3 inside: the outer HTTPS may end at a
// proxy on either side, which cannot read what it carries. A party gives no listen address and only
// dials. Relays, hole punching, address discovery, mDNS, DHT and libp2p's own metrics are off.
//
// Config.Guests admits other peers for a single kind of call: few at a time, and each for half a
// minute.
//
// # On the stream
//
// A call to NAME opens a stream of protocol /cosketch/1/NAME.
//
//	request = u32 length ‖ bytes
//	answer  = u8 code ‖ u32 length ‖ bytes      (big-endian lengths)
//
// Code 0 is a response. Every other code is a Refusal, and its bytes are a short message. The
// caller keeps its write side open until it has the answer, and sends nothing more. If that side
// closes or the connection is lost, the other side notices at once and ends the handler's context,
// even in a call that waits for news for half a minute.
//
// A listener that does not admit a dialer closes the connection after the security handshake
// without a message; the dialer reports ErrRefusedPeer.
package p2p
