package main

import (
	"context"
	"strings"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type serveCommand struct {
	Listen []string `placeholder:"MULTIADDR" help:"Where to listen, such as /ip4/0.0.0.0/tcp/7424. Default: the configuration file's."`
}

// Run hosts every stored study until SIGINT or SIGTERM.
func (cmd serveCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	conf, err := config.LoadAggregator(g.Config)
	if err != nil {
		return console.WithCode(console.Usage, err)
	}
	if len(cmd.Listen) > 0 {
		conf.Listen = cmd.Listen
	}
	a, err := node.NewAggregator(node.AggregatorOptions{
		Store: st, Listen: conf.Listen, Limits: conf.Limits,
		Now: console.Now, Version: console.Version(), Logger: c.Logger(conf.Log),
	})
	if err != nil {
		return console.WithCode(console.Usage, err)
	}
	c.Say("aggregator %s listens at %s; stop with Ctrl-C", a.ID(), strings.Join(a.Addrs(), ", "))
	defer c.Ready()()
	return a.Serve(ctx)
}
