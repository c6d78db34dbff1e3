// Package bundle implements the file that carries messages from one node to another by hand: a
// sequence of named parts, sealed to its recipient. The carrier can neither read it nor change,
// reorder or truncate it unnoticed.
//
//	bundle = "cosketch bundle/1\n" ‖ study (32) ‖ from (32) ‖ to (32)
//	         ‖ encapsulated key (1120) ‖ parts
//	part   = u32 length (big-endian) ‖ sealed (flag ‖ u8 length ‖ name ‖ body)
//
// The parts are sealed one after the other in one HPKE context (RFC 9180, base mode,
// MLKEM768-X25519, HKDF-SHA256, ChaCha20-Poly1305) whose info binds study, sender and recipient.
// The flag is 0, and 1 in the last part, which is empty.
//
// Base mode does not authenticate the sender. Every part that matters is signed, or checked against
// something signed.
package bundle
