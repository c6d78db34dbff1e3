package bench

import (
	"os"
	"strconv"
	"strings"
)

// loadAverage returns the mean number of running processes over the last minute, or 0 if the system
// does not report it.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}

// busy reports whether the load is too high to measure on so many threads.
func busy(load float64, threads int) bool { return load > 0.75*float64(threads) }
