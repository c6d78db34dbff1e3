// Package protocoltest simulates a whole study in one goroutine, for tests and demonstrations. It
// runs the machines of package session in the loop of package drive, with releases in the order of
// package job. The stores are virtual and survive crashes, the clock is virtual, the data are made
// up, and the network loses, delays and repeats messages.
//
// A seed fixes the order of events and every draw of the nodes. Only what HPKE encapsulates differs
// from run to run, and with it ciphertexts, ids and the agreed seed. The trace shows none of these,
// so it is reproducible.
//
// The simulation checks the machines' contract while it runs: nothing is sent that is not durable,
// a message once sent is always sent in the same bytes, no release is made without a certificate,
// none twice, and no secret outlives it. The first breach ends Run with an error.
//
// Parties that misbehave have a Role, whose story says what they want. Lying aggregators write
// their own board with Board, change what they answer (Lie), hide messages, or show two boards
// under one key (Twin). Check checks the invariants of the whole protocol. Random plays the
// schedule that a seed describes and checks them. PlayScript plays a text; testdata holds the
// expected traces.
package protocoltest
