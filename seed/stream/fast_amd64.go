//go:build amd64 && !purego

package stream

import (
	"encoding/binary"

	"golang.org/x/sys/cpu"
)

// What this file computes in assembly is BLAKE2b-512 and AES-256-CTR to the bit, as
// the tests hold it to their packages: faster on short inputs, as eight labels are
// hashed at once and a keystream allocates nothing.

//go:noescape
func hashLanes(state *[8][lanes]uint64, message *[16][lanes]uint64, lengths *[lanes]uint64)

//go:noescape
func expandKey(schedule *[240]byte, key *byte)

//go:noescape
func counterGroups(dst *byte, schedule *[240]byte, first uint64, groups int)

// lanes is the number of labels that are hashed at once.
const lanes = 8

// oneBlock is the longest label that fits the hash's first block beside the key.
const oneBlock = 128 - 32

// blocks does what it can of Blocks and returns how many that was.
func (s Stream) blocks(blocks [][64]byte, labels [][]byte) int {
	if !cpu.X86.HasAVX512F {
		return 0
	}
	var (
		message [16][lanes]uint64
		state   [8][lanes]uint64
		lengths [lanes]uint64
	)
	for i := range 4 {
		for lane := range lanes {
			message[i][lane] = binary.LittleEndian.Uint64((*s.key)[8*i:])
		}
	}
	done := 0
	for ; done+lanes <= len(labels); done += lanes {
		for lane, label := range labels[done : done+lanes] {
			if len(label) > oneBlock {
				return done
			}
			lengths[lane] = uint64(32 + len(label))
			setWords(&message, lane, label)
		}
		hashLanes(&state, &message, &lengths)
		for lane := range lanes {
			block := &blocks[done+lane]
			for i := range state {
				binary.LittleEndian.PutUint64(block[8*i:], state[i][lane])
			}
		}
	}
	return done
}

// setWords writes a label behind the key, filled up with zeros.
func setWords(message *[16][lanes]uint64, lane int, label []byte) {
	i := 4
	for ; len(label) >= 8; i++ {
		message[i][lane] = binary.LittleEndian.Uint64(label)
		label = label[8:]
	}
	var word uint64
	for j, b := range label {
		word |= uint64(b) << (8 * j)
	}
	for ; i < len(message); i++ {
		message[i][lane] = word
		word = 0
	}
}

// groupSize is what counterGroups writes at a time.
const groupSize = 8 * 16

// keystream fills dst as Expand does, or reports that this machine cannot.
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
