package stream_test

import (
	"fmt"

	"github.com/cosketch/cosketch/seed/stream"
)

// The bytes of a label are the same on every machine and in any order.
func Example() {
	key := [32]byte{7} // derived from the seed; the same at every party
	s := stream.New(key)
	block := s.Block(stream.VerticalRecordLabel([]byte("patient 17")))
	row := make([]byte, 8)
	s.Expand(&block, row)
	fmt.Printf("%x\n", row)
	// Output:
	// 3255896c52743e72
}
