package network

import "time"

// Usage is the resource usage of a running process; zero if the system does not report it.
type Usage struct {
	Peak int64 // peak resident memory in bytes
	Own  int64 // current resident memory in bytes, without file pages, which the system can reclaim
	CPU  time.Duration
}
