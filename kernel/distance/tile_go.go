//go:build !amd64 || purego

package distance

import "github.com/cosketch/cosketch/kernel/cpu"

// The functions below replace the assembly of amd64. Only levels above Go call them, and this build
// has none.

const noAssembly = "distance: a level that this build does not have"

func tileScores(cpu.Level, *float32, *float32, *float32, int) { panic(noAssembly) }

func tileBelow(*uint32, *float32, *float32) bool { panic(noAssembly) }

func tileLeast(*BestRows, *float32, int32) { panic(noAssembly) }
