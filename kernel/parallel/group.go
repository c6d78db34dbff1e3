package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is a set of goroutines that a caller starts and waits for, such as those of a pipeline.
type Group struct {
	stop  func()
	wait  sync.WaitGroup
	first sync.Once
	fault *Panic
}

// NewGroup returns a group without goroutines. If one panics, stop is called, once, on that
// goroutine, to tell the others to stop.
func NewGroup(stop func()) *Group { return &Group{stop: stop} }

// Go starts a goroutine.
func (g *Group) Go(do func()) {
	g.wait.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				g.first.Do(func() {
					g.fault = carried(v)
					g.stop()
				})
			}
		}()
		do()
	})
}

// Wait waits until all goroutines have ended. If any panicked, the first such call panics with the
// *Panic of the first that did; others return.
func (g *Group) Wait() {
	g.wait.Wait()
	if p := g.fault; p != nil {
		g.fault = nil
		panic(p)
	}
}

// Panic carries a worker's panic to the goroutine that waits for it, so that a recover there is
// enough.
type Panic struct {
	Value any    // what the worker panicked with
	Stack string // the worker's stack; the waiting goroutine's does not show where it panicked
}

// Error includes the stack: only it shows where the mistake is.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\nworker's %s", p.Value, p.Stack) }

func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered returns the value of a panic and the stack of the goroutine that panicked, which may be
// a worker. v is what recover returned; call Recovered in the same deferred function.
func Recovered(v any) (said any, stack string) {
	if p, ok := v.(*Panic); ok {
		return p.Value, "worker's " + p.Stack + "\nwhich was waited for by " + string(debug.Stack())
	}
	return v, string(debug.Stack())
}

// carried must be called while the panic is recovered, on its goroutine. A *Panic out of a nested
// loop is returned unchanged.
func carried(v any) *Panic {
	if p, ok := v.(*Panic); ok {
		return p
	}
	return &Panic{Value: v, Stack: string(debug.Stack())}
}

// carrying calls do, and panics with a *Panic if it panics.
func carrying(do func()) {
	defer func() {
		if v := recover(); v != nil {
			panic(carried(v))
		}
	}()
	do()
}
