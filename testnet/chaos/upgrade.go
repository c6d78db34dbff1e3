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

// UpgradeOptions are the options of Upgrade. All but Take are required.
type UpgradeOptions struct {
	Dir    string                  // an empty directory
	Before string                  // directory of the old programs
	After  string                  // directory of the new programs
	Take   func(state string) bool // selects the states to play; nil: all
	Log    io.Writer
}

// Upgraded is the outcome of a study whose programs were changed while it ran.
type Upgraded struct {
	State    string  `json:"state"`
	Begun    string  `json:"begun"`    // by which programs
	Finished string  `json:"finished"` // by which programs
	At       string  `json:"at"`       // state of each node when the programs changed
	Tries    int     `json:"tries"`    // number of studies begun until one reached the state
	Outcome  Outcome `json:"outcome"`
	Why      string  `json:"why,omitempty"`
	Seconds  float64 `json:"seconds"` // from the change to the end
}

// Outcome is the outcome of a study after the change.
type Outcome string

// The outcomes.
const (
	Whole   Outcome = "whole"   // finished, with the same ledgers as an undisturbed study
	Refused Outcome = "refused" // refused by old programs, as new ones had begun it
	Broken  Outcome = "BROKEN"
)

// programs has the directories of the aggregator's and the parties' programs.
type programs struct{ name, aggregator, parties string }

// way says which programs begin a study and which finish it.
type way struct {
	begin, finish programs
	mayRefuse     bool
}

// state is a state in which the nodes of a study are stopped.
type state struct {
	name    string
	acts    []act
	ask     bool            // stewards must release each sketch
	byHand  bool            // the study is finished by files, and the programs change with every file
	party   []session.State // allowed states of the first party; nil: any
	host    []session.State // allowed states of the aggregator; nil: any
	entries int             // number of entries of the first party's ledger
	kept    int64           // least size of the aggregator's state in bytes
}

// act runs the aggregator and some parties. Each party is killed once it has said something, or all
// are killed once the aggregator has. Then the aggregator is killed.
type act struct {
	parties []int
	says    string        // text in a party's log
	hears   string        // text in the aggregator's log
	sent    int64         // or this many bytes were sent to the aggregator
	until   session.State // then the aggregator continues alone until it is in this state
}

// everybody are the indexes of all parties of the study.
var everybody = []int{0, 1, 2}

// signed returns how a party's log names a message that is stored and not yet sent.
func signed(kind protocol.Kind) string { return fmt.Sprintf(`"kind":%q`, kind) }

// waits returns how a log names a state that is stored.
func waits(state session.State) string { return fmt.Sprintf(`"state":%q`, state) }

// states returns all states of a study, in order. A party stores what it has signed before it
// stores its state, so it may be killed in between.
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

// StateNames returns the names of the states that Upgrade plays.
func StateNames() (out []string) {
	for _, s := range states() {
		out = append(out, s.name)
	}
	return append(out, mixed)
}

// Names of studies that are not stopped.
const (
	undisturbed = "undisturbed" // the programs do not change
	mixed       = "mixed"       // old and new programs run the study together
)

// Upgrade brings a study to each state with the old programs and finishes it with the new ones, and
// vice versa. Then nodes with old and with new programs run a study together. For comparison it
// also runs an undisturbed study. It returns the outcomes, and an error only if an outcome cannot
// be determined.
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

// WriteUpgraded prints one line per study, for people.
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

// nodes are the nodes of a site, with the programs of one build.
type nodes struct {
	aggregator *network.Node
	parties    []*network.Node
}

// staff returns a site's nodes with other programs.
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

// use makes the site use these nodes from now on.
func (s *site) use(n nodes) { s.Aggregator, s.Parties = n.aggregator, n.parties }
