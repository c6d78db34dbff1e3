package transcript_test

import (
	"fmt"

	"github.com/cosketch/cosketch/seed/transcript"
)

// Fields have lengths, so different lists of fields have different hashes.
func ExampleHash() {
	one := transcript.Hash("example", []byte("ab"), []byte("c"))
	other := transcript.Hash("example", []byte("a"), []byte("bc"))
	fmt.Println(one == other)
	fmt.Printf("%x\n", transcript.Join("example", []byte("ab"), []byte("c")))
	// Output:
	// false
	// 000000076578616d706c650000000261620000000163
}
