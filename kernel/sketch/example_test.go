package sketch_test

import (
	"crypto/sha512"
	"fmt"
	"math/rand/v2"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// source derives bytes from labels. Studies use the source of package seed/stream, under a key of
// their seed.
type source struct{}

func (source) Block(label []byte) [64]byte { return sha512.Sum512(label) }

func (source) Expand(block *[64]byte, dst []byte) {
	rand.NewChaCha8([32]byte(block[:32])).Read(dst)
}

// The sum of two parties' sketches is bit-identical to the sketch of their records together.
func ExampleAdd() {
	build := func(ids ...string) sketch.Sketch {
		matrix, err := projection.New(projection.Spec{Family: projection.Sparse, K: 64, S: 1}, source{})
		if err != nil {
			panic(err)
		}
		b, err := sketch.NewColumns(matrix, sketch.ColumnsOptions{Columns: 2, Largest: 16})
		if err != nil {
			panic(err)
		}
		for i, id := range ids {
			if err := b.Add([][]byte{[]byte(id)}, []int64{int64(len(id)), int64(i % 2)}); err != nil {
				panic(err)
			}
		}
		return b.Sketch()
	}
	both, err := sketch.Add(build("anna", "bo"), build("carolina", "dick"))
	if err != nil {
		fmt.Println(err)
		return
	}
	all := build("anna", "bo", "carolina", "dick")
	fmt.Println(fmt.Sprint(both) == fmt.Sprint(all))
	// Output:
	// true
}
