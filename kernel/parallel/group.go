package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// Group is goroutines that somebody starts and waits for, as those of a pipeline.
type Group struct {
	stop  func()
	wait  sync.WaitGroup
	first sync.Once
	fault *Panic
}

// NewGroup returns a group without goroutines. Should one panic, stop is called, once, on
// that goroutine: it tells the others that nobody wants what they do any more.
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

// Wait waits until all goroutines have ended. If one has panicked, the first such call
// panics with the *Panic of the first that did; others return.
func (g *Group) Wait() {
	g.wait.Wait()
	if p := g.fault; p != nil {
		g.fault = nil
		panic(p)
	}
}

// Panic is a worker's panic where somebody waits for the worker, so that a recover there
// is enough.
type Panic struct {
	Value any    // what the worker panicked with
	Stack string // the worker's, as that of the goroutine that waits says nothing of it
}

// Error has the stack, too: it is all that shows where the mistake is.
func (p *Panic) Error() string { return fmt.Sprintf("%v\n\nworker's %s", p.Value, p.Stack) }

func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Recovered takes apart what recover returned, in the deferred function that called it:
// what the panic said, and the stack of the goroutine that panicked, a worker's included.
func Recovered(v any) (said any, stack string) {
	if p, ok := v.(*Panic); ok {
		return p.Value, "worker's " + p.Stack + "\nwhich was waited for by " + string(debug.Stack())
	}
	return v, string(debug.Stack())
}

// carried must be called while the panic is recovered, on its goroutine. What was carried
// before, out of a loop within a loop, stays what it is.
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
