package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/invitation"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
)

type joinCommand struct {
	Address string         `arg:"" optional:"" help:"The aggregator's address, such as /dns4/agg.example.org/tcp/7424/p2p/12D3KooW…, also with /invitation/… behind it."`
	From    string         `name:"address-file" env:"-" placeholder:"FILE" help:"Read the address from a file that nobody else can read; - is stdin."`
	Answers string         `env:"-" placeholder:"FILE" help:"Answer from a file instead of asking."`
	Wait    *time.Duration `env:"-" placeholder:"DURATION" help:"How long to wait for a study that lists this party, and then for the other parties, such as 90s; 0 gives up at once. Default: until they are there."`
}

// Help describes the steps.
func (joinCommand) Help() string {
	return "Makes the node if there is none, fetches the study, shows its sheet, asks which data answer it, lists what does not fit and what will be changed, shows what it costs and what it is worth, checks and rehearses the release, asks for the study's id, and serves it to its result. Where no study lists this party yet, it writes an introduction for the operator. Under an invitation in the address it sends it, once you have seen it; else you send the file. Then it waits.\n\nAn invitation is a secret, and while join runs every user of this machine sees its arguments: where that matters, put the address into a file of yours and name it with --address-file.\n\nEvery step says the plain command that does the same. What was decided is stored at once: after Ctrl-C, or when something has to be put right first, the same command goes on where it was.\n\nFor --answers, a file names each question (study, data, introduce, use, approve) with the line, or the list of lines, that a person would type. The word proposed takes what is proposed:\n\n  cosketch: answers/1\n  data: patients.csv\n  introduce: north --id patient\n  use: [--column height=Size, proposed]\n  approve: 5f0c1b0e\n\nExample: party join /dns4/agg.example.org/tcp/7424/p2p/12D3KooW…"
}

// Validate refuses an invalid --wait, and no address or two.
func (cmd joinCommand) Validate() error {
	if (cmd.Address == "") == (cmd.From == "") {
		return errors.New("give the aggregator's ADDRESS, or --address-file FILE")
	}
	return runCommand{Wait: cmd.Wait}.Validate()
}

// mostAddress is the maximum length of an address read from stdin, in bytes.
const mostAddress = 4096

// whole returns the given address, or the one in the file.
func (cmd joinCommand) whole(c *console.Console) (string, error) {
	if cmd.From == "" {
		return cmd.Address, nil
	}
	var text []byte
	var err error
	if cmd.From == "-" {
		text, err = io.ReadAll(io.LimitReader(c.In, mostAddress))
	} else {
		text, err = private.Read(cmd.From)
	}
	if err != nil {
		return "", fail.Usage.Of(fmt.Errorf("reading the address: %w", err))
	}
	return string(bytes.TrimSpace(text)), nil
}

// joinRun is one run of join.
type joinRun struct {
	joinCommand

	c      *console.Console
	g      *console.Globals
	ask    joining.Asker
	to     protocol.PeerID   // the aggregator
	at     string            // its address, without an invitation
	ticket invitation.Ticket // the invitation; may be zero
	st     *store.Store
	study  *study.Study
	party  int // this party's index in it

	checked *source.CheckedData // the data checked against the study
	verdict console.Verdict     // what the study is worth with them
}

// Run makes one step after the other. Each finds out from the node's state whether it is done.
func (cmd joinCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	j := &joinRun{joinCommand: cmd, c: c, g: g}
	whole, err := cmd.whole(c)
	if err != nil {
		return err
	}
	if _, j.to, j.ticket, err = aggregator.ParseAddress(whole); err != nil {
		return err
	}
	if j.at, _, err = invitation.Split(whole); err != nil {
		return err
	}
	if j.ask, err = console.NewAsker(c, joining.Join, cmd.Answers); err != nil {
		return err
	}
	if err := j.node(); err != nil {
		return err
	}
	if j.st, err = g.Open(store.Party); err != nil {
		return err
	}
	defer j.st.Close()
	ended, err := j.find(ctx)
	if err != nil {
		return err
	}
	if j.party, err = self(j.st, j.study); err != nil {
		return err
	}
	if !ended {
		if err := j.prepare(ctx); err != nil {
			return err
		}
		j.step("The study runs", "party run "+j.study.ID.Short())
		if err := (runCommand{Wait: cmd.Wait}).serve(ctx, c, g, j.st, j.study, j.party); err != nil {
			return err
		}
	}
	j.step("The result", "party result "+j.study.ID.Short())
	return resultCommand{Study: j.study.ID.String()}.Run(ctx, c, g)
}

// prepare makes the steps up to the approval of the study, unless it is approved.
func (j *joinRun) prepare(ctx context.Context) error {
	decision, _, err := j.st.Decision(j.study.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if decision == store.Approve {
		j.say("The study is approved here: nothing is left to decide.")
		return nil
	}
	if err := j.sheet(ctx); err != nil {
		return err
	}
	if err := j.ready(joining.Use, joining.Approve); err != nil {
		return err
	}
	if err := j.use(ctx); err != nil {
		return err
	}
	if err := j.try(ctx); err != nil {
		return err
	}
	return j.approve(ctx)
}

// step announces the next step, and the command that does the same.
func (j *joinRun) step(title, command string) { j.c.Step(title, command) }

// show shows blocks to a person; programs get only the result.
func (j *joinRun) show(blocks ...block.Block) { j.c.Show(blocks...) }

func (j *joinRun) say(format string, args ...any) { j.c.Say(format, args...) }

// node makes the node if there is none.
func (j *joinRun) node() error {
	there, err := describe(j.g)
	if errors.Is(err, fail.NoState) {
		j.step("This node", "party init")
		if there, err = (initCommand{}).make(j.g); err == nil {
			j.say("A new node was made. Its key and its privacy ledger are in %s, and nobody else may have them; its site file, %s, says where your data are.", there.State, there.Config)
		}
	}
	if err != nil {
		return err
	}
	j.say("This node is %s (in words, to compare over a telephone: %s).", there.ID, there.Words)
	return nil
}

// pollEvery is the interval at which an aggregator is asked for studies that list this party.
const pollEvery = 5 * time.Second

// find finds the study to take part in. If there is none, the party introduces itself and waits.
// ended reports that the study already has its result.
func (j *joinRun) find(ctx context.Context) (ended bool, err error) {
	j.step("Studies of the aggregator", "party study fetch "+j.at)
	ctx, cancel := j.patience(ctx)
	defer cancel()
	introduced, handed, said := false, j.ticket.IsZero(), ""
	used, err := j.used()
	if err != nil {
		return false, err
	}
	for tries := 1; ; {
		_, unreached := studyFetch{j.at}.fetch(ctx, j.st, j.g)
		if errors.Is(unreached, p2p.ErrRefusedPeer) || fail.Has(unreached, fail.UnknownStudy) {
			unreached = nil // it admits only parties of studies, and guests only for another call
		}
		open, last, err := j.candidates()
		if err != nil {
			return false, err
		}
		if len(open) > 0 {
			if unreached != nil {
				j.say("The aggregator was not asked for others: %v", unreached)
			}
			return false, j.choose(ctx, open)
		}
		switch {
		case unreached != nil && !introduced:
			return false, unreached
		case unreached != nil && unreached.Error() != said:
			said = unreached.Error()
			j.say("trying again: %s", said)
		case unreached != nil:
		case last != nil && !introduced && used:
			j.say("No other study of it waits for this party.")
			j.study = last
			return true, nil
		case !introduced:
			if err := j.introduce(ctx); err != nil {
				return false, err
			}
			introduced = true
		}
		if introduced && !handed && unreached == nil {
			err := j.hand(ctx)
			if handed = err == nil; !handed {
				if tries++; tries > mostTries || !passing(err) || j.Wait != nil && *j.Wait == 0 {
					return false, err
				}
				if err.Error() != said {
					said = err.Error()
					j.say("trying again: %s", said)
				}
			}
		}
		if j.Wait != nil && *j.Wait == 0 {
			return false, j.unlisted(handed)
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return false, j.unlisted(handed)
			}
			return false, ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}

// mostTries bounds the attempts to send an introduction: for about two minutes.
const mostTries = 24

// passing reports whether an error of a call may be temporary: no place for a guest, or not
// reachable.
func passing(err error) bool {
	return errors.Is(err, p2p.ErrRefusedPeer) || errors.Is(err, p2p.ErrUnreachable) || errors.Is(err, p2p.ErrInterrupted) || fail.Has(err, fail.PeerBusy)
}

// unlisted is the error if no study lists this party in time.
func (j *joinRun) unlisted(handed bool) error {
	if handed && !j.ticket.IsZero() {
		return fail.Unlisted.New().With("the operator has the introduction; the same command goes on once a study lists this party")
	}
	return fail.Unlisted.New()
}

// patience ends the context after --wait.
func (j *joinRun) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if j.Wait == nil || *j.Wait == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, *j.Wait)
}

// candidates returns the aggregator's active studies that were not refused here, and the last that
// has a result.
func (j *joinRun) candidates() (open []*study.Study, last *study.Study, err error) {
	entries, err := j.st.Studies()
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		s, err := console.FindStudy(j.st, e.ID.String())
		if err != nil || s.Aggregator.ID != j.to {
			continue // status reports damaged ones
		}
		now, err := console.StudySnapshot(j.st, s.ID)
		if err != nil {
			return nil, nil, err
		}
		decision, _, err := j.st.Decision(s.ID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, nil, err
		}
		over := decision != store.Approve && console.Now() >= max(s.Expires, s.LateUntil)
		switch {
		case now.State == string(session.Done):
			last = s
		case now.Active() && !over && decision != store.Decline && decision != store.Withdraw:
			open = append(open, s)
		}
	}
	return open, last, nil
}

// choose takes the only study, or asks which.
func (j *joinRun) choose(ctx context.Context, open []*study.Study) error {
	j.study = open[0]
	if len(open) > 1 {
		var forms []string
		for _, s := range open {
			forms = append(forms, fmt.Sprintf("%s: %s", s.ID.Short(), s.Name))
		}
		q := joining.Question{ID: joining.Study, Asks: "Which study?", Why: "Several of this aggregator wait for this party.", Forms: forms, Commands: []string{"party status"}}
		err := joining.Ask(ctx, j.ask, q, func(line string) error {
			for _, s := range open {
				if confirmed(line, s) == nil {
					j.study = s
					return nil
				}
			}
			return fmt.Errorf("%q is not the beginning of one of these ids", line)
		})
		if err != nil {
			return console.AskedError(err)
		}
	}
	j.say("The study is %s (%s; in words: %s). Compare the id with the other organisations, by another way than this aggregator.", j.study.Name, j.study.ID.Short(), j.study.ID.Words())
	return nil
}

// sheet shows the study on one page.
func (j *joinRun) sheet(ctx context.Context) error {
	j.step("What the study asks", "party study sheet "+j.study.ID.Short())
	sheet, err := studySheet{}.sheet(ctx, j.c, j.g, j.study, j.party)
	if err != nil {
		return err
	}
	j.show(sheetBlocks(sheet)...)
	j.say("At length: party study explain %s", j.study.ID.Short())
	return nil
}

// try shows what the study costs and is worth, then checks and rehearses the release.
func (j *joinRun) try(ctx context.Context) error {
	short := j.study.ID.Short()
	if j.study.Privacy.Mechanism == dp.None {
		if err := sayExposed(ctx, j.c, j.g, j.st, j.study, j.party); err != nil {
			return err
		}
	}
	j.step("What it costs, and what it is worth", "party study plan "+short)
	spending, _, err := spend(j.g, j.study, j.party, j.study.Queries.Releases > 0)
	if err != nil {
		return err
	}
	j.show(local.Spendings(spending))
	p, err := forecast(j.study, j.party, console.PlanFlags{}, func() *source.CheckedData { return j.checked })
	if err != nil {
		return err
	}
	j.verdict = console.NewVerdict(p)
	j.verdict.Tell(j.c)
	j.say("")
	j.step("The checks", "party doctor "+short)
	findings := doctorCommand{}.diagnose(ctx, j.st, j.g, []*study.Study{j.study})
	j.show(local.Findings(findings)...)
	if err := failing(findings); err != nil {
		return err
	}
	j.step("The rehearsal", "party advanced sketch "+short+" --dry-run")
	talk := newTalk(j.c, j.study, j.party)
	defer talk.end()
	rehearsed, refusal, err := local.Rehearse(ctx, sourceOf(j.st, j.g, j.study, talk.observe))
	talk.end()
	if err != nil {
		return err
	}
	j.show(rehearsed.Blocks()...)
	return refusal
}

// approval is the answer to the last question: the arguments of party study approve STUDY.
type approval struct {
	ID              string `arg:""`
	AlthoughUseless bool
	Cosigned        string
}

// approve asks for the study's id.
func (j *joinRun) approve(ctx context.Context) error {
	s, short := j.study, j.study.ID.Short()
	q := joining.Question{
		ID: joining.Approve, Asks: "Approve the study?",
		Why:      fmt.Sprintf("This is your decision as the steward, and the last one: with it, what was rehearsed leaves as soon as all parties have agreed. Until then, party study withdraw %s takes it back. The study's id is %s.", short, s.ID),
		Forms:    []string{"the first eight characters of the id: yes", "decline: the study is not served"},
		Commands: []string{"party study approve " + short},
		Open:     "the study's id",
	}
	if j.verdict.Useless {
		q.Why += " Nothing that it asks is usable as it stands, and privacy would be spent all the same."
		q.Forms[0] = "the first eight characters of the id, and behind them --although-useless: yes, although nothing is usable"
	}
	site, err := config.LoadParty(j.g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if len(site.Second) > 0 {
		q.Forms = append(q.Forms, "behind the id, --cosigned FILE: a second person's yes, which the site file asks for (party advanced study cosign "+short+" --key THEIR-KEY)")
	}
	declined := false
	err = joining.Ask(ctx, j.ask, q, func(line string) error {
		if line == "decline" {
			declined = true
			return j.st.PutDecision(s.ID, store.Decline, console.Now())
		}
		var a approval
		if err := console.TakeLine(&a, line); err != nil {
			return err
		}
		if err := confirmed(a.ID, s); err != nil {
			return err
		}
		if j.verdict.Useless && !a.AlthoughUseless {
			return fail.Useless.New(s.Name, short)
		}
		return studyApprove{Cosigned: a.Cosigned}.record(j.st, s)
	})
	if err != nil {
		return console.AskedError(err)
	}
	if declined {
		j.say("It is not served. Tell the others, who wait for this party; party study approve %s undoes it.", short)
		return fail.Refused.Of(fmt.Errorf("study %s (%s) is declined", s.Name, short))
	}
	j.say("approved: %s (%s)", s.Name, short)
	return nil
}

// introductionPath is the path of the introduction, beside the site file and named after it.
func (j *joinRun) introductionPath() string {
	name := filepath.Base(j.g.Config)
	return filepath.Join(filepath.Dir(j.g.Config), name[:len(name)-len(filepath.Ext(name))]+"-introduction.yaml")
}
