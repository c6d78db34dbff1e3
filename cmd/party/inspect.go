package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

type inspectCommand struct {
	Release string `arg:"" name:"study" help:"The beginning of the study's id; or the directory of a release of a study that is here, such as a copy of releases/ID of a state directory."`
}

func (inspectCommand) Help() string { return "Example: party advanced inspect 5f0c1b0e" }

// Run prints what a stored release holds, and fails if it is damaged.
func (cmd inspectCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	r, err := cmd.inspect(st)
	if err != nil {
		return err
	}
	if err := c.Print(r, func(w io.Writer) { present.Text(w, r.Blocks()) }); err != nil {
		return err
	}
	if !r.Intact {
		return fail.Usage.Of(errors.New("the stored release is damaged: it is not what was signed (restore the state directory from a backup)"))
	}
	return nil
}

// inspect inspects a directory, or a stored study given by a prefix of its id.
func (cmd inspectCommand) inspect(st *store.Store) (local.Inspection, error) {
	if info, err := os.Stat(cmd.Release); err == nil {
		dir := store.ReleaseDir(cmd.Release)
		if !info.IsDir() { // one of its files
			dir = store.ReleaseDir(filepath.Dir(cmd.Release))
		}
		return inspectDir(st, dir)
	}
	s, err := console.FindStudy(st, cmd.Release)
	if err != nil {
		return local.Inspection{}, err
	}
	r, err := local.Inspect(st, s)
	if errors.Is(err, store.ErrNotFound) {
		return r, fail.NoRelease.New(s.Name, s.ID.Short())
	}
	return r, err
}

// inspectDir inspects a release in a directory. The study's file, which explains its numbers, must
// be in the store.
func inspectDir(st *store.Store, dir store.ReleaseDir) (local.Inspection, error) {
	id, err := local.ReleasedStudy(dir)
	if err != nil {
		return local.Inspection{}, fail.Usage.Of(fmt.Errorf("%s holds no release: reading its header: %w", dir, err))
	}
	s, err := console.FindStudy(st, id.String())
	if err != nil {
		return local.Inspection{}, fmt.Errorf("the release in %s: %w", dir, err)
	}
	return local.InspectFiles(dir, s)
}
