package projection

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/big"
	"sort"

	"golang.org/x/crypto/blake2b"
)

// keyed is the source of rows that studies use, implemented a second time: BLAKE2b-512(key ‖
// label), expanded by AES-256-CTR.
type keyed [32]byte

func (k keyed) Block(label []byte) [64]byte {
	return blake2b.Sum512(append(k[:], label...))
}

func (k keyed) Expand(block *[64]byte, dst []byte) {
	c, err := aes.NewCipher(block[:32])
	if err != nil {
		panic(err)
	}
	cipher.NewCTR(c, make([]byte, aes.BlockSize)).XORKeyStream(dst, make([]byte, len(dst)))
}

// trial returns the source of one trial of a simulation.
func trial(n int) (k keyed) {
	binary.LittleEndian.PutUint64(k[:], uint64(n)+1)
	return k
}

// dense returns the row of a label, straight from the definition.
func dense(s Spec, source Source, label []byte) []int64 {
	row, block := make([]int64, s.K), source.Block(label)
	switch s.Family {
	case Sparse:
		for b := range s.S {
			w := binary.LittleEndian.Uint64(block[8*b:])
			place := new(big.Int).SetUint64(w - w%2)
			place.Mul(place, big.NewInt(int64(s.K/s.S)))
			place.Rsh(place, 64)
			row[b*(s.K/s.S)+int(place.Int64())] = []int64{1, -1}[w%2]
		}
	case Rademacher:
		stream := make([]byte, s.K)
		source.Expand(&block, stream)
		for i := range row {
			row[i] = []int64{1, -1}[stream[i/8]/(1<<(i%8))%2]
		}
	case Achlioptas:
		stream := make([]byte, 100+2*s.K)
		source.Expand(&block, stream)
		i := 0
		for _, b := range stream {
			switch {
			case i == s.K:
				return row
			case b < 42:
				row[i] = 1
			case b < 84:
				row[i] = -1
			case b >= 252:
				continue
			}
			i++
		}
	case Gaussian:
		stream := make([]byte, 8*s.K)
		source.Expand(&block, stream)
		for i := range row {
			w := binary.LittleEndian.Uint64(stream[8*i:])
			row[i] = int64(sort.Search(gaussianLargest, func(j int) bool { return threshold(j+1) > w/2 }))
			if w%2 == 1 {
				row[i] = -row[i]
			}
		}
	}
	return row
}
