// Package protocol holds the terms that all nodes of Cosketch share: a node's identity (PeerID), a
// study's (StudyID), the signed Envelope in which every message travels, the append-only board's
// Head, instants, and typed faults.
//
// It has no I/O, clock or randomness. Encodings that are signed or hashed are fixed here byte by
// byte and never depend on protobuf: a carrier may re-encode what package wire carries without
// changing an id or a signature.
package protocol
