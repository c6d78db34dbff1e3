// Package parallel divides loops among the processors.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// For calls do for 0 to n−1, each once, in any order and several at a time, and returns
// when all calls have. A call that panics stops the handing out of others, and For panics
// with the same value where it was called, so that a caller's recover is enough.
func For(n int, do func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var (
		taken atomic.Int64
		wait  sync.WaitGroup
		once  sync.Once
		fault any
	)
	for range workers {
		wait.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					taken.Store(int64(n))
					once.Do(func() { fault = p })
				}
			}()
			for i := taken.Add(1) - 1; i < int64(n); i = taken.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	wait.Wait()
	if fault != nil {
		panic(fault)
	}
}
