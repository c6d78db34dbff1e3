package filename

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/protocol"
)

// Names of a study's result files.
const (
	Result = "result.json"
	Labels = "labels.json" // a party's own; the aggregator has PartyLabels
	// Computing is a mark of the aggregator. A computation that takes the whole process with it would do
	// so again at every start: who finds the mark there serves all studies first, and tries that one again
	// after a while, alone, and after longer and longer.
	Computing = "computing.json"
	// Refused remembers the document that this party refused: what was signed does not get better by
	// being fetched again.
	Refused = "refused.json"
)

const stepPrefix = "step-"

// Step is the file of a step of a computation, which the aggregator keeps until there is a result: who was killed in
// the midst of it goes on behind its steps.
func Step(name string) string { return stepPrefix + name + ".json" }

// IsStep reports whether a file is of a step.
func IsStep(name string) bool { return strings.HasPrefix(name, stepPrefix) }

// PartyLabels are the labels that the aggregator keeps for one party.
func PartyLabels(party protocol.PeerID) string { return fmt.Sprintf("labels-%x.json", party[:]) }

// Mailbox is where the aggregator keeps a party's mailbox.
func Mailbox(party protocol.PeerID) string { return fmt.Sprintf("mailbox-%x", party[:]) }

// The tables of a result are files beside its document, each named by its hash: who has the
// signed document needs nobody's word for them, and a fetch goes on where it was broken off.
const tablePrefix = "table-"

// Table is the file of a table of a result.
func Table(part protocol.Digest) string { return tablePrefix + hex.EncodeToString(part[:]) }

// TableOf is the hash that a result file is named by, if it is of a table.
func TableOf(name string) (part protocol.Digest, ok bool) {
	digits, ok := strings.CutPrefix(name, tablePrefix)
	raw, err := hex.DecodeString(digits)
	return part, ok && err == nil && len(raw) == len(part) && copy(part[:], raw) == len(part)
}

// FurtherPrefix begins the files of further results, which are kept beside a study's result, under the
// beginning of their document's hash: the signed statement, the document, and what parties alone may read, of
// each party at the aggregator and of itself at a party. The statement is written last: what is listed is
// whole.
const FurtherPrefix = "further-"

// Further is the file of a further result's statement; its document has .json behind that.
func Further(document protocol.Digest) string {
	return FurtherPrefix + document.String()[:16]
}

// FurtherLabels is the file of what a party alone may read of a further result.
func FurtherLabels(document protocol.Digest, party protocol.PeerID) string {
	return fmt.Sprintf("%s-%x", Further(document), party[:])
}

// Clipped keeps, beside a release under unit record, how many records each sketch
// had to clip. The number depends on the data and has no noise: it stays at the party,
// in no header and no message.
const Clipped = "clipped.json"

// Interim is, beside a release of two rounds, what the second one went by, as the aggregator signed it.
const Interim = "interim.bin"

func Sketch(i int) string { return fmt.Sprintf("sketch-%d.bin", i) }

// Rows is the secret order of a records-side release: which record each of
// its rows is. It never leaves the party.
func Rows(i int) string { return fmt.Sprintf("rows-%d.csv", i) }

// Files of a stored query.
const (
	QueryRows   = "sketch.bin"
	QueryOrder  = "rows.csv" // which record each row is: it never leaves the party
	QueryDigest = "records"  // the SHA-256 of what was asked about, ids and values
)

// Asked is where a party keeps the answer to a query.
func Asked(number int) string { return fmt.Sprintf("query-%d", number) }

// Query is where an aggregator keeps a query, under its party and number: the rows, and the party's signed
// statement of them, which is written last: what has one is whole.
func Query(party protocol.PeerID, number uint32) string {
	return fmt.Sprintf("query-%x-%d", party[:], number)
}

// Answer is where it keeps the document that answers a query, and its own signed statement of that, written
// last, too.
func Answer(party protocol.PeerID, number uint32) string {
	return fmt.Sprintf("answer-%x-%d", party[:], number)
}
