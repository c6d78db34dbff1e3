package network

import "time"

// Usage is what a running process has taken; zero where the system does not say.
type Usage struct {
	Peak int64 // most bytes that were resident
	CPU  time.Duration
}
