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
	"github.com/cosketch/cosketch/node/report"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type auditCommand struct {
	Study  string `arg:"" help:"The beginning of a study's id, or a study file."`
	Data   bool   `env:"-" help:"Attack a release of this party's own data, made here and thrown away, as whoever knows the matrix could."`
	Output string `env:"-" short:"o" placeholder:"FILE" help:"Write a page with figures, like audit.html, instead of text. With --data it holds the trials on made-up data, too."`
	Trials int    `env:"-" placeholder:"N" help:"Trials under each of two data sets; more find more. Default: 200 to 100000, by the size of a sketch."`
}

// Run audits the study's own plan, on made-up data or on the party's, in this process.
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
		return fail.Usage.Of(fmt.Errorf("study %s (%s) says mechanism none: it promises nothing that could be audited; party audit --data shows what a release of your data would give away", s.Name, s.ID.Short()))
	}
	out, err := cmd.audit(ctx, c, g, s)
	if err != nil {
		return err
	}
	if cmd.Output != "" {
		err = cmd.page(c, s, nil, &out)
	} else {
		err = c.Print(out, func(w io.Writer) { writeAudited(w, out) })
	}
	return cmp.Or(err, failed(out))
}

// audit tries the mechanism on made-up data.
func (cmd auditCommand) audit(ctx context.Context, c *console.Console, g *console.Globals, s *study.Study) (audit.Audited, error) {
	return audit.Audit(ctx, audit.Options{
		Study: s, Parties: plansToAudit(c, g, s), Trials: cmd.Trials, Entropy: rand.Reader,
		Observe: func(party string, sketch int) {
			c.Say("auditing sketch %d of %d of %s", sketch, len(s.Sketches), party)
		},
	})
}

// failed is the error of a mechanism that gives away more than is claimed, or may do so unseen.
func failed(a audit.Audited) error {
	switch a.Verdict() {
	case "PASS":
		return nil
	case "INCONCLUSIVE":
		return fail.AuditInconclusive.New()
	}
	return fail.AuditFailed.New()
}

// page writes what was found as a page with figures.
func (cmd auditCommand) page(c *console.Console, s *study.Study, attacked *audit.Attacked, audited *audit.Audited) error {
	p := report.AuditPage{Name: s.Name, Study: s.ID.String(), Attacked: attacked, Audited: audited, Made: console.Now(), Version: "cosketch " + console.Version()}
	if err := console.WriteFileWhole(cmd.Output, func(w io.Writer) error { return report.Audit(w, p) }); err != nil {
		return err
	}
	return c.Print(map[string]any{"study": s.ID.String(), "files": []string{cmd.Output}}, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("Next: open it in any browser; it loads nothing from anywhere. It says how well your data can be guessed: keep it to yourself.")
	})
}

// plansToAudit is this party or, where it is not in the study, every party whose plan
// differs: in a horizontal study all have the same.
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

// writeAudited prints what trials found, for people.
func writeAudited(w io.Writer, a audit.Audited) {
	verdict := map[string]string{
		"PASS":         "PASS: nothing speaks against what the study claims.",
		"FAIL":         "FAIL: a release gives away more than the study claims.",
		"INCONCLUSIVE": "INCONCLUSIVE: nothing speaks against what the study claims, but so few trials would have let half of the noise pass.",
	}[a.Verdict()]
	console.Paragraph(w, "", fmt.Sprintf("%s (study %.8s): %s", a.Name, a.Study, verdict))
	fmt.Fprintln(w)
	t := console.NewTable("party", ">sketch", "mechanism", ">claimed ε", ">δ", ">found ε", ">at most", ">trials", "verdict")
	for _, s := range a.Sketches {
		t.Add(s.Party, fmt.Sprint(s.Sketch), s.Mechanism, console.Brief(s.Claimed), console.Brief(s.Delta),
			"≥ "+console.Brief(s.Found), console.Brief(s.Reach), fmt.Sprint(s.Trials), s.Verdict())
		if l := s.Labels; l != nil {
			t.Add(s.Party, fmt.Sprint(s.Sketch), "its labels", console.Brief(l.Claimed), "0",
				"≥ "+console.Brief(l.Found), console.Brief(l.Reach), fmt.Sprint(l.Trials), l.Verdict())
		}
	}
	t.Write(w)
	console.Paragraph(w, "  ", fmt.Sprintf("Found is what can be told apart for certain, but for a probability of %.0e, when releases of the worst neighbouring data are made here as they would be shipped. At most is what so many trials could find: a claim above it cannot fail.", a.Doubt))
	fmt.Fprintln(w)
	for _, s := range a.Sketches {
		console.Paragraph(w, "", fmt.Sprintf("%s, sketch %d, %s side, unit %s.", s.Party, s.Sketch, s.Side, s.Unit))
		console.Paragraph(w, "  ", s.Statement)
		switch {
		case s.Declared != nil:
			console.Paragraph(w, "  ", fmt.Sprintf("Sensitivity declared: l1 %d, l2 squared %d; the worst change found moves the exact sketch by l1 %d, l2 squared %d.",
				s.Declared[0], s.Declared[1], s.Realised[0], s.Realised[1]))
		default:
			console.Paragraph(w, "  ", fmt.Sprintf("The flips as they are drawn give ε = %s.", console.Brief(s.Drawn)))
		}
		console.Paragraph(w, "  ", fmt.Sprintf("One release of %d canaries, each put in by a fair coin: %d of %d guesses are right, so ε ≥ %s (but for a probability of %g).",
			s.OneRun.Canaries, s.OneRun.Right, s.OneRun.Guessed, console.Brief(s.OneRun.Found), s.OneRun.Doubt))
		if s.Noise != nil {
			console.Paragraph(w, "  ", fmt.Sprintf("%d draws of noise have %.4f times the variance that is stated, and follow its law (p = %.2g).", s.Noise.Draws, s.Noise.Variance, s.Noise.Chance))
		}
		if !s.Conclusive {
			console.Paragraph(w, "  ", "Note: so few trials would have let half of the noise pass: ask for more by --trials.")
		}
		for _, r := range s.Remarks {
			console.Paragraph(w, "  ", "Note: "+r+".")
		}
	}
	fmt.Fprintln(w)
	console.Paragraph(w, "", "No data were read, the ledger was not touched, and nothing has left.")
}
