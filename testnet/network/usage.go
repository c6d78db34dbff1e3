package network

import "time"

// Usage is what a running process has taken; zero where the system does not say.
type Usage struct {
	Peak int64 // most bytes that were resident
	Own  int64 // bytes that are now, without those of files, which the system takes back when it wants
	CPU  time.Duration
}
