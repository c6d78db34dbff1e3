package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/monitor"
	"github.com/cosketch/cosketch/node/pages"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/views"
)

// shown is the web interface of a serving aggregator.
type shown struct {
	views    *views.Views
	monitor  *monitor.Aggregator
	server   *api.Server
	listener net.Listener // nil: off
	secure   *tls.Config
	logger   *slog.Logger
}

// newShown listens at the configured address, if there is one.
func newShown(st *store.Store, conf config.HTTP, at operator, logger *slog.Logger) (*shown, error) {
	s := &shown{logger: logger}
	if conf.Listen == "" {
		return s, nil
	}
	id, err := st.ID()
	if err != nil {
		return nil, err
	}
	registry := &metrics.Registry{}
	registry.Process(metrics.Build{Role: "aggregator", Version: console.Version(), Started: time.Now()})
	s.views, s.monitor = views.New(st), monitor.NewAggregator(registry, console.Overview{Store: st})
	var loopback bool
	if s.listener, loopback, err = api.Listen(conf.Listen); err != nil {
		return nil, fmt.Errorf("%w (http: listen, or --http, names the address, or off)", err)
	}
	s.listener = api.Limit{Connections: conf.Connections, Proxied: conf.BehindProxy, Secure: conf.TLS != nil, Metrics: registry, Logger: logger}.Listener(s.listener)
	if conf.TLS != nil {
		s.secure = &tls.Config{Certificates: []tls.Certificate{*conf.TLS()}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"}}
	}
	s.server, err = api.New(api.Options{
		Views: s.views, Desk: at, Aggregator: id, Version: console.Version(), Now: console.Now, Metrics: registry, Tokens: tokensOf(st), Logger: logger,
		Loopback: loopback, WithoutTokens: conf.WithoutTokens && !conf.BehindProxy, Proxied: conf.BehindProxy, Hosts: conf.Hosts, Streams: conf.Streams,
	})
	if err == nil {
		err = pages.Add(s.server)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// observe passes events to views and metrics.
func (s *shown) observe(h event.Event) {
	if s.listener != nil {
		s.views.Observe(h)
		s.monitor.Observe(h)
	}
}

// address is the URL of the pages for readers on this machine.
func (s *shown) address() string {
	scheme := "http"
	if s.secure != nil {
		scheme = "https"
	}
	return scheme + "://" + s.listener.Addr().String() + "/"
}

// invitation is the message to the person at the terminal with the address of the pages and a
// sign-in link. It must only go to a terminal: others may read a log.
func (s *shown) invitation() string {
	switch {
	case s.server.WithoutTokens:
		return "pages at " + s.address() + ", for all users of this machine without a token"
	case s.server.Loopback && s.secure == nil:
		return "pages at " + s.address() + "\nsign in, once and within an hour, at " + strings.TrimSuffix(s.address(), "/") + s.server.Link() + "\nor with a token: aggregator token create NAME --scope studies:read,results:read"
	}
	return "pages at " + s.address() + "; sign in with a token: aggregator token create NAME --scope studies:read,results:read"
}

func (s *shown) close() {
	if s.listener != nil {
		s.listener.Close()
	}
}

// beside serves readers while the node runs; the end of either, or of ctx, ends both.
func (s *shown) beside(ctx context.Context, node func(context.Context) error) error {
	if s.listener == nil {
		return node(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		defer cancel()
		ended <- api.Serve(ctx, s.listener, s.server, s.secure, s.logger)
	}()
	err := node(ctx)
	cancel()
	return errors.Join(err, <-ended)
}

// tokensOf reads tokens from a store.
func tokensOf(st *store.Store) api.Tokens {
	return func(id string) ([]byte, error) {
		record, err := st.Token(id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, api.ErrNotFound
		}
		return record, err
	}
}
