package network

// CanPause says whether this system stops processes and lets them go on.
const CanPause = false

// Pause does nothing here.
func (s *Started) Pause() error { return nil }

// Resume does nothing here.
func (s *Started) Resume() error { return nil }

// PeakMemory is not known here.
func (s *Started) PeakMemory() int64 { return 0 }
