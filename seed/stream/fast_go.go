//go:build !amd64 || purego

package stream

// This build has no assembly: Block and the standard library do all the work.

func bestLevel() level { return plain }

func (Stream) hash(level, [][64]byte, [][]byte) int { return 0 }

func keystream(*[64]byte, []byte) bool { return false }
