package seed_test

import (
	"fmt"

	"github.com/cosketch/cosketch/seed"
)

// With all contributions, every member computes the same seed and derives the same keys.
func Example() {
	transcript := [32]byte{1} // hash of what all members posted
	contributions := [][]byte{[]byte("32 random bytes that north drew."), []byte("32 random bytes that south drew.")}
	north, err := seed.Extract(transcript, contributions)
	if err != nil {
		fmt.Println(err)
		return
	}
	south, _ := seed.Extract(transcript, contributions)
	key, _ := north.Derive(seed.RecordRows)
	same, _ := south.Derive(seed.RecordRows)
	fmt.Println(key == same)

	fmt.Println(north) // a seed is never printed
	north.Destroy()
	_, err = north.Derive(seed.RecordRows)
	fmt.Println(err)
	// Output:
	// true
	// (secret)
	// deriving record rows: seed is absent or destroyed
}
