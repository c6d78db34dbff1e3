package standing

import (
	"context"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/steward"
)

// snapshots returns the states of a node's studies; nil if they cannot be read now.
func snapshots(ctx context.Context, n *network.Node) []stored.Snapshot {
	var out []stored.Snapshot
	if err := n.RunJSON(ctx, &out, "status"); err != nil {
		return nil
	}
	return out
}

// snapshot returns the state of one study.
func snapshot(ctx context.Context, n *network.Node, id string) (stored.Snapshot, bool) {
	for _, s := range snapshots(ctx, n) {
		if s.Study == id {
			return s, true
		}
	}
	return stored.Snapshot{}, false
}

// watch reports when the state of a study changes at a party.
type watch struct {
	site *steward.Site
	say  func(name, text string)
}

// every is the interval at which nodes are asked.
const every = time.Second

func (w *watch) run(ctx context.Context) {
	last := map[string]string{}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for first := true; ; first = false {
		for _, party := range w.site.Parties {
			for _, s := range snapshots(ctx, party) {
				key, now := party.Name+s.Study, s.Stands()
				if last[key] != now && !(first && !s.Active()) {
					w.say(party.Name, fmt.Sprintf("%s %s", s.Study[:8], now))
				}
				last[key] = now
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// doing returns what a party was doing when it ended, for the message about it.
func (w *watch) doing(ctx context.Context, name string) string {
	for _, party := range w.site.Parties {
		if party.Name != name {
			continue
		}
		for _, s := range snapshots(ctx, party) {
			if s.Active() {
				return fmt.Sprintf(" when study %s was %s", s.Study[:8], s.Stands())
			}
		}
	}
	return ""
}

// siteOf returns a site with one party only, to read its state.
func siteOf(n *network.Node) *steward.Site { return &steward.Site{Parties: []*network.Node{n}} }
