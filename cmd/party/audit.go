package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type auditCommand struct {
	Study  string `arg:"" help:"The beginning of a study's id, or a study file."`
	Data   bool   `env:"-" help:"Attack a release of this party's own data, as somebody who knows the matrix could. It is made here and thrown away."`
	Output string `env:"-" short:"o" placeholder:"FILE" help:"Write a page with figures, like audit.html, instead of text. With --data it holds the trials on made-up data, too."`
	Trials int    `env:"-" placeholder:"N" help:"Trials on each of two data sets; more trials find more. Default: 200 to 100000, by the size of a sketch."`
}

func (auditCommand) Help() string {
	return "Example: party advanced audit 5f0c1b0e --data -o audit.html"
}

// Run audits the study's plan in this process, on synthetic data or on the party's.
func (cmd auditCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Trials < 0 || cmd.Trials > 0 && cmd.Trials < 100 {
		return fail.Usage.Of(fmt.Errorf("--trials %d: want at least 100", cmd.Trials))
	}
	if cmd.Data {
		return cmd.attack(ctx, c, g)
	}
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	if s.Privacy.Mechanism == dp.None {
		return fail.Usage.Of(fmt.Errorf("study %s (%s) says mechanism none: it promises nothing that could be audited; party advanced audit --data shows what a release of your data would give away", s.Name, s.ID.Short()))
	}
	out, err := cmd.audit(ctx, c, g, s)
	if err != nil {
		return err
	}
	if cmd.Output != "" {
		err = cmd.page(c, s, audit.Report{Audited: &out})
	} else {
		err = c.Print(out, func(w io.Writer) { writeReport(w, out.Name, out.Study, audit.Report{Audited: &out}) })
	}
	return cmp.Or(err, failed(out))
}

// audit tests the mechanism on synthetic data.
func (cmd auditCommand) audit(ctx context.Context, c *console.Console, g *console.Globals, s *study.Study) (audit.AuditReport, error) {
	return audit.Audit(ctx, audit.Options{
		Study: s, Parties: plansToAudit(c, g, s), Trials: cmd.Trials, Entropy: rand.Reader,
		Observe: func(party string, sketch int) {
			c.Say("auditing sketch %d of %d of %s", sketch, len(s.Sketches), party)
		},
	})
}

// failed returns an error if a mechanism reveals more than claimed, or if the trials could not have
// shown it.
func failed(a audit.AuditReport) error {
	switch a.Verdict() {
	case "PASS":
		return nil
	case "INCONCLUSIVE":
		return fail.AuditInconclusive.New()
	}
	return fail.AuditFailed.New()
}

// page writes the findings as a page with figures.
func (cmd auditCommand) page(c *console.Console, s *study.Study, r audit.Report) error {
	p := present.Page{
		Title: fmt.Sprintf("%s: audit of study %s", s.Name, s.ID.Short()), Kicker: fmt.Sprintf("Audit of study “%s”", s.Name), Headline: r.Headline(), Blocks: r.Blocks(),
		Footer: fmt.Sprintf("Study %s. Made %s by cosketch %s.", s.ID, console.Now(), console.Version()),
	}
	if r.Attacked != nil {
		p.Kicker += fmt.Sprintf(", on dataset “%s”", r.Attacked.Dataset)
	}
	if err := console.WriteFileAtomic(cmd.Output, func(w io.Writer) error { return present.HTML(w, p) }); err != nil {
		return err
	}
	return c.Print(map[string]any{"study": s.ID.String(), "files": []string{cmd.Output}}, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("Next: open it in any browser; it loads nothing from anywhere. It says how well your data can be guessed: keep it to yourself.")
	})
}

// plansToAudit is this party. If it is not in the study, it is every party with a different plan:
// in a horizontal study all plans are equal.
func plansToAudit(c *console.Console, g *console.Globals, s *study.Study) []int {
	if party := viewer(c, g, s, "Audited"); party != study.Everyone {
		return []int{party}
	}
	out := []int{0}
	for i := 1; s.Partition == study.Vertical && i < len(s.Parties); i++ {
		out = append(out, i)
	}
	return out
}

// writeReport prints the findings for people.
func writeReport(w io.Writer, name, id string, r audit.Report) {
	present.Text(w, append([]block.Block{block.Text{Text: fmt.Sprintf("%s (study %.8s): %s", name, id, r.Headline())}}, r.Blocks()...))
}
