package aggregator

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/protocol"
)

// Offline is an aggregator that hosts one study without a network, for bundles. It holds the study's
// lock, so no serving aggregator hosts the study meanwhile.
type Offline struct {
	server *server
	hosted *hosted
	cancel context.CancelFunc
	done   chan struct{}
}

// OpenOffline takes up a study from the store. It returns store.ErrLocked if the study is being
// served. Options.Listen is not used. The caller must call Close.
func OpenOffline(ctx context.Context, o Options, id protocol.StudyID) (*Offline, error) {
	common, err := newShared(o)
	if err != nil {
		return nil, err
	}
	common.Uptime = nil // a command does not outlast a grace period
	a := newServer(common)
	h, err := a.open(id)
	if err != nil {
		return nil, fmt.Errorf("opening study %s: %w", id.Short(), err)
	}
	a.enter(h.study)
	a.admit(h)
	ctx, cancel := context.WithCancel(ctx)
	d := &Offline{server: a, hosted: h, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		h.run(ctx)
	}()
	return d, nil
}

// Close ends the study's goroutine and releases its lock. Everything imported is stored.
func (d *Offline) Close() {
	d.cancel()
	<-d.done
	d.server.refusals.Close()
}

// Settle waits until the study has done all it can do now: dates checked, results computed.
func (d *Offline) Settle(ctx context.Context) error {
	for {
		var busy bool
		if err := d.hosted.do(ctx, func() error {
			busy = !d.hosted.isSettled() || d.hosted.running || d.hosted.pending != nil
			return nil
		}); err != nil {
			return err
		}
		if !busy {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Import imports the bundle of a party of the desk's study, after ReadLabel. On an error, what came
// before it stays imported; importing again changes nothing.
func (d *Offline) Import(ctx context.Context, label bundle.Label, in io.Reader) (Arrived, error) {
	got, err := d.server.take(ctx, label, in)
	if err == nil {
		err = d.Settle(ctx)
	}
	return got, err
}
