//go:build !amd64 || purego

package kernels

import "github.com/cosketch/cosketch/kernel/cpu"

// The functions below replace the assembly of amd64. They are never called: only levels above Go
// call them, and this build has none.

const noAssembly = "kernels: a level that this build does not have"

func signTile(cpu.Level, *int64, int, *int16, int, *uint64, int) { panic(noAssembly) }

func narrowAVX2(*int16, *int64, int) bool { panic(noAssembly) }

func withinAVX2(*int64, int, int64) bool { panic(noAssembly) }

func addRowsAVX2(*int64, *int64, int, int, *uint32, int, *int64, int) { panic(noAssembly) }

func squaredNormsAVX2(*uint64, *int64, int, int) bool { panic(noAssembly) }

func hadamardBlocks(cpu.Level, *int64, *int16, *int16, int) int { panic(noAssembly) }

func hadamardEights(cpu.Level, *int64, int) { panic(noAssembly) }

func twosAVX2(*int64, int) { panic(noAssembly) }

func gather(*int64, *int64, *int32, int) { panic(noAssembly) }
