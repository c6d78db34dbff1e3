//go:build !linux

package network

// Resident looks at a running process, where the system says.
func (s *Started) Resident() Usage { return Usage{} }
