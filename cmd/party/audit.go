package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
)

type auditCommand struct {
	Study  string `arg:"" help:"The beginning of a study's id, or a study file."`
	Data   bool   `env:"-" help:"Attack a release of this party's own data, made here and thrown away, as whoever knows the matrix could."`
	Trials int    `env:"-" placeholder:"N" help:"Trials under each of two data sets; more find more. Default: 200 to 100000, by the size of a sketch."`
}

// audited is what the command prints.
type audited struct {
	Study    string          `json:"study"`
	Name     string          `json:"name"`
	Passed   bool            `json:"passed"`
	Doubt    float64         `json:"doubt"` // probability with which a sound mechanism fails
	Sketches []auditedSketch `json:"sketches"`
}

type auditedSketch struct {
	Party     string    `json:"party"`
	Sketch    int       `json:"sketch"` // from 1
	Side      string    `json:"side"`
	Mechanism string    `json:"mechanism"`
	Unit      string    `json:"unit"`
	Claimed   float64   `json:"claimed_epsilon"`
	Delta     float64   `json:"delta"`
	Found     float64   `json:"found_epsilon"` // the true one is at least this
	Reach     float64   `json:"reach_epsilon"` // the most that so many trials could have found
	Drawn     float64   `json:"drawn_epsilon,omitempty"`
	Trials    int       `json:"trials"`
	Declared  *[2]int64 `json:"declared_l1_l2squared,omitempty"`
	Realised  *[2]int64 `json:"realised_l1_l2squared,omitempty"`
	Statement string    `json:"statement"`
	OneRun    oneRun    `json:"one_run"`
	Noise     *spread   `json:"noise,omitempty"`
	Remarks   []string  `json:"remarks"`
	Passed    bool      `json:"passed"`
}

// oneRun is what one release gives away of canaries that were put in by fair coins.
type oneRun struct {
	Canaries int     `json:"canaries"`
	Guessed  int     `json:"guessed"`
	Right    int     `json:"right"`
	Found    float64 `json:"found_epsilon"`
	Doubt    float64 `json:"doubt"`
}

// spread compares noise as drawn with what it is said to be.
type spread struct {
	Draws    int     `json:"draws"`
	Variance float64 `json:"variance_over_stated"`
	Chance   float64 `json:"p_value"`
}

// Run audits the study's own plan, on made-up data or on the party's, in this process.
func (cmd auditCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	if cmd.Data {
		return cmd.attack(ctx, c, g)
	}
	if cmd.Trials < 0 || cmd.Trials > 0 && cmd.Trials < 100 {
		return console.WithCode(console.Usage, fmt.Errorf("--trials %d: want at least 100", cmd.Trials))
	}
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	if s.Privacy.Mechanism == dp.None {
		return console.WithCode(console.Usage, fmt.Errorf("study %s (%s) says mechanism none: it promises nothing that could be audited; party audit --data shows what a release of your data would give away", s.Name, s.ID.Short()))
	}
	out := audited{Study: s.ID.String(), Name: s.Name, Passed: true, Doubt: audit.Doubt}
	for _, party := range plansToAudit(c, g, s) {
		for i := range s.Sketches {
			c.Say("auditing sketch %d of %d of %s", i+1, len(s.Sketches), s.Parties[party].Name)
			one, err := auditSketch(ctx, s, party, i, cmd.Trials)
			if err != nil {
				return err
			}
			out.Sketches = append(out.Sketches, one)
			out.Passed = out.Passed && one.Passed
		}
	}
	if err := c.Print(out, out.write); err != nil {
		return err
	}
	if !out.Passed {
		return console.WithCode(console.Failed, errors.New("the audit failed: a release would give away more than the study claims; do not release, and report this with the output above"))
	}
	return nil
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

func auditSketch(ctx context.Context, s *study.Study, party, index, trials int) (auditedSketch, error) {
	plan, err := release.For(s, party, index)
	if err != nil {
		return auditedSketch{}, err
	}
	a, err := plan.Audit(ctx, release.AuditOptions{Trials: trials, Entropy: rand.Reader})
	if err != nil {
		return auditedSketch{}, err
	}
	claim, f := plan.Noise.Guarantee(), a.Finding
	out := auditedSketch{
		Party: s.Parties[party].Name, Sketch: index + 1, Side: string(plan.Sketch().Side),
		Mechanism: string(claim.Mechanism()), Unit: string(s.Privacy.Unit),
		Claimed: float64(f.Claimed), Delta: float64(f.Delta), Found: float64(f.Found), Reach: float64(f.Reach), Drawn: float64(a.Drawn),
		Trials: f.Trials, Statement: claim.Statement(s.Privacy.Unit), Remarks: append([]string{}, a.Remarks...), Passed: a.Passed(),
	}
	out.OneRun = oneRun{a.OneRun.Canaries, a.OneRun.Made, a.OneRun.Right, float64(a.OneRun.Found), audit.OneRunDoubt}
	if a.Spread != nil {
		out.Noise = &spread{a.Spread.Draws, a.Spread.Variance, a.Spread.Chance}
	}
	if plan.Flips.Zero() {
		out.Declared = &[2]int64{a.Declared.L1, a.Declared.L2Squared}
		out.Realised = &[2]int64{a.Realised.L1, a.Realised.L2Squared}
	}
	return out, nil
}

func (a audited) write(w io.Writer) {
	verdict := "PASS: nothing speaks against what the study claims."
	if !a.Passed {
		verdict = "FAIL: a release gives away more than the study claims."
	}
	console.Paragraph(w, "", fmt.Sprintf("%s (study %.8s): %s", a.Name, a.Study, verdict))
	fmt.Fprintln(w)
	t := console.NewTable("party", ">sketch", "mechanism", ">claimed ε", ">δ", ">found ε", ">at most", ">trials", "verdict")
	for _, s := range a.Sketches {
		t.Add(s.Party, fmt.Sprint(s.Sketch), s.Mechanism, console.Brief(s.Claimed), console.Brief(s.Delta),
			"≥ "+console.Brief(s.Found), console.Brief(s.Reach), fmt.Sprint(s.Trials), word(s.Passed))
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
		if s.Found == 0 {
			console.Paragraph(w, "  ", "Note: so few trials find nothing, so this sketch would pass with too little noise too: ask for more by --trials.")
		}
		for _, r := range s.Remarks {
			console.Paragraph(w, "  ", "Note: "+r+".")
		}
	}
	fmt.Fprintln(w)
	console.Paragraph(w, "", "No data were read, the ledger was not touched, and nothing has left.")
}

func word(passed bool) string {
	if passed {
		return "PASS"
	}
	return "FAIL"
}
