package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// site has the nodes and their data.
type site struct {
	steward.Site
	pooled   corpus.Table // empty: the template's data set
	port     int          // where the aggregator listens; studies name the relay's port
	ids      []string     // studies so far
	debits   int          // ledger entries per study
	lifetime time.Duration
}

// mostStudies is the number of studies that the parties' budgets pay for.
const mostStudies = 1000

// laboratories returns the study that is disturbed: the network of that name with noise, and with a
// sketch of several chunks, so that uploads can be cut. A sketch of dimension k has 33·k bytes.
func laboratories(k int) (networks.Template, error) {
	found, err := networks.Find("laboratories")
	if err != nil {
		return networks.Template{}, err
	}
	t, err := found[0].Change("family: rademacher, k: 256", fmt.Sprintf("family: sparse, k: %d, s: 1", k))
	if err != nil {
		return networks.Template{}, err
	}
	return t.Change("privacy: {mechanism: none}", "privacy: {unit: attribute, mechanism: laplace, epsilon: 1}")
}

// hospitals returns a study of two rounds: k-means by code points that depend on the first round.
func hospitals() (networks.Template, error) {
	found, err := networks.Find("hospitals-cells")
	if err != nil {
		return networks.Template{}, err
	}
	t, err := found[0].Change("{side: cells, L: 2, q: 1, clip: 1.5, share: 0.4}", "{side: codes, share: 0.7}")
	if err != nil {
		return networks.Template{}, err
	}
	return t.Change("privacy: {unit: record", "rounds: 2\nprivacy: {unit: record")
}

// newSite creates the nodes under home, with the programs in dir.
func newSite(ctx context.Context, dir, home string, relay, port int, t networks.Template) (*site, error) {
	s := &site{port: port, lifetime: 10 * time.Minute}
	s.Dir, s.Address, s.Template, s.Terms.Studies = home, network.Loopback(relay), t, mostStudies
	var err error
	s.Aggregator, s.Parties, err = network.Identities(ctx, dir, home, t.Parties...)
	return s, err
}

// relayed creates the nodes with a relay in front of the aggregator, which the caller must close.
func relayed(ctx context.Context, dir, home string, t networks.Template) (*site, *network.Relay, error) {
	port, err := network.FreePort()
	if err != nil {
		return nil, nil, err
	}
	relay, err := network.NewRelay(ctx, fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, nil, err
	}
	s, err := newSite(ctx, dir, home, relay.Port(), port, t)
	if err != nil {
		return nil, nil, errors.Join(err, relay.Close())
	}
	return s, relay, nil
}

// propose creates a study and lets every steward approve it. The data are dealt for the first
// study.
func (s *site) propose(ctx context.Context) (id string, err error) {
	draft, err := s.Draft(steward.Dates{Expires: s.lifetime * 3 / 4, Deadline: s.lifetime})
	if err != nil {
		return "", err
	}
	if len(s.ids) == 0 {
		if s.pooled.Rows == nil {
			if s.pooled, err = networks.Load(s.Template.Data, nil); err != nil {
				return "", err
			}
		}
		dealt, err := s.Template.Deal(draft.Study, s.pooled, 1)
		if err != nil {
			return "", err
		}
		if _, err := s.Deal(draft, dealt); err != nil {
			return "", err
		}
	}
	if err := s.Agree(ctx, draft); err != nil {
		return "", err
	}
	id, s.debits = draft.Study.ID.String(), len(draft.Study.Sketches)
	s.ids = append(s.ids, id)
	return id, nil
}

// check returns an error if the ledgers or results are wrong after a round.
func (s *site) check(ctx context.Context, id string) error {
	for _, party := range s.Parties {
		var budget struct {
			Entries []struct {
				Study string `json:"study"`
			} `json:"entries"`
		}
		if err := party.RunJSON(ctx, &budget, "budget"); err != nil {
			return err
		}
		entries := 0
		for _, e := range budget.Entries {
			if e.Study == id {
				entries++
			}
		}
		if entries != s.debits || len(budget.Entries) != s.debits*len(s.ids) {
			return fmt.Errorf("the ledger of %s has %d entries of this study and %d in all: want %d for each of %d studies", party.Name, entries, len(budget.Entries), s.debits, len(s.ids))
		}
	}
	return s.checkResult(ctx, id)
}

// checkResult compares every party's result with the output of the analyses on the stored releases.
func (s *site) checkResult(ctx context.Context, id string) error {
	draft, err := s.Reopen(id)
	if err != nil {
		return err
	}
	study := draft.Study
	options := analysis.Options{Study: study, Attempt: 1, Complete: true}
	results := make([][]byte, len(s.Parties))
	for _, party := range study.Parties { // in the order of the result
		p, node := s.nodeNamed(party.Name)
		read, err := steward.ReadRelease(node, study)
		if err != nil {
			return fmt.Errorf("%s: %w", node.Name, err)
		}
		options.Study, options.T2, results[p] = read.Study, read.T2, read.Result
		options.Contributions = append(options.Contributions, read.Contribution)
	}
	result, _, err := analysis.Run(ctx, options)
	if err != nil {
		return err
	}
	want, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		return err
	}
	for p, got := range results {
		if !bytes.Equal(bytes.TrimSpace(got), want) {
			return fmt.Errorf("the result of %s is not what the stored releases give", s.Parties[p].Name)
		}
	}
	return nil
}

func (s *site) nodeNamed(name string) (int, *network.Node) {
	for p, n := range s.Parties {
		if n.Name == name {
			return p, n
		}
	}
	panic("chaos: no node " + name) // impossible: the study file was made from these names
}
