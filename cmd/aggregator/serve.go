package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type serveCommand struct{ listening }

// listening has the addresses of a serving node.
type listening struct {
	Listen []string `placeholder:"MULTIADDR" help:"Where to listen, such as /ip4/0.0.0.0/tcp/7424. Default: the configuration file's."`
	HTTP   string   `name:"http" env:"AGGREGATOR_HTTP_LISTEN" placeholder:"HOST:PORT" help:"Where to show pages, the JSON API, health and metrics, such as 127.0.0.1:7480; off: nowhere. Default: the configuration file's."`
}

func (serveCommand) Help() string {
	return "Example: aggregator serve --listen /ip4/0.0.0.0/tcp/7424 --http 127.0.0.1:7480"
}

// Serves marks the command as a console.Server: it logs misspelt variables.
func (serveCommand) Serves() {}

// Run hosts every stored study until SIGINT or SIGTERM.
func (cmd serveCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	return cmd.host(ctx, c, g, st, c.Logger)
}

// host hosts every study of a store until ctx ends.
func (cmd serveCommand) host(ctx context.Context, c *console.Console, g *console.Globals, st *store.Store, logs func(config.Log) *slog.Logger) error {
	unlock, err := st.LockServing()
	if err != nil {
		return err
	}
	defer unlock()
	conf, err := cmd.configuration(g)
	if err != nil {
		return fail.Usage.Of(err)
	}
	logger := logs(conf.Log)
	c.FollowLevel(ctx, logger, func() (config.Log, error) {
		again, err := config.LoadAggregator(g.Config)
		return again.Log, err
	})
	if err := console.CheckState(ctx, st, logger); err != nil {
		return err
	}
	studies, err := console.Overview{Store: st}.Snapshots()
	if err != nil {
		return err
	}
	for _, s := range studies {
		if s.Restored != "" {
			logger.Warn(s.Restored, "study", s.Study[:8])
		}
	}
	shown, err := newShown(st, conf.HTTP, operator{st, quotas(conf)}, logger)
	if err != nil {
		return fail.Usage.Of(err)
	}
	told, err := newHooks(st, conf, shown)
	if err != nil {
		shown.close()
		return err
	}
	boundMemory(conf)
	a, err := aggregator.New(aggregator.Options{
		Store: st, Listen: conf.Listen, Limits: conf.Limits, Quotas: quotas(conf),
		Env: node.AggregatorEnv{Now: console.Now, Version: console.Version(), Log: logger, Observe: func(h event.Event) {
			shown.observe(h)
			told.observe(h)
		}},
	})
	if err != nil {
		shown.close()
		return fail.Usage.Of(err)
	}
	for _, text := range c.Misspelt {
		logger.Warn(text)
	}
	c.Began(logger, fmt.Sprintf("aggregator %s listens at %s; stop with Ctrl-C", a.ID(), strings.Join(a.Addrs(), ", ")), "listening", "id", a.ID().String(), "addresses", a.Addrs())
	if shown.listener != nil {
		c.Began(logger, shown.invitation(), "showing pages", "address", shown.address())
	}
	defer c.Ready()()
	for _, h := range conf.Webhooks {
		logger.Info("a webhook is told when studies move", "webhook", h.Name)
	}
	return told.beside(ctx, func(ctx context.Context) error { return shown.beside(ctx, a.Serve) })
}

// besides is the approximate memory that a node needs besides what its configuration bounds.
const besides = 256 << 20

// boundMemory sets the runtime's memory limit from the configuration, unless the environment sets
// one already.
func boundMemory(conf config.Aggregator) {
	boundTo(conf.Memory + max(conf.Limits.Memory, 512<<20) + besides)
}

// boundAnalysis is boundMemory for a command that only analyses.
func boundAnalysis(conf config.Aggregator) { boundTo(conf.Memory + besides/2) }

func boundTo(bytes int64) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(bytes)
	}
}

func (cmd listening) configuration(g *console.Globals) (config.Aggregator, error) {
	conf, err := config.LoadAggregator(g.Config)
	if err != nil {
		return conf, err
	}
	if len(cmd.Listen) > 0 {
		conf.Listen = nil
		for _, address := range cmd.Listen { // including those of the variable, which may be separated by spaces
			conf.Listen = append(conf.Listen, strings.TrimSpace(address))
		}
	}
	switch cmd.HTTP {
	case "":
	case "off":
		conf.HTTP.Listen = ""
	default:
		conf.HTTP.Listen = cmd.HTTP
	}
	return conf, conf.HTTP.Check()
}
