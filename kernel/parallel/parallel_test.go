package parallel

import (
	"sync/atomic"
	"testing"
)

func TestForCallsEachOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		calls := make([]atomic.Int32, n)
		For(n, func(i int) { calls[i].Add(1) })
		for i := range calls {
			if got := calls[i].Load(); got != 1 {
				t.Errorf("call %d of %d was made %d times", i, n, got)
			}
		}
	}
}

func TestForPanicsWhereItWasCalled(t *testing.T) {
	for _, n := range []int{1, 100} {
		func() {
			defer func() {
				if p := recover(); p != "here" {
					t.Errorf("of %d: recovered %v", n, p)
				}
			}()
			For(n, func(i int) {
				if i == n/2 {
					panic("here")
				}
			})
			t.Errorf("of %d: nothing was recovered", n)
		}()
	}
}
