package main

import (
	"crypto/rand"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

type initCommand struct{}

type identity struct {
	ID     string `json:"id"`
	State  string `json:"state"`
	Config string `json:"config"`
}

// Run makes the state directory and, where there is none, a commented site file.
func (initCommand) Run(c *console.Console, g *console.Globals) error {
	if err := store.Create(g.State, store.Party, rand.Reader); err != nil {
		return console.WithCode(console.Usage, err)
	}
	if err := console.WriteTemplate(g.Config, config.PartyTemplate()); err != nil {
		return err
	}
	id, err := describe(g)
	if err != nil {
		return err
	}
	return c.Print(id, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n", id.ID)
		c.Say("This node's peer id is above; its state is in %s, its site file is %s.", id.State, id.Config)
		c.Say("Next: give the peer id to whoever writes the study file, and name your data in the site file.")
	})
}

type identityCommand struct{}

// Run prints the identity.
func (identityCommand) Run(c *console.Console, g *console.Globals) error {
	id, err := describe(g)
	if err != nil {
		return err
	}
	return c.Print(id, func(w io.Writer) { fmt.Fprintln(w, id.ID) })
}

func describe(g *console.Globals) (identity, error) {
	st, err := g.Open(store.Party)
	if err != nil {
		return identity{}, err
	}
	defer st.Close()
	id, err := st.ID()
	if err != nil {
		return identity{}, err
	}
	return identity{ID: id.String(), State: g.State, Config: g.Config}, nil
}
