//go:build amd64 && !purego

package cpu

import "golang.org/x/sys/cpu"

// Best returns the fastest level that this machine has.
func Best() Level {
	switch x := &cpu.X86; {
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512VNNI && x.HasAVX2:
		return AVX512
	case x.HasAVX2:
		return AVX2
	}
	return Go
}
