// Package full tells tests how much to do: all they can if COSKETCH_FULL is 1, as .ci/full sets it, else what fits
// into the two and a half minutes of go test ./... on two cores.
package full

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Asked reports whether tests are to do all they can.
func Asked() bool { return os.Getenv("COSKETCH_FULL") == "1" }

// Or is plain in an ordinary run, and all where everything is asked for: mostly how often something is repeated.
func Or[T any](plain, all T) T {
	if Asked() {
		return all
	}
	return plain
}

// Only skips a test that is done where everything is asked for alone.
func Only(t testing.TB, does string) {
	t.Helper()
	if !Asked() {
		t.Skip(does + ": COSKETCH_FULL=1 asks for it")
	}
}

// Statistical skips a long simulation in one goroutine under -short, with which the race detector runs: it has nothing
// to find there.
func Statistical(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a simulation in one goroutine")
	}
}

// Main is the TestMain of packages whose tests make much garbage of little lasting: it is collected a quarter as often,
// which saves a fifth of their time, and as ever from a gigabyte on. Benchmarks, and who sets GOGC, are left alone.
func Main(m *testing.M) {
	flag.Parse()
	if os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
		debug.SetMemoryLimit(1 << 30)
	}
	m.Run()
}
