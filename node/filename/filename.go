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
	// Computing marks a running computation at the aggregator. A computation that crashes the
	// process would crash it again at every start. If the aggregator finds the mark when it starts,
	// it serves all studies first, and retries that computation later, alone, and after growing
	// delays.
	Computing = "computing.json"
	// Refused remembers the document that this party refused: fetching a signed document again does
	// not change it.
	Refused = "refused.json"
)

const stepPrefix = "step-"

// Step returns the file of a step of a computation. The aggregator keeps it until there is a
// result, so that a killed computation resumes after its finished steps.
func Step(name string) string { return stepPrefix + name + ".json" }

// IsStep reports whether a file is of a step.
func IsStep(name string) bool { return strings.HasPrefix(name, stepPrefix) }

// PartyLabels returns the file of the labels that the aggregator keeps for one party.
func PartyLabels(party protocol.PeerID) string { return fmt.Sprintf("labels-%x.json", party[:]) }

// Mailbox returns the file of a party's mailbox at the aggregator.
func Mailbox(party protocol.PeerID) string { return fmt.Sprintf("mailbox-%x", party[:]) }

// The tables of a result are files beside its document, each named by its hash. So the signed
// document authenticates them, and an interrupted fetch can resume.
const tablePrefix = "table-"

// Table returns the file of a table of a result.
func Table(part protocol.Digest) string { return tablePrefix + hex.EncodeToString(part[:]) }

// TableOf returns the hash in the name of a table's file; ok is false for other files.
func TableOf(name string) (part protocol.Digest, ok bool) {
	digits, ok := strings.CutPrefix(name, tablePrefix)
	raw, err := hex.DecodeString(digits)
	return part, ok && err == nil && len(raw) == len(part) && copy(part[:], raw) == len(part)
}

// FurtherPrefix is the prefix of the files of further results, which are kept beside a study's
// result under the beginning of their document's hash. They are the signed statement, the document,
// and what only parties may read: at the aggregator one file per party, at a party its own. The
// statement is written last, so a listed result is complete.
const FurtherPrefix = "further-"

// Further returns the file of a further result's statement; its document has the extension .json.
func Further(document protocol.Digest) string {
	return FurtherPrefix + document.String()[:16]
}

// FurtherLabels returns the file of what only one party may read of a further result.
func FurtherLabels(document protocol.Digest, party protocol.PeerID) string {
	return fmt.Sprintf("%s-%x", Further(document), party[:])
}

// Clipped is the file, beside a release under unit record, of how many records each sketch had to
// clip. The number depends on the data and has no noise: it stays at the party, in no header and no
// message.
const Clipped = "clipped.json"

// Interim is the file, beside a release of two rounds, of the interim on which the second round is
// based, as the aggregator signed it.
const Interim = "interim.bin"

func Sketch(i int) string { return fmt.Sprintf("sketch-%d.bin", i) }

// Rows returns the file of the secret order of a records-side release: which record each row is. It
// never leaves the party.
func Rows(i int) string { return fmt.Sprintf("rows-%d.csv", i) }

// Files of a stored query.
const (
	QueryRows   = "sketch.bin"
	QueryOrder  = "rows.csv" // which record each row is; never leaves the party
	QueryDigest = "records"  // the SHA-256 of the ids and values that were asked about
)

// QueryAnswer returns the file of the answer to a query at a party.
func QueryAnswer(number int) string { return fmt.Sprintf("query-%d", number) }

// Query returns the name under which an aggregator keeps a party's signed statement of a query.
// It is written last, so a query with a statement is complete.
func Query(party protocol.PeerID, number uint32) string {
	return fmt.Sprintf("query-%x-%d", party[:], number)
}

// QuerySent returns the name under which an aggregator keeps the rows of a party's query.
// Package store knows it, to purge them.
func QuerySent(party protocol.PeerID, number uint32) string { return Query(party, number) + ".bin" }

// Answer returns the name under which the aggregator keeps the answer to a query: the document, and
// its own signed statement of it, which is written last as well.
func Answer(party protocol.PeerID, number uint32) string {
	return fmt.Sprintf("answer-%x-%d", party[:], number)
}
