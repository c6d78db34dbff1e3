package main

import (
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

// environment is what this program has of the world.
func environment(observe event.Observer) node.PartyEnv {
	return node.PartyEnv{Now: console.Now, Observe: observe, Version: console.Version()}
}

// siteFile reads the party's configuration, anew at each call.
func siteFile(g *console.Globals) func() (config.Party, error) {
	return func() (config.Party, error) { return config.LoadParty(g.Config) }
}

// sourceOf is a study at this party and its data for it, for a command that speaks to nobody. Observe may be nil.
func sourceOf(st *store.Store, g *console.Globals, s *study.Study, observe event.Observer) source.Options {
	return source.Options{Env: environment(observe), Store: st, Site: siteFile(g), Study: s}
}
