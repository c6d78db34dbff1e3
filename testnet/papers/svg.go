package papers

// svg draws a chart.
func (c chart) svg() []byte { return nil }
