package job

// Fits reports whether so many records make a release that others take.
func (s Spec) Fits(records int64) error { return s.What.fits(s, records) }
