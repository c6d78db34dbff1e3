package network

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks is the number of units of processor time that Linux counts per second.
const ticks = 100

// Resident returns the usage of a running process.
func (s *Started) Resident() (out Usage) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return out
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64)
		switch fields[0] {
		case "VmHWM:":
			out.Peak = kib << 10
		case "RssAnon:":
			out.Own = kib << 10
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		return out
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // fields from the third on
	if len(fields) > 12 {
		user, _ := strconv.ParseInt(fields[11], 10, 64)
		system, _ := strconv.ParseInt(fields[12], 10, 64)
		out.CPU = time.Duration(user+system) * time.Second / ticks
	}
	return out
}
