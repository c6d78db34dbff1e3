//go:build unix

package console

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"
)

func signalled(t *testing.T) {
	t.Helper()
	must(t, syscall.Kill(syscall.Getpid(), syscall.SIGINT))
}

// The first signal ends the context of a command that takes one, and the second ends the program.
func TestFirstAndSecondSignal(t *testing.T) {
	left := make(chan struct{})
	ctx, stop := interruptible(func() { close(left) }, true, true)
	signalled(t)
	<-ctx.Done()
	select {
	case <-left:
		t.Error("the first signal ended the program")
	default:
	}
	signalled(t)
	<-left
	stop()
}

// A command that takes no context ends with the first signal; one that has ended gets none.
func TestSignalsOfOthers(t *testing.T) {
	left := make(chan struct{})
	ctx, stop := interruptible(func() { close(left) }, false, false)
	signalled(t)
	<-left
	if ctx.Err() != nil {
		t.Error("the context ended")
	}
	stop()
	ctx, stop = interruptible(func() { t.Error("it left") }, true, false)
	stop()
	if ctx.Err() == nil {
		t.Error("the context goes on")
	}
}

type deaf struct{}

func (deaf) Run(*Console) error { return nil }

type hearing struct{}

func (*hearing) Run(context.Context) error { return nil }

func TestWhoHears(t *testing.T) {
	node := func(command any) *kong.Node { return &kong.Node{Target: reflect.ValueOf(command).Elem()} }
	if stopsOnSignal(node(new(deaf))) || !stopsOnSignal(node(new(hearing))) {
		t.Error("who takes a context hears, and nobody else")
	}
}

func TestStreamsEndWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	var out strings.Builder
	if _, err := io.Copy(until{ctx}.writer(&out), until{ctx}.reader(strings.NewReader("abc"))); err != nil || out.String() != "abc" {
		t.Errorf("%q, %v", out.String(), err)
	}
	cancel()
	if _, err := (until{ctx}).writer(&out).Write([]byte("d")); !errors.Is(err, context.Canceled) || out.String() != "abc" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if _, err := (until{ctx}).reader(strings.NewReader("abc")).Read(make([]byte, 3)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
