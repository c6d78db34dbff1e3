// Package p2p carries Cosketch's calls between nodes: one authenticated
// connection per pair of nodes, one stream per call, a request frame one way and
// an answer frame the other. It is the only importer of go-libp2p, and no
// libp2p type appears in its API.
//
// A Host speaks only to the peers that Config.Allow admits, in both directions,
// and only under a hybrid post-quantum key exchange (X25519MLKEM768): a
// connection with any other group is closed. Transports are TCP with TLS 1.3,
// WebSocket for networks that let nothing but HTTPS out, and, where neither comes
// through, QUIC. Over WebSocket the same TLS 1.3 runs inside: the HTTPS around it may
// end at a proxy, on either side, which sees nothing of what it carries. A party
// gives no listen address and only dials out. Relays, hole punching, address
// discovery, mDNS, DHT and libp2p's own metrics are off.
//
// Config.Guests admits others for one call alone: few of them at once, and each for half a
// minute.
//
// # On the stream
//
// A call to NAME opens a stream of protocol /cosketch/1/NAME.
//
//	request = u32 length ‖ bytes
//	answer  = u8 code ‖ u32 length ‖ bytes      (big-endian lengths)
//
// Code 0 is a response; every other code is a Refusal and its bytes are a short
// message. The caller keeps its write side open until it has the answer, and sends
// nothing more: when that side closes or the connection is lost, the other side sees
// it at once and ends the handler's context, also in a call that waits for news for
// half a minute.
//
// A listener that does not admit a dialer closes the connection after the
// security handshake, without a word; the dialer reports ErrRefusedPeer.
package p2p
