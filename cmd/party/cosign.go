package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type stewardInit struct {
	File string `arg:"" help:"Where to keep the key. Whoever has it can say this person's yes."`
}

func (stewardInit) Help() string { return "Example: party advanced steward init me.pem" }

// Run makes a key that belongs to no node.
func (cmd stewardInit) Run(c *console.Console) error {
	id, err := store.CreateKey(cmd.File, rand.Reader)
	if err != nil {
		return fail.Usage.Of(err)
	}
	return c.Print(map[string]string{"id": id.String(), "file": cmd.File}, func(w io.Writer) {
		fmt.Fprintln(w, id)
		c.Say("The key is in %s: keep it away from the party's machine. Next: approval: {second: [%s]} in the party's site file.", cmd.File, id)
	})
}

type studyCosign struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
	Key   string `required:"" env:"-" placeholder:"FILE" help:"The second person's key, of party advanced steward init."`
	Party string `env:"-" placeholder:"NAME" help:"The party that is to take part, by its name in the study. Default: the one whose state is here."`
	ID    string `env:"-" placeholder:"HEX" help:"At least the first eight characters of the study's id. Default: asked for."`
}

// Help says where to run it.
func (studyCosign) Help() string {
	return "Run it on the second person's own machine; it needs the study file alone. The steward then runs party study approve STUDY --cosigned yes.txt.\n\nExample: party advanced study cosign study.yaml --key me.pem --party north > yes.txt"
}

// Run shows what would be released, asks for the id, and prints the cosignature.
func (cmd studyCosign) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	signer, err := readKey(cmd.Key)
	if err != nil {
		return err
	}
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	party, err := cmd.party(g, s)
	if err != nil {
		return err
	}
	if err := show(c, cmd.ID, s, party); err != nil {
		return err
	}
	if err := ask(ctx, c, cmd.ID, s); err != nil {
		return err
	}
	line := signer.Cosign(s.ID, s.Parties[party].ID).String()
	return c.Print(map[string]string{"study": s.ID.String(), "by": signer.ID().String(), "cosignature": line}, func(w io.Writer) {
		fmt.Fprintln(w, line)
		c.Say("Next: party study approve %s --cosigned FILE, with this line in FILE.", s.ID.Short())
	})
}

// party is the party for which the second person signs.
func (cmd studyCosign) party(g *console.Globals, s *study.Study) (int, error) {
	if cmd.Party != "" {
		index, ok := s.PartyByName(cmd.Party)
		if !ok {
			return 0, fail.Usage.Of(fmt.Errorf("study %s has no party %q", s.Name, cmd.Party))
		}
		return index, nil
	}
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return 0, fail.Usage.Of(errors.Join(errors.New("for which party? (--party NAME)"), err))
	}
	defer st.Close()
	return self(st, s)
}

func readKey(path string) (protocol.Signer, error) {
	key, err := store.ReadKey(path)
	if err != nil {
		return protocol.Signer{}, fail.Usage.Of(err)
	}
	return protocol.NewSigner(key)
}

// takeCosignature verifies and stores a second person's cosignature.
func takeCosignature(st *store.Store, s *study.Study, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fail.Usage.Of(fmt.Errorf("reading the cosignature: %w", err))
	}
	self, err := st.ID()
	if err != nil {
		return err
	}
	c, err := protocol.ParseCosignature(s.ID, self, string(text))
	if err != nil {
		return fail.Refused.Of(fmt.Errorf("not approved: %w", err))
	}
	return st.PutCosignature(s.ID, c.By, c.String(), console.Now())
}
