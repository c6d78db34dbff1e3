package console

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
)

// FsckCommand recomputes every hash and chain of a node's state.
type FsckCommand struct {
	Role store.Role `kong:"-"` // role of the state directory; set by the program
}

// Help says what is checked.
func (FsckCommand) Help() string {
	return "Checks the database, the files and their modes, the chains of ledger and log, and of each study its file, its board, what was signed and decided here, every chunk of every release and the results. Changes nothing. Exit code 4: something is wrong. Whether the end of the log was cut off, only advanced log verify --head can tell, by a head that was kept elsewhere.\n\nExample: ${name} advanced fsck"
}

// Run prints PASS, WARN or FAIL for each check.
func (cmd FsckCommand) Run(ctx context.Context, c *Console, g *Globals) error {
	st, err := g.Open(cmd.Role) // for writing, since it may be a new version's first command on an old directory
	if fail.Has(err, fail.DiskReadOnly) || fail.Has(err, fail.DiskFull) {
		st, err = g.OpenReadOnly(cmd.Role)
	}
	if err != nil {
		return err
	}
	defer st.Close()
	findings, err := local.Fsck(ctx, local.FsckOptions{Store: st, Role: cmd.Role})
	if err != nil {
		return err
	}
	if err := c.PrintFindings(findings); err != nil {
		return err
	}
	failed := 0
	for _, f := range findings {
		if f.Verdict == local.Fail {
			failed++
		}
	}
	if failed > 0 {
		return fail.Usage.Of(fmt.Errorf("%d of %d checks fail", failed, len(findings)))
	}
	c.Say("%d checks, all is as it was written.", len(findings))
	return nil
}

// finding is a local.Finding as programs read it.
type finding struct {
	Check   string `json:"check"`
	Subject string `json:"subject,omitempty"`
	Verdict string `json:"verdict"`
	Said    string `json:"said"`
	Fix     string `json:"fix,omitempty"`
}

// PrintFindings prints checks in their order, under their subjects.
func (c *Console) PrintFindings(findings []local.Finding) error {
	out := make([]finding, len(findings))
	for i, f := range findings {
		out[i] = finding{f.Check, f.Subject, string(f.Verdict), f.Said, f.Fix}
	}
	return c.Print(out, func(w io.Writer) { present.Text(w, local.Findings(findings)) })
}
