package parallel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
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

// Every piece is done once, and never two pieces at once with the same worker number.
func TestShareTakesEachPieceOnce(t *testing.T) {
	for _, pieces := range []int{0, 1, 2, 1000} {
		for _, workers := range []int{-1, 0, 1, 2, 7} {
			calls, busy := make([]atomic.Int32, pieces), make([]atomic.Bool, max(workers, 1))
			Share(pieces, workers, func(worker, piece int) {
				if busy[worker].Swap(true) {
					t.Errorf("two workers have the number %d of %d", worker, workers)
				}
				calls[piece].Add(1)
				busy[worker].Store(false)
			})
			for i := range calls {
				if got := calls[i].Load(); got != 1 {
					t.Errorf("%d workers: piece %d of %d was done %d times", workers, i, pieces, got)
				}
			}
		}
	}
}

// caught returns what a call panics with.
func caught(call func()) (v any) {
	defer func() { v = recover() }()
	call()
	return nil
}

func stumble(piece, at int) {
	if piece == at {
		panic("stumbled")
	}
}

// A worker's panic reaches the caller and shows where the worker was.
func TestPanicsArriveAtTheCaller(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	calls := map[string]func(){
		"one piece":   func() { Share(1, 4, func(_, piece int) { stumble(piece, 0) }) },
		"For":         func() { For(100, func(i int) { stumble(i, 50) }) },
		"a last one":  func() { Share(100, 4, func(_, piece int) { stumble(piece, 99) }) },
		"each":        func() { Share(100, 4, func(int, int) { stumble(0, 0) }) },
		"within":      func() { Share(9, 3, func(int, int) { For(9, func(i int) { stumble(i, 3) }) }) },
		"within one":  func() { Share(1, 1, func(int, int) { Share(9, 1, func(_, i int) { stumble(i, 3) }) }) },
		"with an end": func() { ShareUntil(t.Context(), 100, 3, func(_, piece int) { stumble(piece, 7) }) },
	}
	for workers := range 5 {
		calls[fmt.Sprint(workers)] = func() { Share(100, workers, func(_, piece int) { stumble(piece, 7) }) }
	}
	for name, call := range calls {
		p, ok := caught(call).(*Panic)
		if !ok || p.Value != "stumbled" || !strings.Contains(p.Stack, "parallel.stumble(") || strings.Contains(p.Stack, "*Panic") {
			t.Errorf("%s: recovered %v", name, p)
			continue
		}
		if text := p.Error(); !strings.HasPrefix(text, "stumbled\n") || !strings.Contains(text, "parallel.stumble(") {
			t.Errorf("%s: %q says too little", name, text)
		}
	}
}

// When Share panics nothing runs on, and pieces that were not begun are left: they would take
// forever.
func TestNothingIsBegunAfterAPanic(t *testing.T) {
	const workers, pieces = 4, math.MaxInt32
	var ended atomic.Int64
	running := make([]bool, workers)
	p := caught(func() {
		Share(pieces, workers, func(worker, piece int) {
			running[worker] = true
			stumble(piece, 1000)
			running[worker] = false
			ended.Add(1)
		})
	})
	still := 0
	for _, r := range running {
		if r {
			still++
		}
	}
	if p == nil || still != 1 || ended.Load() > pieces/2 {
		t.Errorf("%v: after %d pieces, %d workers are in the midst of one", p, ended.Load(), still)
	}
}

func TestAnEndStopsTheWork(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, workers := range []int{1, 3} {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int32
		err := ShareUntil(ctx, 1000, workers, func(_, piece int) {
			done.Add(1)
			if piece == 5 {
				cancel()
			}
			if piece > 5 {
				<-ctx.Done()
			}
		})
		if !errors.Is(err, context.Canceled) || done.Load() > 5+int32(workers) {
			t.Errorf("%d workers: %v after %d pieces", workers, err, done.Load())
		}
	}
	if err := ShareUntil(t.Context(), 10, 3, func(int, int) {}); err != nil {
		t.Error(err)
	}
}

// A group stops at the first panic, which Wait carries once.
func TestGroupCarriesOnePanic(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	stopped := 0
	g := NewGroup(func() { stopped++; cancel() })
	for range 3 {
		g.Go(func() { <-ctx.Done() })
	}
	for range 2 {
		g.Go(func() { stumble(0, 0) })
	}
	if p, ok := caught(g.Wait).(*Panic); !ok || p.Value != "stumbled" {
		t.Errorf("recovered %v", p)
	}
	if p := caught(g.Wait); p != nil || stopped != 1 {
		t.Errorf("afterwards recovered %v, stopped %d times", p, stopped)
	}
}

func TestRecovered(t *testing.T) {
	broken := func() { _ = make([]int, 1)[len(t.Name())] }
	for name, call := range map[string]func(){
		"here":     broken,
		"a worker": func() { Share(2, 2, func(int, int) { broken() }) },
	} {
		func() {
			defer func() {
				v := recover()
				said, stack := Recovered(v)
				var fault runtime.Error
				if err, ok := said.(error); !ok || !errors.As(err, &fault) || !strings.Contains(stack, "TestRecovered.func1(") || strings.Count(stack, "goroutine ") < 1 {
					t.Errorf("%s: said %v, with the stack %s", name, said, stack)
				}
				if err, ok := v.(error); !ok || !errors.As(err, &fault) {
					t.Errorf("%s: %v is no error of the runtime", name, v)
				}
			}()
			call()
		}()
	}
}
