// Package live plays one study between three party processes and an aggregator process of
// this machine, and returns all that anybody could look at afterwards: the result, what each
// party alone is told of its records, and the releases themselves.
package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/scenario"
)

const (
	lifetime = 10 * time.Minute // from a study's creation to its upload deadline
	wait     = 3 * time.Minute  // how long a party waits for the others
)

// Study is a study of three parties and the data that they hold.
type Study struct {
	Name      string // required: of letters, digits and hyphens
	Partition study.Partition
	Columns   []string // required: entries of columns, as a study file has them
	Sketches  []string // required: entries of sketches
	Privacy   string   // required: the entry of privacy
	Analyses  []string // entries of analyses

	// Data is required: what each party holds. Values of categorical columns have no place
	// in it; a binary column's are 0 and 1.
	Data [scenario.Parties]scenario.Table

	Audit bool // whether the first party attacks a release of its own before the study runs
}

// Outcome is what came of a study.
type Outcome struct {
	Study    *study.Study
	Result   analysis.Result
	Own      [scenario.Parties][]map[string]string // what result --output told the party of each of its records, by heading; nil if nothing
	Releases [scenario.Parties]Release
	Attacked node.Attacked // what party audit --data said, where it was asked for
}

// Network is a running aggregator and three parties. Studies are played one after another.
type Network struct {
	nodes  *network.Network
	dir    string
	sites  [scenario.Parties]strings.Builder // entries of studies
	data   [scenario.Parties]strings.Builder // entries of datasets
	played int
}

// Start builds the programs and starts an aggregator in a directory, which the caller
// removes after Stop.
func Start(ctx context.Context, dir string) (*Network, error) {
	if err := network.Build(ctx, dir); err != nil {
		return nil, err
	}
	nodes, err := network.Start(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Network{nodes: nodes, dir: dir}, nil
}

// Stop ends the aggregator.
func (n *Network) Stop() { n.nodes.Stop() }

// Play runs a study from its file to the results. The parties' stewards accept whatever
// it gives away: the data are public.
func (n *Network) Play(ctx context.Context, s Study) (Outcome, error) {
	out, err := n.play(ctx, s)
	if err != nil && ctx.Err() == nil {
		return Outcome{}, fmt.Errorf("playing study %s: %w%s", s.Name, err, n.nodes.Talk())
	}
	return out, errors.Join(err, ctx.Err())
}

func (n *Network) play(ctx context.Context, s Study) (out Outcome, err error) {
	n.played++
	file, err := s.file(n.nodes)
	if err != nil {
		return out, err
	}
	if out.Study, err = study.Parse(file); err != nil {
		return out, fmt.Errorf("its file: %w", err)
	}
	path := filepath.Join(n.dir, fmt.Sprintf("study-%d.yaml", n.played))
	if err := os.WriteFile(path, file, 0o644); err != nil {
		return out, fmt.Errorf("writing the study file: %w", err)
	}
	if _, err := n.nodes.Aggregator.Run(ctx, "study", "create", path); err != nil {
		return out, err
	}
	id := out.Study.ID.String()
	for p, party := range n.nodes.Parties {
		if err := n.seat(p, s, id); err != nil {
			return out, err
		}
		if _, err := party.Run(ctx, "study", "add", path); err != nil {
			return out, err
		}
		if _, err := party.Run(ctx, "study", "approve", id, "--id", id[:8], "--although-useless"); err != nil {
			return out, err
		}
	}
	if s.Audit {
		if err := n.nodes.Parties[0].RunJSON(ctx, &out.Attacked, "audit", id, "--data"); err != nil {
			return out, err
		}
	}
	if err := n.run(ctx, id); err != nil {
		return out, err
	}
	return out, n.collect(ctx, id, &out)
}

// seat writes a party's data, and names them in its site file.
func (n *Network) seat(p int, s Study, id string) error {
	party, name := n.nodes.Parties[p], fmt.Sprintf("data-%d", n.played)
	var table bytes.Buffer
	if err := s.Data[p].WriteCSV(&table); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(party.Dir(), name+".csv"), table.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing the data of %s: %w", party.Name, err)
	}
	const plenty = "{attribute: {epsilon: 1e6, delta: 0.5}}"
	var apart []string
	for before := 1; before < n.played; before++ {
		apart = append(apart, fmt.Sprintf("data-%d: drawn anew", before))
	}
	fmt.Fprintf(&n.data[p], "  %s: {source: %s.csv, id: [%s], caps: %s, apart_from: {%s}}\n", name, name, scenario.IDColumn, plenty, strings.Join(apart, ", "))
	fmt.Fprintf(&n.sites[p], "  \"%s\": {dataset: %s, accept_reconstruction: true}\n", id, name)
	return network.WriteSiteFile(party, []byte("datasets:\n"+n.data[p].String()+"studies:\n"+n.sites[p].String()))
}

// run lets all parties serve the study at once.
func (n *Network) run(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failures [scenario.Parties]error
	var running sync.WaitGroup
	for p, party := range n.nodes.Parties {
		running.Go(func() {
			if _, failures[p] = party.Run(ctx, "run", id, "--wait", wait.String()); failures[p] != nil {
				cancel() // the others would wait in vain
			}
		})
	}
	running.Wait()
	for _, err := range failures {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(failures[:]...)
}

// collect reads the result, the same for all parties, what each is told, and the releases.
func (n *Network) collect(ctx context.Context, id string, out *Outcome) error {
	var first []byte
	for p, party := range n.nodes.Parties {
		dir := filepath.Join(party.Dir(), "result-"+id[:8])
		if _, err := party.Run(ctx, "result", id, "--output", dir); err != nil {
			return err
		}
		raw, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			return fmt.Errorf("reading the result of %s: %w", party.Name, err)
		}
		if first == nil {
			first = raw
		} else if !bytes.Equal(first, raw) {
			return fmt.Errorf("%s holds another result than %s", party.Name, n.nodes.Parties[0].Name)
		}
		if out.Own[p], err = readOwn(filepath.Join(dir, "labels.csv")); err != nil {
			return fmt.Errorf("reading what %s is told of its records: %w", party.Name, err)
		}
		if out.Releases[p], err = Read(party, out.Study); err != nil {
			return fmt.Errorf("reading the release of %s: %w", party.Name, err)
		}
	}
	var err error
	out.Result, err = analysis.Decode(first, out.Study.ID)
	if err == nil && (out.Result.Completeness != "full" || len(out.Result.Absent) > 0) {
		err = fmt.Errorf("the result is %s; absent: %v", out.Result.Completeness, out.Result.Absent)
	}
	return err
}

// readOwn reads a party's table of its own records; nil if there is none.
func readOwn(path string) ([]map[string]string, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		record := make(map[string]string, len(line))
		for i, heading := range lines[0] {
			record[heading] = line[i]
		}
		out = append(out, record)
	}
	return out, nil
}

// file renders the study file.
func (s Study) file(nodes *network.Network) ([]byte, error) {
	var nonce [16]byte
	if _, err := io.ReadFull(rand.Reader, nonce[:]); err != nil {
		return nil, fmt.Errorf("drawing a nonce: %w", err)
	}
	var out strings.Builder
	instant := func(d time.Duration) string { return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05Z") }
	fmt.Fprintf(&out, "cosketch: study/2\nname: %s\nnonce: \"%x\"\naggregator: {id: %s, hpke: %s, addrs: [%s]}\nparties:\n",
		s.Name, nonce, nodes.Aggregator.ID, nodes.Aggregator.HPKE, nodes.Address)
	for _, p := range nodes.Parties {
		fmt.Fprintf(&out, "  - {name: %s, id: %s}\n", p.Name, p.ID)
	}
	fmt.Fprintf(&out, "partition: %s\nquorum: %d\nexpires: %s\ndeadline: %s\nrecords: {id: [%s], missing: refuse}\n",
		s.Partition, len(nodes.Parties), instant(lifetime*3/4), instant(lifetime), scenario.IDColumn)
	for _, list := range []struct {
		key     string
		entries []string
	}{{"columns", s.Columns}, {"sketches", s.Sketches}, {"analyses", s.Analyses}} {
		fmt.Fprintf(&out, "%s:\n", list.key)
		for _, entry := range list.entries {
			fmt.Fprintf(&out, "  - {%s}\n", entry)
		}
	}
	fmt.Fprintf(&out, "privacy: {%s}\n", s.Privacy)
	return []byte(out.String()), nil
}
