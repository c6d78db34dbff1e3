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

// environment is the environment of this program's nodes.
func environment(observe event.Observer) node.PartyEnv {
	return node.PartyEnv{Now: console.Now, Observe: observe, Version: console.Version()}
}

// siteFile returns a function that reads the party's configuration again at each call.
func siteFile(g *console.Globals) func() (config.Party, error) {
	return func() (config.Party, error) { return config.LoadParty(g.Config) }
}

// sourceOf returns a study at this party and its data for it, for a command that contacts nobody.
// observe may be nil.
func sourceOf(st *store.Store, g *console.Globals, s *study.Study, observe event.Observer) source.Options {
	return source.Options{Env: environment(observe), Store: st, Site: siteFile(g), Study: s}
}
