package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/monitor"
	"github.com/cosketch/cosketch/node/store"
)

// watch answers /healthz, /readyz and /metrics at an address, unless it is empty, until ctx ends.
// It returns the observer of the party.
func watch(ctx context.Context, watching *sync.WaitGroup, st *store.Store, address string, logger *slog.Logger) (event.Observer, error) {
	logs := logProgress(logger)
	if address == "" {
		return logs, nil
	}
	listener, err := listenProbes(address)
	if err != nil {
		return nil, fmt.Errorf("%w (metrics: in the site file names another address)", err)
	}
	registry := &metrics.Registry{}
	registry.Process(metrics.Build{Role: "party", Version: console.Version(), Started: time.Now()})
	studies := console.Overview{Store: st}
	counts := monitor.NewParty(registry, studies)
	probes := api.Probes{Ready: func() error { return monitor.Ready(studies) }, Metrics: registry, Logger: logger}
	listener = api.Limit{Metrics: registry, Logger: logger}.Listener(listener)
	watching.Go(func() {
		if err := api.Serve(ctx, listener, probes.Handler(), nil, logger); err != nil {
			logger.Error("health and metrics are not answered any more", "error", err)
		}
	})
	return func(p event.Progress) {
		logs(p)
		counts.Observe(p)
	}, nil
}

// listenProbes listens at a loopback address.
func listenProbes(address string) (net.Listener, error) {
	listener, loopback, err := api.Listen(address)
	if err == nil && !loopback {
		listener.Close()
		err = fmt.Errorf("metrics: %s is no address of the loopback interface", address)
	}
	return listener, err
}

// logProgress logs what the operator of a daemon may look for later.
func logProgress(logger *slog.Logger) event.Observer {
	return func(p event.Progress) {
		study := p.Study.Short()
		switch p.Milestone {
		case event.Waiting:
			logger.Info("study", "study", study, "state", p.Status.State, "waits_for", p.Status.WaitFor)
		case event.Checked, event.Parts, event.Held, event.Projected:
			logger.Info("data "+string(p.Milestone), "study", study, "note", p.Note)
		case event.Clocks:
			logger.Warn(p.Note, "study", study)
		case event.Persisted:
			logger.Debug("message stored", "study", study, "kind", p.Kind)
		case event.Debited, event.Stored, event.Uploaded, event.Finished:
			logger.Info("release "+string(p.Milestone), "study", study)
		}
	}
}
