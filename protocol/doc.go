// Package protocol holds the words that Cosketch's machines speak: who a node is
// (PeerID), which study is meant (StudyID), the signed Envelope in which every
// message travels, the append-only board's Head, instants, and typed faults.
//
// It has no I/O, clock or randomness. Encodings that are signed or hashed are
// fixed here byte by byte and never depend on protobuf: what package wire carries
// may be re-encoded by a carrier without changing an id or a signature.
package protocol
