//go:build !amd64 || purego

package cpu

// Best returns the fastest level that this build has.
func Best() Level { return Go }
