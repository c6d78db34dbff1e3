package node

import (
	"crypto/sha256"

	"github.com/cosketch/cosketch/protocol"
)

// Names of stored result files.
const (
	resultFile = "result.json"
	labelsFile = "labels.json" // a party's own; the aggregator keeps one a party
)

func documentOf(data []byte) protocol.Document {
	return protocol.Document{Hash: sha256.Sum256(data), Size: int64(len(data))}
}
