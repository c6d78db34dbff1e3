//go:build !unix

package cost

import "time"

// used returns wall time: this system's processor time is not read.
func used() time.Duration { return time.Duration(time.Now().UnixNano()) }
