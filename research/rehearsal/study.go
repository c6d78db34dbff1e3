package rehearsal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// Study parses a study file of so many parties a, b, c …; rest is the file from the columns on.
// Keys and dates are those of the simulation.
func Study(parties int, partition study.Partition, rest string) (*study.Study, error) {
	example, err := protocoltest.NewStudy(protocoltest.Terms{Parties: parties})
	if err != nil {
		return nil, err
	}
	head, _, _ := bytes.Cut(example.Source, []byte("columns:"))
	text := strings.Replace(string(head), "partition: horizontal", "partition: "+string(partition), 1) + rest
	s, err := file.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("parsing a study: %w", err)
	}
	return s, nil
}

// Source returns a separate stream of random bytes for each list of up to four numbers, such as a
// seed and a purpose. It replaces the operating system's randomness: no real data are protected
// here.
func Source(of ...uint64) *rand.ChaCha8 {
	var key [32]byte
	for i, n := range of {
		binary.LittleEndian.PutUint64(key[8*i:], n)
	}
	return rand.NewChaCha8(key)
}
