// Package protocoltest simulates a whole study in one goroutine, for tests and
// demonstrations: the machines of package session in the loop of package drive, with
// releases in the order of package job, over virtual stores that survive crashes, a
// virtual clock, made-up data and a network that loses, delays and repeats.
//
// A seed fixes the order in which things happen and every draw of the nodes. Only
// what HPKE encapsulates differs from run to run, and with it ciphertexts, ids
// and the seed that is agreed on; the trace shows none of these and is the same.
//
// The simulation watches the machines' contract while it runs: nothing is sent
// that is not durable, a message once sent is ever sent in the same bytes, no
// release is made without a certificate, none twice, and no secret outlives it.
// The first breach ends Run with an error.
//
// Parties that misbehave have a Role, whose story says what they want. Aggregators
// that lie write their own board with Board, change what they answer (Lie), hide
// messages, or show two boards under one key (Twin). Check holds the invariants of
// the whole protocol; Random plays the schedule that a seed describes and checks
// them; PlayScript plays a text, whose trace testdata keeps.
package protocoltest
