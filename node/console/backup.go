package console

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// BackupCommand writes a node's state to a file.
type BackupCommand struct {
	File string `arg:"" help:"The file to write; it must not exist. Or - for stdout."`

	Role store.Role `kong:"-"` // role of the state directory; set by the program
}

// Help explains what a backup protects against.
func (BackupCommand) Help() string {
	return "Works beside a running node. The file holds this node's identity: keep it encrypted. It leaves out the secrets of running studies and held sketches, on purpose.\n\nExample: ${name} backup node.tar"
}

// Run writes the whole file, or none.
func (cmd BackupCommand) Run(ctx context.Context, c *Console, g *Globals) error {
	st, err := g.Open(cmd.Role)
	if err != nil {
		return err
	}
	defer st.Close()
	var report store.BackupReport
	if cmd.File == "-" {
		report, err = st.Backup(until{ctx}.writer(c.Out))
		if err == nil {
			c.Say("%d files, %s.", report.Files, block.Bytes(report.Bytes))
		}
		return err
	}
	err = createAtomic(cmd.File, func(w io.Writer) (err error) {
		report, err = st.Backup(until{ctx}.writer(w))
		return err
	})
	if err != nil {
		return err
	}
	return c.Print(report, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d files, %s\n", cmd.File, report.Files, block.Bytes(report.Bytes))
		c.Say("It holds this node's identity: keep it encrypted. Next: try it, with advanced restore %s --state NEWDIR", cmd.File)
	})
}

// RestoreCommand makes a state directory from a backup.
type RestoreCommand struct {
	File string `arg:"" help:"The backup, or - for stdin."`

	Role store.Role `kong:"-"` // set by the program
}

// Help explains what a restored node may do.
func (RestoreCommand) Help() string {
	return "Restores into a new directory, named with --state. Never run two nodes from one identity. A restored party takes no further part in studies that ran at the time of the backup. Aggregators refuse it if its ledger went on after the backup.\n\nExample: ${name} --state NEWDIR advanced restore node.tar"
}

// Run restores, and says how to check.
func (cmd RestoreCommand) Run(ctx context.Context, c *Console, g *Globals) error {
	from := c.In
	if cmd.File != "-" {
		f, err := os.Open(cmd.File)
		if err != nil {
			return fail.Usage.Of(fmt.Errorf("reading the backup: %w", err))
		}
		defer f.Close()
		from = f
	}
	report, err := store.Restore(g.State, cmd.Role, until{ctx}.reader(from))
	if err != nil {
		return fail.Usage.Of(err)
	}
	return c.Print(report, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %d files, %s\n", g.State, report.Files, block.Bytes(report.Bytes))
		c.Say("Next: %s advanced fsck --state %s", cmd.Role, g.State)
	})
}
