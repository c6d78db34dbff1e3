package network

// CanPause reports whether this system can stop and continue processes.
const CanPause = false

// Pause does nothing on this system.
func (s *Started) Pause() error { return nil }

// Resume does nothing on this system.
func (s *Started) Resume() error { return nil }

// PeakMemory is unknown on this system.
func (s *Started) PeakMemory() int64 { return 0 }
