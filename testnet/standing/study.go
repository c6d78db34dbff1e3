package standing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wait"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// Dealer deals the network's data to the parties of a study.
type Dealer func(*study.Study) (networks.Dealt, error)

// Pacer takes a study through all its steps slowly enough to follow: stewards approve one after the
// other, and release one after the other.
type Pacer struct {
	Dir   Dir
	Site  *steward.Site
	Dealt Dealer
	Pace  time.Duration // pause between two steps
	Talk  io.Writer     // receives the result

	say func(name, text string)
}

// Propose runs one more study on a network that another process keeps up.
func Propose(ctx context.Context, d Dir, dealt func(About) (Dealer, error), pace time.Duration, talk io.Writer) error {
	about, err := d.Read()
	if err != nil {
		return err
	}
	if up, err := d.up(); err != nil || !up {
		return errors.Join(err, fmt.Errorf("the network of %s is not up: start it with testnet up", d))
	}
	t, err := about.template()
	if err != nil {
		return err
	}
	deal, err := dealt(about)
	if err != nil {
		return err
	}
	site, err := d.open(ctx, about, t)
	if err != nil {
		return err
	}
	v := &voice{w: talk}
	return Pacer{Dir: d, Site: site, Dealt: deal, Pace: pace, Talk: talk, say: v.say}.Play(ctx)
}

// Play proposes a study and returns when it has ended at every running party.
func (p Pacer) Play(ctx context.Context) error {
	draft, err := p.Site.Draft(dates(len(p.Site.Parties), p.Pace))
	if err != nil {
		return err
	}
	if err := p.Site.Propose(ctx, draft); err != nil {
		return err
	}
	id := draft.Study.ID.String()
	p.say("operator", fmt.Sprintf("proposes study %s; approval closes at %s, upload at %s", id[:8], clock(draft.Study.Expires.String()), clock(draft.Study.Deadline.String())))
	if err := p.approve(ctx, draft); err != nil {
		return err
	}
	if err := p.release(ctx, id); err != nil {
		return err
	}
	return p.tell(ctx, draft)
}

// approve lets the stewards who have not approved yet approve, one after the other.
func (p Pacer) approve(ctx context.Context, draft steward.Draft) error {
	for _, party := range p.Site.Parties {
		if s, known := snapshot(ctx, party, draft.Study.ID.String()); known && s.State != stored.Added {
			continue
		}
		if err := pause(ctx, p.Pace); err != nil {
			return err
		}
		p.say(party.Name, "its steward approves")
		if err := p.Site.Approve(ctx, draft, party); err != nil {
			return err
		}
	}
	return nil
}

// Resume continues the studies that an earlier up left unfinished, and reports whether there were
// any.
func (p Pacer) Resume(ctx context.Context) (bool, error) {
	pending := map[string]bool{}
	for _, party := range p.Site.Parties {
		for _, s := range snapshots(ctx, party) {
			if s.Active() {
				pending[s.Study] = true
			}
		}
	}
	for id := range pending {
		draft, err := p.Site.Reopen(id)
		if err != nil {
			return true, err
		}
		p.say("operator", fmt.Sprintf("goes on with study %s, which was not finished", id[:8]))
		if err := p.approve(ctx, draft); err != nil {
			return true, err
		}
		if err := p.release(ctx, id); err != nil {
			return true, err
		}
		if err := p.tell(ctx, draft); err != nil {
			return true, err
		}
	}
	return len(pending) > 0, nil
}

// clock returns the local time of day of an instant.
func clock(instant string) string {
	t, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return instant
	}
	return t.Local().Format("15:04:05")
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// release releases held sketches, one after the other, until the study has ended everywhere.
func (p Pacer) release(ctx context.Context, id string) error {
	released := map[string]bool{}
	last := time.Now()
	for {
		waiting := 0
		for _, party := range p.Site.Parties {
			s, known := snapshot(ctx, party, id)
			if !known || s.Active() {
				pid, err := p.Dir.running(party.Name)
				if about, read := p.Dir.Read(); err == nil && pid == 0 && read == nil && !about.Restart {
					continue // the party stays down
				}
				waiting++
			}
			if s.Wait != wait.Steward || released[party.Name] || time.Since(last) < p.Pace {
				continue
			}
			p.say(party.Name, "its steward releases the sketch")
			if _, err := party.Run(ctx, "advanced", "release", id); err != nil {
				return err
			}
			released[party.Name], last = true, time.Now()
		}
		if waiting == 0 {
			return nil
		}
		if err := pause(ctx, every); err != nil {
			return err
		}
	}
}

// tell prints the result next to the truth, or the result alone if a party is absent.
func (p Pacer) tell(ctx context.Context, draft steward.Draft) error {
	id := draft.Study.ID.String()
	data, err := p.Dealt(draft.Study)
	if err != nil {
		return err
	}
	played, err := p.Site.Collect(ctx, draft, data)
	if err == nil {
		table, err := errortable.Make(ctx, played)
		if err != nil {
			return err
		}
		p.say("result", fmt.Sprintf("%s is in, from all %d parties:", id[:8], len(p.Site.Parties)))
		table.Write(p.Talk)
		fmt.Fprintln(p.Talk)
		return nil
	}
	for _, party := range p.Site.Parties {
		if s, known := snapshot(ctx, party, id); known && s.State == "done" {
			return p.partial(ctx, party, id)
		}
	}
	return fmt.Errorf("study %s has no result: %w", id[:8], err)
}

// partial prints a result that lacks a party.
func (p Pacer) partial(ctx context.Context, party *network.Node, id string) error {
	var result struct {
		Parties []struct{ Name string } `json:"parties"`
		Absent  []string                `json:"absent"`
	}
	if err := party.RunJSON(ctx, &result, "result", id); err != nil {
		return err
	}
	text, err := party.Run(ctx, "result", id)
	if err != nil {
		return err
	}
	p.say("result", fmt.Sprintf("%s is in even so, from %d of %d parties, without %v:", id[:8], len(result.Parties), len(p.Site.Parties), result.Absent))
	_, err = fmt.Fprintf(p.Talk, "%s\n", text)
	return err
}
