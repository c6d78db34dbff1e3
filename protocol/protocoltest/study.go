package protocoltest

import (
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// The dates of every simulated study.
const (
	Start     protocol.Instant = 1_767_225_600 // 2026-01-01T00:00:00Z
	Expires                    = Start + 7*day
	Deadline                   = Start + 14*day
	LateUntil                  = Start + 21*day // of studies that take late parties

	day = 86_400
)

// Terms says how simulated studies differ.
type Terms struct {
	Parties  int  // default 3; their names are a, b, c … z, p26, p27 … in the order of their keys
	Quorum   int  // default: all of them
	Attempts int  // default 3
	Late     bool // late parties are taken until LateUntil
	Public   bool // the matrix of the records side is public
	Masked   bool // masked sums; one party may collude. At least 3 parties, and none late
	Rounds   bool // two rounds, horizontal: of moments, then of code points
	Looks    bool // of masked rounds: of a first look, then of moments
	Apart    bool // sealed texts travel apart from their shares; always of more than 64 parties
	Joined   bool // a vertical study of the records side, whose rows have pseudonyms
	Nonce    byte // studies with other nonces have other ids
}

// NewStudy writes a study file and parses it. It is a horizontal study of one sketch of columns and
// one of records, or of masked moments and cells, or a vertical one of joined records.
func NewStudy(t Terms) (*study.Study, error) {
	if t.Parties == 0 {
		t.Parties = 3
	}
	if t.Quorum == 0 {
		t.Quorum = t.Parties
	}
	ikm := sha256.Sum256([]byte("aggregator's HPKE key"))
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(ikm[:])
	if err != nil {
		return nil, fmt.Errorf("deriving the aggregator's HPKE key: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cosketch: study/2\nname: simulated\nnonce: %032x\n", t.Nonce)
	fmt.Fprintf(&b, "aggregator:\n  id: %s\n  hpke: %s\n  addrs: [/ip4/127.0.0.1/tcp/1]\nparties:\n",
		Identity("aggregator").ID(), base64.StdEncoding.EncodeToString(key.PublicKey().Bytes()))
	for i, p := range parties(t.Parties) {
		fmt.Fprintf(&b, "  - {name: %s, id: %s}\n", name(i), p.ID())
	}
	partition := study.Horizontal
	if t.Joined {
		partition = study.Vertical
	}
	fmt.Fprintf(&b, "partition: %s\nquorum: %d\nexpires: %s\ndeadline: %s\n", partition, t.Quorum, Expires, Deadline)
	if t.Apart {
		b.WriteString("sealed: apart\n")
	}
	if t.Attempts > 0 {
		fmt.Fprintf(&b, "max_attempts: %d\n", t.Attempts)
	}
	if t.Late {
		fmt.Fprintf(&b, "late_until: %s\n", LateUntil)
	}
	records := "{side: records, family: identity}"
	if t.Public {
		records = "{side: records, family: hadamard, k: 2, matrix: public}"
	}
	b.WriteString("records: {id: [id]}\n")
	switch {
	case t.Joined:
		b.WriteString("columns: [{name: x, kind: numeric, bounds: [0, 1], owner: a}")
		for i := range t.Parties - 1 {
			fmt.Fprintf(&b, ", {name: y%d, kind: binary, owner: %s}", i, name(i+1))
		}
		b.WriteString("]\n" + joinedTerms)
	case t.Masked && t.Rounds && t.Looks:
		b.WriteString(horizontalColumns + lookingTerms)
	case t.Masked && t.Rounds:
		b.WriteString(horizontalColumns + roundsTerms + "sum: masked\ncolluding: 1\n")
	case t.Rounds:
		b.WriteString(horizontalColumns + roundsTerms)
	case t.Masked:
		b.WriteString(horizontalColumns + maskedTerms)
	default:
		fmt.Fprintf(&b, horizontalColumns+plainTerms, records)
	}
	s, err := file.Parse([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("parsing the simulated study: %w", err)
	}
	return s, nil
}

// The rest of the files.
const (
	horizontalColumns = `columns: [{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: binary}]
`
	plainTerms = `sketches: [{side: columns, family: sparse, k: 16}, %s]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]
`
	maskedTerms = `sketches: [{side: moments, clip: 1, share: 7}, {side: cells, L: 1, clip: 1, share: 3}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
sum: masked
colluding: 1
analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]
`
	roundsTerms = `sketches: [{side: moments, clip: 1, share: 3}, {side: codes, share: 7}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
rounds: 2
analyses: [{kind: correlation}, {kind: k-means, clusters: 2}]
`
	lookingTerms = `sketches: [{side: look}, {side: moments, standardise: own, share: 9}]
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
sum: masked
colluding: 1
rounds: 2
analyses: [{kind: mean}, {kind: correlation}]
`
	joinedTerms = `sketches: [{side: records, family: identity}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: k-means, clusters: 2}]
`
)

// Identity returns the signer of a name, always the same one. The aggregator's name is
// "aggregator"; nodes outside the study may have any other.
func Identity(name string) protocol.Signer {
	seed := sha256.Sum256([]byte("identity of " + name))
	s, err := protocol.NewSigner(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		panic("protocoltest: " + err.Error()) // not known to happen for any name
	}
	return s
}

// Sealed returns the message of Signer.Seal, and panics if there is an error.
func Sealed(e protocol.Verified, err error) protocol.Verified {
	if err != nil {
		panic("protocoltest: " + err.Error())
	}
	return e
}

// name returns the name of a party by its index.
func name(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return fmt.Sprintf("p%d", i)
}

// parties returns the identities of n parties in the order of their keys.
func parties(n int) []protocol.Signer {
	var out []protocol.Signer
	for i := range n {
		out = append(out, Identity(fmt.Sprintf("party %d", i)))
	}
	slices.SortFunc(out, func(a, b protocol.Signer) int { return a.ID().Compare(b.ID()) })
	return out
}
