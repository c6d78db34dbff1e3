package defaults

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/cluster"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// onNodes sums the results of a set's studies at one budget, on nodes. Ratios divide inertia by
// that of k-means on the records.
type onNodes struct {
	answers, rounds int
	curator, ratio  float64
}

// OnNodes plays the studies of Rounds as users do, and writes a Markdown table. Each is drafted,
// with as many rounds as the planner chooses, and played by three parties and an aggregator, each a
// process on this machine. programs is the directory of their programs.
func OnNodes(ctx context.Context, folder *corpus.Corpus, only string, seeds int, programs string, w io.Writer) error {
	sets, err := roundsSets(folder)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, "| data (K) | records | ε | noise | rounds | DP-Lloyd | nodes | nodes ÷ DP-Lloyd |")
	fmt.Fprintln(w, "|---|--:|--:|---|--:|--:|--:|--:|")
	for _, set := range sets {
		if !strings.Contains(set.data.name, only) {
			continue
		}
		for _, masked := range []bool{false, true} {
			for _, epsilon := range []float64{1, 4} {
				s := setting{
					data: set.data, partition: study.Horizontal, epsilon: epsilon, masked: masked, planned: true, by: bySpread,
					ask: []string{fmt.Sprintf("{kind: k-means, clusters: %d}", set.clusters)},
				}
				var sum onNodes
				for seed := range seeds {
					if err := s.onNodes(ctx, programs, set.clusters, uint64(seed), &sum); err != nil {
						return fmt.Errorf("%s, ε = %g, %s: %w", set.data.name, epsilon, s.sum(), err)
					}
				}
				n := float64(max(sum.answers, 1))
				fmt.Fprintf(w, "| %s (%d) | %d | %g | %s | %d | %.3f | %.3f | %.3f |\n", set.data.name, set.clusters, len(set.data.rows), epsilon, s.sum(), sum.rounds,
					sum.curator/n, sum.ratio/n, sum.ratio/sum.curator)
			}
		}
	}
	return nil
}

// onNodes plays one study, and adds its result to sum.
func (s setting) onNodes(ctx context.Context, programs string, clusters int, seed uint64, sum *onNodes) (err error) {
	rng := rand.New(source(s.name(), seed, 2))
	p := &played{setting: s, held: s.data.deal(rng)}
	records := make([]int, len(p.held))
	for i, rows := range p.held {
		records[i] = len(rows)
	}
	if p.study, err = s.draft(seed, records, rng); err != nil {
		return err
	}
	name := fmt.Sprintf("k%d-e%g-%s-%d-%x", clusters, s.epsilon, s.sum(), seed, hash(s.name()))
	template, err := networks.Parse(name, "data: given\nsplit: {deal: given}\n---\n"+blank(p.study))
	if err != nil {
		return err
	}
	site, serving, err := steward.Start(ctx, programs, filepath.Join(programs, name), template)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	draft, err := site.Draft(steward.Dates{Expires: 20 * time.Minute, Deadline: 40 * time.Minute})
	if err != nil {
		return err
	}
	p.study = draft.Study
	if _, err := site.Deal(draft, s.data.dealt(p.held)); err != nil {
		return err
	}
	if err := site.Agree(ctx, draft); err != nil {
		return err
	}
	if err := site.Run(ctx, draft, 40*time.Minute); err != nil {
		return err
	}
	if p.result, _, err = site.Fetch(ctx, draft); err != nil {
		return err
	}
	a, err := p.answer(study.KMeans)
	if err != nil || a.CellMeans == nil {
		return err
	}
	return sum.add(ctx, p, a, clusters, rng)
}

// add compares an answer with a curator's.
func (o *onNodes) add(ctx context.Context, p *played, a analysis.Analysis, clusters int, rng *rand.Rand) error {
	centres, err := p.centres(a)
	if err != nil {
		return err
	}
	curator, err := p.lloyd(clusters, rng)
	if err != nil {
		return err
	}
	rows, _ := p.points(centres)
	points := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		points.SetRow(i, row)
	}
	best, err := cluster.KMeans(ctx, points, cluster.Options{Clusters: clusters, Rand: rng})
	if err != nil {
		return err
	}
	least := best.Inertia / float64(len(rows))
	o.answers, o.rounds = o.answers+1, max(p.study.Rounds, 1)
	o.ratio, o.curator = o.ratio+p.inertia(centres)/least, o.curator+p.inertia(curator)/least
	return nil
}

// blank returns a study's text with placeholders for what each network fills in.
func blank(s *study.Study) string {
	pairs := []string{
		fmt.Sprintf("%x", s.Nonce), "NONCE", s.Aggregator.ID.String(), "AGGREGATOR_ID", protocoltest.Expires.String(), "EXPIRES", protocoltest.Deadline.String(), "DEADLINE",
		base64.StdEncoding.EncodeToString(s.Aggregator.HPKE), "AGGREGATOR_HPKE", s.Aggregator.Addrs[0], "AGGREGATOR_ADDRESS",
	}
	for _, p := range s.Parties {
		pairs = append(pairs, p.ID.String(), strings.ToUpper(p.Name)+"_ID")
	}
	return strings.NewReplacer(pairs...).Replace(string(s.Source))
}

// dealt returns the rows for the parties' files. Missing values are empty.
func (d *data) dealt(held [][]int) networks.Dealt {
	out := networks.Dealt{Pooled: corpus.Table{Names: []string{"id"}}}
	for _, c := range d.columns {
		out.Pooled.Names = append(out.Pooled.Names, c.name)
	}
	for i, row := range d.rows {
		cells := []string{strconv.Itoa(i)}
		for j, x := range row {
			cells = append(cells, d.columns[j].cell(x))
		}
		out.Pooled.Rows = append(out.Pooled.Rows, cells)
	}
	for p, rows := range held {
		out.Parties = append(out.Parties, networks.Part{Name: partyName(p), Rows: rows, Columns: out.Pooled.Names})
	}
	return out
}

// cell formats a value for a file.
func (c column) cell(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case c.kind == study.Categorical:
		return c.values[int(x)]
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
