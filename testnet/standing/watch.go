package standing

import (
	"context"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/steward"
)

// snapshots asks a node where its studies stand; nil where that cannot be read just now.
func snapshots(ctx context.Context, n *network.Node) []stored.Snapshot {
	var out []stored.Snapshot
	if err := n.RunJSON(ctx, &out, "status"); err != nil {
		return nil
	}
	return out
}

// snapshot is that of one study.
func snapshot(ctx context.Context, n *network.Node, id string) (stored.Snapshot, bool) {
	for _, s := range snapshots(ctx, n) {
		if s.Study == id {
			return s, true
		}
	}
	return stored.Snapshot{}, false
}

// watch says when the state of a study changes at a party.
type watch struct {
	site *steward.Site
	say  func(name, text string)
}

// every is how often nodes are asked.
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

// doing is what a party was at when it ended, for its obituary.
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

// siteOf is a site of one party alone, to look at it.
func siteOf(n *network.Node) *steward.Site { return &steward.Site{Parties: []*network.Node{n}} }
