package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type initCommand struct{}

func (initCommand) Help() string { return "Example: aggregator init" }

type identity struct {
	ID     string `json:"id"`
	Words  string `json:"words"` // its fingerprint, to be read aloud
	HPKE   string `json:"hpke"`
	State  string `json:"state"`
	Config string `json:"config"`
}

// Run makes the state directory and, if there is none, a commented configuration file.
func (cmd initCommand) Run(c *console.Console, g *console.Globals) error {
	if err := cmd.make(g); err != nil {
		return err
	}
	if err := (identityCommand{}).Run(c, g); err != nil {
		return err
	}
	c.Say("This node's state is in %s, its configuration is %s.", g.State, g.Config)
	c.Say("Next: aggregator invite, which leads through all of it; or aggregator study draft with the column lists of the parties, or aggregator study host FILE")
	return nil
}

// make makes the node.
func (initCommand) make(g *console.Globals) error {
	if err := store.Create(g.State, store.Aggregator, rand.Reader); err != nil {
		return fail.Usage.Of(err)
	}
	return console.WriteTemplate(g.Config, config.AggregatorTemplate())
}

type identityCommand struct{}

func (identityCommand) Help() string { return "Example: aggregator identity" }

// Run prints the node's entry in study files.
func (identityCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := st.ID()
	if err != nil {
		return err
	}
	out := identity{
		ID: id.String(), Words: id.Words(), HPKE: base64.StdEncoding.EncodeToString(st.HPKE().PublicKey().Bytes()),
		State: g.State, Config: g.Config,
	}
	return c.Print(out, func(w io.Writer) {
		fmt.Fprintf(w, "aggregator:\n  id: %s\n  hpke: %s\n  addrs: [/dns4/YOUR-HOST/tcp/7424]\n", out.ID, out.HPKE)
		c.Say("In words, to compare over a telephone: %s", out.Words)
		c.Say("These lines go into the study file, with the address at which parties reach this node.")
	})
}
