package chaos

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/live"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// site is the nodes, and what they have.
type site struct {
	aggregator *network.Node
	parties    [scenario.Parties]*network.Node
	dir        string
	relay      int // port of the relay: what the study file names
	port       int // port at which the aggregator listens
	scene      scenario.Scenario
	ids        []string // studies so far
	lifetime   time.Duration
}

// laboratories is what is disturbed: their data with noise, in a sketch of several
// chunks, so that there is an upload to be cut. The sketch of dimension k has 33 bytes for
// each of it.
func laboratories(k int) (scenario.Scenario, error) {
	table, err := cancer.Load()
	if err != nil {
		return scenario.Scenario{}, err
	}
	scene := scenario.Laboratories(table, mathrand.New(mathrand.NewPCG(1, 1)))
	scene.Name = "chaos"
	scene.Projection = projection.Spec{Family: projection.Sparse, K: k, S: 1}
	scene.Unit, scene.Mechanism, scene.Epsilon = dp.Attribute, dp.Laplace, 1
	return scene, nil
}

// newSite makes the nodes and their data under home, from the programs in dir.
func newSite(ctx context.Context, dir, home string, relay, port int, scene scenario.Scenario) (*site, error) {
	s := &site{dir: home, relay: relay, port: port, scene: scene, lifetime: 10 * time.Minute}
	var err error
	if s.aggregator, s.parties, err = network.Identities(ctx, dir, home); err != nil {
		return nil, err
	}
	for p, party := range s.parties {
		var file bytes.Buffer
		if err := s.scene.Tables[p].WriteCSV(&file); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(party.Dir(), "data.csv"), file.Bytes(), 0o600); err != nil {
			return nil, fmt.Errorf("writing the data of %s: %w", party.Name, err)
		}
	}
	return s, nil
}

func (s *site) serveArgs() []string {
	return []string{"serve", "--listen", fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", s.port)}
}

// propose makes a study, and every steward approves it.
func (s *site) propose(ctx context.Context, round int) (id string, err error) {
	terms := scenario.Terms{
		HPKE: s.aggregator.HPKE, Aggregate: s.aggregator.ID,
		Address: fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", s.relay), Now: time.Now(), Lifetime: s.lifetime,
	}
	if _, err := io.ReadFull(rand.Reader, terms.Nonce[:]); err != nil {
		return "", fmt.Errorf("drawing a nonce: %w", err)
	}
	for p, party := range s.parties {
		terms.Parties[p] = party.ID
	}
	file, err := s.scene.StudyFile(terms)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, fmt.Sprintf("study-%d.yaml", round+1))
	if err := os.WriteFile(path, file, 0o644); err != nil {
		return "", fmt.Errorf("writing the study file: %w", err)
	}
	var added struct {
		Study string `json:"study"`
	}
	if err := s.aggregator.RunJSON(ctx, &added, "study", "create", path); err != nil {
		return "", err
	}
	id = added.Study
	s.ids = append(s.ids, id)
	for _, party := range s.parties {
		if err := network.WriteSiteFile(party, s.siteFile()); err != nil {
			return "", err
		}
		if _, err := party.Run(ctx, "study", "add", path); err != nil {
			return "", err
		}
		if _, err := party.Run(ctx, "study", "approve", id, "--id", id[:8], "--although-useless"); err != nil {
			return "", err
		}
	}
	return id, nil
}

// siteFile names the data and all studies, which together may spend what they need.
func (s *site) siteFile() []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "datasets:\n  data: {source: data.csv, id: [%s], caps: {attribute: {epsilon: %d}}}\nstudies:\n", scenario.IDColumn, len(s.ids))
	for _, id := range s.ids {
		fmt.Fprintf(&out, "  \"%s\": {dataset: data}\n", id)
	}
	return []byte(out.String())
}

// check says what is wrong after a round.
func (s *site) check(ctx context.Context, id string) error {
	for _, party := range s.parties {
		var budget struct {
			Entries []struct {
				Study string `json:"study"`
			} `json:"entries"`
		}
		if err := party.RunJSON(ctx, &budget, "budget", "show"); err != nil {
			return err
		}
		entries := 0
		for _, e := range budget.Entries {
			if e.Study == id {
				entries++
			}
		}
		if entries != 1 || len(budget.Entries) != len(s.ids) {
			return fmt.Errorf("the ledger of %s has %d entries of this study and %d of %d studies", party.Name, entries, len(budget.Entries), len(s.ids))
		}
	}
	return s.checkResult(ctx, id)
}

// checkResult compares every party's result with what the analyses make of the stored
// releases.
func (s *site) checkResult(ctx context.Context, id string) error {
	study, err := s.readStudy(id)
	if err != nil {
		return err
	}
	options := analysis.Options{Study: study, Attempt: 1, Complete: true}
	var results [scenario.Parties][]byte
	for _, party := range study.Parties { // in the order that the result has
		p, node := s.nodeNamed(party.Name)
		read, err := live.Read(node, study)
		if err != nil {
			return fmt.Errorf("%s: %w", node.Name, err)
		}
		options.T2, results[p] = read.T2, read.Result
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
			return fmt.Errorf("the result of %s is not what the stored releases give", s.parties[p].Name)
		}
	}
	return nil
}

func (s *site) readStudy(id string) (*study.Study, error) {
	source, err := os.ReadFile(filepath.Join(s.dir, fmt.Sprintf("study-%d.yaml", len(s.ids))))
	if err != nil {
		return nil, fmt.Errorf("reading the study file: %w", err)
	}
	read, err := study.Parse(source)
	if err == nil && read.ID.String() != id {
		err = fmt.Errorf("its id is %s, not %s", read.ID.Short(), id[:8])
	}
	if err != nil {
		return nil, fmt.Errorf("reading the study file: %w", err)
	}
	return read, nil
}

func (s *site) nodeNamed(name string) (int, *network.Node) {
	for p, n := range s.parties {
		if n.Name == name {
			return p, n
		}
	}
	panic("chaos: no node " + name) // the study file was made from their names
}
