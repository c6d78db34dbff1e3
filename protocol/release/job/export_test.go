package job

// Fits returns nil if that many records make a release that others accept.
func (s Spec) Fits(records int64) error { return s.What.fits(s, records) }
