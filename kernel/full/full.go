// Package full tells tests how much to do: everything if COSKETCH_FULL is 1, as .ci/full sets it,
// else what fits into the two and a half minutes of go test ./... on two cores.
package full

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// Asked reports whether tests should do everything.
func Asked() bool { return os.Getenv("COSKETCH_FULL") == "1" }

// Or returns all if Asked, else plain: mostly a number of repetitions.
func Or[T any](plain, all T) T {
	if Asked() {
		return all
	}
	return plain
}

// Only skips a test unless Asked.
func Only(t testing.TB, does string) {
	t.Helper()
	if !Asked() {
		t.Skip(does + ": COSKETCH_FULL=1 asks for it")
	}
}

// Statistical skips a long simulation in one goroutine under -short. The race detector runs with
// -short, and has nothing to find there.
func Statistical(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a simulation in one goroutine")
	}
}

// Main is the TestMain of packages whose tests make much short-lived garbage. It collects garbage a
// quarter as often, up to a heap of one gigabyte, which saves a fifth of the time. It changes
// nothing for benchmarks or if GOGC is set, and keeps a limit that GOMEMLIMIT sets.
func Main(m *testing.M) {
	flag.Parse()
	if os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		debug.SetGCPercent(400)
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(1 << 30)
		}
	}
	m.Run()
}
