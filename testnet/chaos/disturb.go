package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cosketch/cosketch/testnet/network"
)

// Parameters of a round.
const (
	meanPause     = 150 * time.Millisecond // mean time between two disturbances
	longestOutage = 400 * time.Millisecond
	most          = 14 // maximum number of disturbances per round
	roundDeadline = 90 * time.Second
	look          = 5 * time.Millisecond // interval at which processes are checked
)

// member is the process of one node in a round, with its disturbance.
type member struct {
	node    *network.Node
	args    []string
	ends    bool // exits with 0 when the study is done; an aggregator never does
	process *network.Started
	done    bool
	again   time.Time // when a killed process is restarted
	goesOn  time.Time // when a paused process is continued
}

// disturber runs one round. It is not safe for concurrent use.
type disturber struct {
	site  *site
	relay *network.Relay
	rng   *rand.Rand
	round *Round

	members []*member
	mended  time.Time // when the cut network is mended; zero if it is not cut
}

// run starts all nodes and disturbs them until every party has its result.
func (d *disturber) run(ctx context.Context, id string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, roundDeadline)
	defer cancel()
	d.members = []*member{{node: d.site.Aggregator, args: []string{"serve", "--listen", network.Loopback(d.site.port)}}}
	for _, p := range d.site.Parties {
		d.members = append(d.members, &member{node: p, args: []string{"run", id, "--wait", roundDeadline.String()}, ends: true})
	}
	defer func() {
		d.relay.Restore()
		for _, m := range d.members {
			if m.process != nil {
				err = errors.Join(err, m.process.Kill())
			}
		}
	}()
	for _, m := range d.members {
		if err := d.start(m); err != nil {
			return err
		}
	}
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	next := time.Now().Add(d.pause())
	for {
		select {
		case <-ctx.Done():
			return fmt.Errorf("hangs: %w%s", ctx.Err(), d.waiting())
		case now := <-ticker.C:
			finished, err := d.mend(now)
			if err != nil || finished {
				return err
			}
			if now.After(next) && d.round.Kills+d.round.Pauses+d.round.Cuts < most {
				if err := d.disturb(now); err != nil {
					return err
				}
				next = now.Add(d.pause())
			}
		}
	}
}

func (d *disturber) start(m *member) (err error) {
	m.again = time.Time{}
	m.process, err = m.node.Start(m.args...)
	return err
}

func (d *disturber) pause() time.Duration {
	return time.Duration(d.rng.ExpFloat64() * float64(meanPause))
}

func (d *disturber) outage() time.Duration {
	return time.Duration(d.rng.Int64N(int64(longestOutage)))
}

// mend ends disturbances that are over, and reports whether every party is done.
func (d *disturber) mend(now time.Time) (finished bool, err error) {
	if !d.mended.IsZero() && now.After(d.mended) {
		d.relay.Restore()
		d.mended = time.Time{}
	}
	finished = true
	for _, m := range d.members {
		if !m.goesOn.IsZero() && now.After(m.goesOn) {
			m.goesOn = time.Time{}
			if err := m.process.Resume(); err != nil {
				return false, err
			}
		}
		if !m.again.IsZero() && now.After(m.again) {
			d.round.Restarts++
			if err := d.start(m); err != nil {
				return false, err
			}
		}
		if err := m.look(); err != nil {
			return false, err
		}
		finished = finished && (m.done || !m.ends)
	}
	return finished, nil
}

// look detects a process that has ended by itself.
func (m *member) look() error {
	if m.process == nil || m.done {
		return nil
	}
	select {
	case <-m.process.Ended():
		if err := m.process.Err(); err != nil {
			return fmt.Errorf("ended by itself: %w", err)
		}
		if !m.ends {
			return fmt.Errorf("%s ended by itself", m.node.Name)
		}
		m.done = true
	default:
	}
	return nil
}

// disturb disturbs one node, or the network.
func (d *disturber) disturb(now time.Time) error {
	m := d.members[d.rng.IntN(len(d.members))]
	switch what := d.rng.IntN(3); {
	case what == 0:
		if d.mended.IsZero() {
			d.relay.Cut()
			d.mended = now.Add(d.outage())
			d.round.Cuts++
		}
	case m.done || !m.again.IsZero() || !m.goesOn.IsZero():
		return nil // the process is done or already disturbed
	case what == 1 && network.CanPause:
		m.goesOn = now.Add(d.outage())
		d.round.Pauses++
		return m.process.Pause()
	default:
		if err := m.process.Kill(); err != nil {
			return err
		}
		if m.ends && m.process.Err() == nil { // it finished just before it was killed
			m.done = true
			return nil
		}
		m.process, m.again = nil, now.Add(d.outage())
		d.round.Kills++
	}
	return nil
}

// waiting returns the last lines of the parties that are not done.
func (d *disturber) waiting() (said string) {
	for _, m := range d.members {
		if m.ends && !m.done && m.process != nil {
			said += "\n  " + m.node.Name + " | " + m.process.Says()
		}
	}
	return said
}
