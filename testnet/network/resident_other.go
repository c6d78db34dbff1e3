//go:build !linux

package network

// Resident returns zero, as this system does not report usage.
func (s *Started) Resident() Usage { return Usage{} }
