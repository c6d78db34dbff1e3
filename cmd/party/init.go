package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type initCommand struct{}

func (initCommand) Help() string { return "Example: party init" }

type identity struct {
	ID     string `json:"id"`
	Words  string `json:"words"` // its fingerprint, to be read aloud
	State  string `json:"state"`
	Config string `json:"config"`
}

// Run makes the state directory and, if there is none, a commented site file.
func (cmd initCommand) Run(c *console.Console, g *console.Globals) error {
	id, err := cmd.make(g)
	if err != nil {
		return err
	}
	return c.Print(id, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n", id.ID)
		c.Say("In words, to compare over a telephone: %s", id.Words)
		c.Say("This node's peer id is above; its state is in %s, its site file is %s.", id.State, id.Config)
		c.Say("Next: give the peer id to whoever writes the study file, and name your data: party data add NAME FILE.")
	})
}

// make makes the node.
func (initCommand) make(g *console.Globals) (identity, error) {
	if err := store.Create(g.State, store.Party, rand.Reader); err != nil {
		return identity{}, fail.Usage.Of(err)
	}
	if err := console.WriteTemplate(g.Config, config.PartyTemplate()); err != nil {
		return identity{}, err
	}
	return describe(g)
}

type identityCommand struct{}

func (identityCommand) Help() string { return "Example: party identity" }

// Run prints the identity.
func (identityCommand) Run(c *console.Console, g *console.Globals) error {
	id, err := describe(g)
	if err != nil {
		return err
	}
	return c.Print(id, func(w io.Writer) {
		fmt.Fprintln(w, id.ID)
		c.Say("In words: %s", id.Words)
	})
}

type identityRotate struct {
	To string `required:"" env:"-" placeholder:"DIR" help:"A new state directory for the new identity."`
}

// Help says when to rotate.
func (identityRotate) Help() string {
	return "For a key that others may have seen. Studies under the old identity must have ended; withdraw from the others. The old directory keeps its results; it approves and releases nothing more.\n\nA lost key cannot be rotated: restore the newest backup. If there is none, make a new identity with party init and lower the caps in its site file by what was spent.\n\nExample: party advanced identity rotate --to ~/.local/state/cosketch/party-2"
}

// Run retires the old identity and makes the new one.
func (cmd identityRotate) Run(c *console.Console, g *console.Globals) error {
	st, err := g.Open(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	running, err := console.ActiveStudies(st)
	if err != nil {
		return err
	}
	for _, s := range running {
		d, _, err := st.Decision(s.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if d == store.Approve {
			return fail.RunsHere.New(s.Name, s.ID.Short())
		}
	}
	id, err := st.Rotate(cmd.To, rand.Reader, console.Now())
	if err != nil {
		return err
	}
	return c.Print(identity{ID: id.String(), Words: id.Words(), State: cmd.To, Config: g.Config}, func(w io.Writer) {
		fmt.Fprintln(w, id)
		c.Say("In words, to compare over a telephone: %s", id.Words())
		c.Say("The new identity is above, with the ledger of the old one; its state is in %s. The old directory can be read and releases nothing.", cmd.To)
		c.Say("Next: use --state %s from now on, and give the new peer id to whoever writes study files.", cmd.To)
	})
}

func describe(g *console.Globals) (identity, error) {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return identity{}, err
	}
	defer st.Close()
	id, err := st.ID()
	if err != nil {
		return identity{}, err
	}
	return identity{ID: id.String(), Words: id.Words(), State: g.State, Config: g.Config}, nil
}
