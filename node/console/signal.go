package console

import (
	"context"
	"io"
	"os"
	"os/signal"
	"reflect"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
)

// longestEnd is how long a command that was told to end may take, unless it serves others.
const longestEnd = 5 * time.Second

// interruptible is a context that ends with the first SIGINT or SIGTERM. The program leaves at once where
// the command does not hear of it; and else at the second signal, or after longestEnd, unless it serves
// others. What is stored is whole then, as after a power cut. stop ends the watch.
func interruptible(leave func(), hears, serves bool) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-done:
			return
		case <-signals:
		}
		if !hears {
			leave()
			return
		}
		cancel()
		var late <-chan time.Time
		if !serves {
			timer := time.NewTimer(longestEnd)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-done:
		case <-signals:
			leave()
		case <-late:
			leave()
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		watching.Wait()
		cancel()
	}
}

// hears reports whether a command takes the context that a signal ends.
func hears(command *kong.Node) bool {
	run := command.Target.MethodByName("Run")
	if !run.IsValid() && command.Target.CanAddr() {
		run = command.Target.Addr().MethodByName("Run")
	}
	for i := range run.Type().NumIn() {
		if run.Type().In(i) == reflect.TypeFor[context.Context]() {
			return true
		}
	}
	return false
}

// until is the end of a context, for what reads and writes streams.
type until struct{ context.Context }

// writer writes until then.
func (u until) writer(w io.Writer) io.Writer { return untilWriter{u, w} }

// reader reads until then.
func (u until) reader(r io.Reader) io.Reader { return untilReader{u, r} }

type untilWriter struct {
	until
	w io.Writer
}

func (u untilWriter) Write(p []byte) (int, error) {
	if err := u.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}

type untilReader struct {
	until
	r io.Reader
}

func (u untilReader) Read(p []byte) (int, error) {
	if err := u.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
