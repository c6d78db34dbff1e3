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

// longestEnd is the time limit for a command to end after a signal, unless it is a server.
const longestEnd = 5 * time.Second

// interruptible returns a context that ends with the first SIGINT or SIGTERM. It calls leave at
// once if the command does not take the context; otherwise at the second signal, or after
// longestEnd unless the command is a server. Stored data are then consistent, as after a power
// failure. stop ends the watch.
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

// stopsOnSignal reports whether a command's Run takes the context that a signal ends.
func stopsOnSignal(command *kong.Node) bool {
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

// until makes readers and writers fail once a context has ended.
type until struct{ context.Context }

func (u until) writer(w io.Writer) io.Writer { return untilWriter{u, w} }

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
