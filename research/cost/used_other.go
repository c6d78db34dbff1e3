//go:build !unix

package cost

import "time"

// used is the time of day: processor time is not asked for here.
func used() time.Duration { return time.Duration(time.Now().UnixNano()) }
