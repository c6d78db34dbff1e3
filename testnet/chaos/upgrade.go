package chaos

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/testnet/network"
)

// UpgradeOptions are what Upgrade is told. All but Take are required.
type UpgradeOptions struct {
	Dir    string                  // an empty directory
	Before string                  // where the old programs are
	After  string                  // where the new ones are
	Take   func(state string) bool // which states are played; nil: all
	Log    io.Writer
}

// Upgraded is what came of a study whose nodes got other programs on the way.
type Upgraded struct {
	State    string  `json:"state"`
	Begun    string  `json:"begun"`    // by which programs
	Finished string  `json:"finished"` // by which programs
	At       string  `json:"at"`       // where each node was when the programs changed
	Tries    int     `json:"tries"`    // how often a study was begun until one was there
	Outcome  Outcome `json:"outcome"`
	Why      string  `json:"why,omitempty"`
	Seconds  float64 `json:"seconds"` // from the change to the end
}

// Outcome says how a study went on.
type Outcome string

// The outcomes.
const (
	Whole   Outcome = "whole"   // finished, and everything is as in a study that nothing happened to
	Refused Outcome = "refused" // by old programs, of what new ones began
	Broken  Outcome = "BROKEN"
)

// programs says where the programs of the aggregator and of the parties are.
type programs struct{ name, aggregator, parties string }

// way is who begins a study and who finishes it.
type way struct {
	begin, finish programs
	mayRefuse     bool
}

// state is where the nodes of a study are stopped.
type state struct {
	name    string
	acts    []act
	ask     bool            // every steward is asked before a sketch leaves
	byHand  bool            // the programs change with every file
	party   []session.State // where the first party may then be; nil: anywhere
	host    []session.State // where the aggregator may then be; nil: anywhere
	entries int             // of the first party's ledger
	kept    int64           // bytes that the aggregator holds at least
}

// act runs the aggregator and some parties. Each party is killed once it has said something, or
// all are once the aggregator has; then the aggregator is.
type act struct {
	parties []int
	says    string        // by a party
	hears   string        // said by the aggregator
	sent    int64         // or so many bytes have gone to the aggregator
	until   session.State // the aggregator goes on alone until this is its state
}

// everybody is the parties of the study.
var everybody = []int{0, 1, 2}

// signed is how a party's log names a message that is stored and not yet sent.
func signed(kind protocol.Kind) string { return fmt.Sprintf(`"kind":%q`, kind) }

// waits is how it names a state that is stored.
func waits(state session.State) string { return fmt.Sprintf(`"state":%q`, state) }

// states are all that a study passes, in order. What a party has signed is stored before its
// state is, so that it may be killed in between.
func states() []state {
	const partly = protocol.ChunkSize + protocol.ChunkSize/4 // of a release of three chunks
	all := func(says string) []act { return []act{{parties: everybody, says: says}} }
	at := func(states ...session.State) []session.State { return states }
	invited := act{parties: []int{0}, hears: signed(protocol.KindApprove)}
	return []state{
		{name: "approved", party: at(stored.ApprovedHere), host: at(stored.Added)},
		{name: "open", acts: []act{invited}, party: at(session.Approved), host: at(session.Open)},
		{name: "before commit", acts: []act{invited, {parties: []int{1, 2}, says: waits(session.Committed)}}, party: at(session.Approved), host: at(session.Agreeing)},
		{name: "commit signed", acts: all(signed(protocol.KindCommit)), party: at(session.Approved, session.Committed), host: at(session.Agreeing)},
		{name: "committed", acts: all(waits(session.Committed)), party: at(session.Committed), host: at(session.Agreeing)},
		{name: "share signed", acts: all(signed(protocol.KindShare)), party: at(session.Committed, session.Shared), host: at(session.Agreeing)},
		{name: "shared", acts: all(waits(session.Shared)), party: at(session.Shared), host: at(session.Agreeing)},
		{name: "confirm signed", acts: all(signed(protocol.KindConfirm)), party: at(session.Shared, session.Confirmed), host: at(session.Agreeing, session.Collecting)},
		{name: "confirmed", acts: all(waits(session.Confirmed)), party: at(session.Confirmed), host: at(session.Agreeing, session.Collecting)},
		{name: "seeded", acts: all(waits(session.Seeded)), party: at(session.Seeded), host: at(session.Collecting)},
		{name: "held", ask: true, acts: all("data held"), party: at(session.Seeded), host: at(session.Collecting)},
		{name: "debited", acts: all("release debited"), party: at(session.Seeded), host: at(session.Collecting), entries: 1},
		{name: "released", acts: all("release stored"), party: at(session.Seeded, session.Sketched), host: at(session.Collecting), entries: 1},
		{name: "partly uploaded", acts: append(all("release stored"), act{parties: []int{0}, sent: partly}), party: at(session.Sketched), host: at(session.Collecting), entries: 1, kept: protocol.ChunkSize},
		{name: "uploaded", acts: all(waits(session.Released)), party: at(session.Released), host: at(session.Collecting, session.Computing), entries: 1},
		{name: "computed", acts: []act{{parties: everybody, says: waits(session.Released), until: session.Closed}}, party: at(session.Released), host: at(session.Closed), entries: 1},
		{name: "by hand", byHand: true},
	}
}

// StateNames are the names of the states that Upgrade plays.
func StateNames() (out []string) {
	for _, s := range states() {
		out = append(out, s.name)
	}
	return append(out, mixed)
}

// The names of studies that are stopped nowhere.
const (
	undisturbed = "undisturbed" // nothing happens to it
	mixed       = "mixed"       // its nodes never have the same programs
)

// Upgrade brings a study to each state with the old programs and lets the new ones finish it, and
// the other way round. Then nodes with old and with new programs play a study together. Beside
// these it plays one that nothing happens to. It returns what came of each, and an error only
// where that cannot be told.
func Upgrade(ctx context.Context, o UpgradeOptions) ([]Upgraded, error) {
	before, after := programs{"old", o.Before, o.Before}, programs{"new", o.After, o.After}
	u := upgrader{UpgradeOptions: o}
	if err := u.try(ctx, state{name: undisturbed}, way{begin: after, finish: after}); err != nil || u.spent == nil {
		return u.out, err
	}
	for _, w := range []way{{begin: before, finish: after}, {begin: after, finish: before, mayRefuse: true}} {
		for _, s := range states() {
			if err := u.taken(ctx, s, w); err != nil {
				return u.out, err
			}
		}
	}
	for _, p := range []programs{{"old aggregator", o.Before, o.After}, {"old parties", o.After, o.Before}} {
		if err := u.taken(ctx, state{name: mixed}, way{begin: p, finish: p}); err != nil {
			return u.out, err
		}
	}
	return u.out, nil
}

// WriteUpgraded prints a line for each study, for people.
func WriteUpgraded(w io.Writer, all []Upgraded) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "state\tbegun by\tfinished by\toutcome\ts\tthree parties and the aggregator were")
	for _, u := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%.1f\t%s\n", u.State, u.Begun, u.Finished, u.Outcome, u.Seconds, u.At)
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	for _, u := range all {
		if u.Why == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s, begun by %s: %s: %s\n", u.State, u.Begun, u.Outcome, u.Why); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// nodes are those of a site, with the programs of one build.
type nodes struct {
	aggregator *network.Node
	parties    []*network.Node
}

// staff gives a site's nodes other programs.
func (s *site) staff(ctx context.Context, with programs) (out nodes, err error) {
	open := func(dir, program string, n *network.Node) (*network.Node, error) {
		again, err := network.OpenNode(ctx, filepath.Join(dir, network.Executable(program)), n.Dir(), n.Name)
		if err == nil {
			err = again.LearnNames(ctx)
		}
		return again, err
	}
	if out.aggregator, err = open(with.aggregator, "aggregator", s.Aggregator); err != nil {
		return out, err
	}
	for _, p := range s.Parties {
		party, err := open(with.parties, "party", p)
		if err != nil {
			return out, err
		}
		out.parties = append(out.parties, party)
	}
	return out, nil
}

// use lets nodes act from now on.
func (s *site) use(n nodes) { s.Aggregator, s.Parties = n.aggregator, n.parties }
