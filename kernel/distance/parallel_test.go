package distance

import (
	"runtime"
	"testing"
)

func TestParallelPanicsWhereItWasCalled(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, workers := range []int{0, 1, 4} {
		func() {
			defer func() {
				if p := recover(); p != "here" {
					t.Errorf("%d workers: recovered %v", workers, p)
				}
			}()
			Parallel(20, workers, func(worker, piece int) {
				if worker >= max(workers, 1) {
					t.Errorf("worker %d of %d", worker, workers)
				}
				if piece == 7 {
					panic("here")
				}
			})
			t.Errorf("%d workers: nothing was recovered", workers)
		}()
	}
}
