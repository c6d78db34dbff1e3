//go:build amd64 && !purego

package stream

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"

	"github.com/cosketch/cosketch/seed/secret"
)

// This file computes BLAKE2b-512 and AES-256-CTR in assembly, bit-identical to the standard
// packages; tests check this. It is faster on short inputs, as sixteen labels are hashed at once
// and a keystream does not allocate.
//
// Its levels differ from those of kernel/cpu for two reasons. Package seed imports nothing of
// kernel, so that code that handles keys can be read by itself. And hashing needs less of AVX-512,
// while the keystream needs AES instructions.

//go:noescape
func hashAVX2(state *[8][lanes]uint64, message *[16][lanes]uint64, lengths *[lanes]uint64)

//go:noescape
func hashAVX512(state *[8][lanes]uint64, message *[16][lanes]uint64, lengths *[lanes]uint64)

//go:noescape
func expandKey(schedule *[240]byte, key *byte)

//go:noescape
func counterGroups(dst *byte, schedule *[240]byte, first uint64, groups int)

// lanes is the number of labels hashed at once.
const lanes = 16

// oneBlock is the length of the longest label that fits the hash's first block together with the
// key.
const oneBlock = 128 - 32

func bestLevel() level {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX2:
		return avx512
	case x.HasAVX2:
		return avx2
	}
	return plain
}

// hash hashes labels from the first on, as far as it can, and returns how many it has hashed.
func (s Stream) hash(l level, blocks [][64]byte, labels [][]byte) int {
	if l == plain || len(labels) < 2 {
		return 0
	}
	var (
		message [16][lanes]uint64
		state   [8][lanes]uint64
		lengths [lanes]uint64
	)
	for i := range 4 {
		word := binary.LittleEndian.Uint64(secret.Reveal(s.key)[8*i:])
		for lane := range lanes {
			message[i][lane] = word
		}
	}
	for done := 0; done < len(labels); {
		some := labels[done:min(done+lanes, len(labels))]
		for lane, label := range some {
			if len(label) > oneBlock {
				return done
			}
			setWords(&message, lane, label, int(lengths[lane]))
			lengths[lane] = uint64(32 + len(label))
		}
		if l == avx512 { // unused lanes hash their previous content
			hashAVX512(&state, &message, &lengths)
		} else {
			hashAVX2(&state, &message, &lengths)
		}
		for lane := range some {
			block := &blocks[done+lane]
			for i := range state {
				binary.LittleEndian.PutUint64(block[8*i:], state[i][lane])
			}
		}
		done += len(some)
	}
	return len(labels)
}

// setWords writes a label after the key, over a message of length before.
func setWords(message *[16][lanes]uint64, lane int, label []byte, before int) {
	i := 4
	for ; len(label) >= 8; i++ {
		message[i][lane] = binary.LittleEndian.Uint64(label)
		label = label[8:]
	}
	var word uint64
	for j, b := range label {
		word |= uint64(b) << (8 * j)
	}
	if i < len(message) {
		message[i][lane] = word
	}
	for i++; 8*i < before; i++ {
		message[i][lane] = 0
	}
}

// groupSize is the number of bytes that counterGroups writes per group.
const groupSize = 8 * 16

// keystream fills dst as Expand does. It returns false if this machine lacks the instructions.
func keystream(key *[64]byte, dst []byte) bool {
	if !cpu.X86.HasAES || !cpu.X86.HasSSE41 {
		return false
	}
	var schedule [240]byte
	expandKey(&schedule, &key[0])
	groups := len(dst) / groupSize
	if groups > 0 {
		counterGroups(&dst[0], &schedule, 0, groups)
	}
	if rest := dst[groups*groupSize:]; len(rest) > 0 {
		var last [groupSize]byte
		counterGroups(&last[0], &schedule, uint64(groups)*8, 1)
		copy(rest, last[:])
	}
	return true
}
