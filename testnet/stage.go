package main

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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/kernel/audit"
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// studyLifetime is the time from a study's creation to its upload deadline.
const studyLifetime = 10 * time.Minute

// partyWait is how long a party waits for the others.
const partyWait = 90 * time.Second

// stage plays scenarios on a running network, one after the other.
type stage struct {
	nodes *network.Network
	data  cancer.Table
	dir   string
	log   io.Writer

	sites [scenario.Parties]site // what the parties' site files hold so far
}

// play runs one study from its file to the comparison with the truth.
func (s *stage) play(ctx context.Context, scene scenario.Scenario) (outcome.Study, error) {
	out := outcome.Study{Scenario: scene, Ledgers: map[string][]outcome.Spent{}}
	var err error
	fmt.Fprintf(s.log, "%s: writing the data of three parties\n", scene.Name)
	if out.RawBytes, err = s.deal(scene); err != nil {
		return out, err
	}
	began := time.Now()
	id, err := s.propose(ctx, scene)
	if err != nil {
		return out, err
	}
	if err := s.approve(ctx, scene, id); err != nil {
		return out, err
	}
	if out.Exposure, err = exposure(scene); err != nil {
		return out, err
	}
	if out.Exposure != "" {
		fmt.Fprintf(s.log, "%s: no noise. %s\n", scene.Name, out.Exposure)
	}
	if err := s.run(ctx, scene, id); err != nil {
		return out, err
	}
	labels, err := s.collect(ctx, id, &out)
	if err != nil {
		return out, err
	}
	out.Elapsed = time.Since(began)
	return out, s.compare(scene, labels, &out)
}

// deal writes each party's data file, once for each dataset.
func (s *stage) deal(scene scenario.Scenario) (raw int64, err error) {
	for p, table := range scene.Tables {
		path := filepath.Join(s.nodes.Parties[p].Dir(), scene.Dataset+".csv")
		var file bytes.Buffer
		if err := table.WriteCSV(&file); err != nil {
			return 0, err
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			return 0, fmt.Errorf("writing the data of %s: %w", scenario.PartyNames[p], err)
		}
		raw += int64(file.Len())
	}
	return raw, nil
}

// propose writes the study file and hands it to the aggregator. It returns the
// study's id as the first party sees it.
func (s *stage) propose(ctx context.Context, scene scenario.Scenario) (id string, err error) {
	terms := scenario.Terms{
		HPKE:      s.nodes.Aggregator.HPKE,
		Aggregate: s.nodes.Aggregator.ID,
		Address:   s.nodes.Address,
		Now:       time.Now(),
		Lifetime:  studyLifetime,
	}
	if _, err := io.ReadFull(rand.Reader, terms.Nonce[:]); err != nil {
		return "", fmt.Errorf("drawing a nonce: %w", err)
	}
	for p, party := range s.nodes.Parties {
		terms.Parties[p] = party.ID
	}
	file, err := scene.StudyFile(terms)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, scene.Name+".yaml")
	if err := os.WriteFile(path, file, 0o644); err != nil {
		return "", fmt.Errorf("writing the study file: %w", err)
	}
	if _, err := s.nodes.Aggregator.Run(ctx, "study", "create", path); err != nil {
		return "", err
	}
	for _, party := range s.nodes.Parties {
		var added struct {
			Study string `json:"study"`
		}
		if err := party.RunJSON(ctx, &added, "study", "add", path); err != nil {
			return "", err
		}
		if id != "" && added.Study != id {
			return "", fmt.Errorf("%s reads the study's id as %s, others as %s", party.Name, added.Study, id)
		}
		id = added.Study
	}
	return id, nil
}

// approve does what each party's steward does: name the data in the site file,
// and approve by the id's first eight characters.
func (s *stage) approve(ctx context.Context, scene scenario.Scenario, id string) error {
	for p, party := range s.nodes.Parties {
		s.sites[p].add(scene, id)
		if err := network.WriteSiteFile(party, s.sites[p].yaml()); err != nil {
			return err
		}
		if _, err := party.Run(ctx, "study", "approve", id, "--id", id[:8], "--although-useless"); err != nil {
			return err
		}
	}
	return nil
}

// exposure is what sketches without noise give away; empty with noise.
func exposure(scene scenario.Scenario) (string, error) {
	if scene.Mechanism != dp.None {
		return "", nil
	}
	shape := audit.Shape{Side: scene.Side, Projection: scene.Projection}
	if scene.Side == sketch.Columns {
		shape.Records = len(scene.Tables[0].IDs)
	} else {
		shape.Columns = len(scene.Columns)
	}
	exposed, err := audit.Expose(shape)
	if err != nil {
		return "", err
	}
	text := "Each party's " + exposed.String() + "."
	if ok, reason := exposed.Acceptable(); !ok {
		text += " Refused by default, because " + reason + "; each steward accepted it in the site file."
	}
	return text, nil
}

// run lets all parties serve the study at once and says what they wait for.
func (s *stage) run(ctx context.Context, scene scenario.Scenario, id string) error {
	fmt.Fprintf(s.log, "%s: approved by all; the parties run\n", scene.Name)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failures [scenario.Parties]error
	var running sync.WaitGroup
	for p, party := range s.nodes.Parties {
		running.Go(func() {
			if _, failures[p] = party.Run(ctx, "run", id, "--wait", partyWait.String()); failures[p] != nil {
				cancel() // the others would wait in vain
			}
		})
	}
	ended := make(chan struct{})
	go func() { running.Wait(); close(ended) }()
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return firstCause(failures[:])
		case <-tick.C:
			for _, party := range s.nodes.Parties {
				if says := party.Says(); says != "" {
					fmt.Fprintf(s.log, "  %s | %s\n", party.Name, says)
				}
			}
			if err := s.nodes.Check(); err != nil {
				cancel()
				<-ended
				return err
			}
		}
	}
}

// firstCause prefers a failure of its own over those that a cancellation made.
func firstCause(failures []error) error {
	var cause error
	for _, err := range failures {
		if err != nil && (cause == nil || errors.Is(cause, context.Canceled)) {
			cause = err
		}
	}
	return cause
}

// collect reads the result, the same for all parties, each party's labels and
// its ledger.
func (s *stage) collect(ctx context.Context, id string, out *outcome.Study) (labels [scenario.Parties]map[string]int, err error) {
	var first []byte
	for p, party := range s.nodes.Parties {
		dir := filepath.Join(party.Dir(), "result-"+id[:8])
		if _, err := party.Run(ctx, "result", id, "--output", dir); err != nil {
			return labels, err
		}
		raw, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			return labels, fmt.Errorf("reading the result of %s: %w", party.Name, err)
		}
		if first == nil {
			first = raw
		} else if !bytes.Equal(first, raw) {
			return labels, fmt.Errorf("%s holds another result than %s", party.Name, s.nodes.Parties[0].Name)
		}
		own := filepath.Join(dir, "labels.csv")
		if out.Scenario.Side == sketch.Cells { // which the party tells by the published model
			if _, err := party.Run(ctx, "result", id, "--label", own); err != nil {
				return labels, err
			}
		}
		if labels[p], err = readLabels(own); err != nil {
			return labels, fmt.Errorf("reading the labels of %s: %w", party.Name, err)
		}
		spent, err := readLedger(ctx, party, out.Scenario)
		if err != nil {
			return labels, err
		}
		out.Ledgers[party.Name] = spent
	}
	out.Result, err = outcome.ParseResult(first)
	slices.SortFunc(out.Result.Parties, func(a, b analysis.Party) int {
		return slices.Index(scenario.PartyNames[:], a.Name) - slices.Index(scenario.PartyNames[:], b.Name)
	})
	return labels, err
}

// readLabels reads a labels file: ids and the cluster of each; nil if there is none.
func readLabels(path string) (map[string]int, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(lines) == 0 || strings.Join(lines[0], ",") != scenario.IDColumn+",cluster" {
		return nil, fmt.Errorf("%s does not begin with %s,cluster", path, scenario.IDColumn)
	}
	labels := make(map[string]int, len(lines))
	for _, line := range lines[1:] {
		if labels[line[0]], err = strconv.Atoi(line[1]); err != nil {
			return nil, err
		}
	}
	return labels, nil
}

// readLedger asks a party for its budget and keeps the scenario's dataset.
func readLedger(ctx context.Context, party *network.Node, scene scenario.Scenario) ([]outcome.Spent, error) {
	var budget struct {
		Totals []struct {
			Dataset   string   `json:"dataset"`
			Unit      string   `json:"unit"`
			Epsilon   *float64 `json:"epsilon"` // null when unbounded
			Delta     float64  `json:"delta"`
			Unbounded bool     `json:"unbounded"`
			Releases  int      `json:"releases"`
		} `json:"totals"`
	}
	if err := party.RunJSON(ctx, &budget, "budget", "show"); err != nil {
		return nil, err
	}
	var spent []outcome.Spent
	for _, t := range budget.Totals {
		// A release without noise is unbounded per record and per value alike: one line says it.
		bare := scene.Mechanism == dp.None && len(spent) == 0
		if t.Dataset != scene.Dataset || !bare && t.Unit != string(scene.Unit) {
			continue
		}
		line := outcome.Spent{Dataset: t.Dataset, Unit: t.Unit, Delta: t.Delta, Unbounded: t.Unbounded, Releases: t.Releases}
		if t.Epsilon != nil {
			line.Epsilon = *t.Epsilon
		}
		spent = append(spent, line)
	}
	if len(spent) == 0 {
		return nil, fmt.Errorf("the ledger of %s holds nothing of dataset %q after a release", party.Name, scene.Dataset)
	}
	return spent, nil
}

// compare sets every analysis beside the truth.
func (s *stage) compare(scene scenario.Scenario, labels [scenario.Parties]map[string]int, out *outcome.Study) error {
	if out.Result.Completeness != "full" || len(out.Result.Absent) > 0 {
		return fmt.Errorf("the result is %s; absent: %v", out.Result.Completeness, out.Result.Absent)
	}
	if len(out.Result.Analyses) != len(scene.Analyses) {
		return fmt.Errorf("the result has %d analyses, the study asks for %d", len(out.Result.Analyses), len(scene.Analyses))
	}
	for _, answer := range out.Result.Analyses {
		if answer.KMeans != nil || answer.CellMeans != nil {
			continue
		}
		m, err := outcome.NewMatrix(scene, answer)
		if err != nil {
			return err
		}
		out.Matrices = append(out.Matrices, m)
	}
	if scene.Side == sketch.Columns {
		return nil
	}
	var ordered [scenario.Parties][]int
	for p, table := range scene.Tables {
		for _, id := range table.IDs {
			label, ok := labels[p][id]
			if !ok {
				return fmt.Errorf("%s has no label for one of its records", scenario.PartyNames[p])
			}
			ordered[p] = append(ordered[p], label)
		}
	}
	var err error
	out.Clusters, err = outcome.NewClusters(scene, s.data, ordered)
	return err
}
