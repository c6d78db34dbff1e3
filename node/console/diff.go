package console

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/store"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

// DiffCommand shows the differences between two studies.
type DiffCommand struct {
	Role   store.Role `kong:"-"` // role of the state directory; set by the program
	Before string     `arg:"" help:"The beginning of a study's id, or a study file."`
	After  string     `arg:"" help:"Another one."`
}

// Help has an example.
func (DiffCommand) Help() string { return "Example: ${name} advanced study diff 5f0c1b0e study.yaml" }

// Run prints every value that differs, and its effect on what is released.
func (cmd DiffCommand) Run(c *Console, g *Globals) error {
	before, err := StudyOrFile(g, cmd.Role, cmd.Before)
	if err != nil {
		return err
	}
	after, err := StudyOrFile(g, cmd.Role, cmd.After)
	if err != nil {
		return err
	}
	changes := studyfile.Diff(before, after)
	return c.Print(map[string]any{"before": before.ID.String(), "after": after.ID.String(), "same_meaning": before.Meaning == after.Meaning, "changes": changes}, func(w io.Writer) {
		for _, d := range changes {
			fmt.Fprintf(w, "%s\n  - %s\n  + %s\n", d.Key, d.Before, d.After)
		}
		switch {
		case before.ID == after.ID:
			c.Say("They are one file, byte for byte.")
		case len(changes) == 0:
			c.Say("They say the same in other bytes: other comments, order or spelling. They are two studies all the same, and cost twice.")
		default:
			c.Say("%d values differ. Approving one does not approve the other. Next: %s study explain %s", len(changes), cmd.Role, after.ID.Short())
		}
	})
}
