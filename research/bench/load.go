package bench

import (
	"os"
	"strconv"
	"strings"
)

// loadAverage returns how many processes the machine has run at once in the last
// minute, on average, or 0 where it does not tell.
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

// busy reports whether so high a load leaves too little of these processors to measure.
func busy(load float64, threads int) bool { return load > 0.75*float64(threads) }
