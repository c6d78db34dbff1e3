// Package scale measures what many parties cost: studies of ever more parties over the
// real network stack, with the aggregator as a process of its own and the parties in
// this one.
package scale

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/network"
)

// Measured is what a study of so many parties took.
type Measured struct {
	Parties   int     `json:"parties"`
	Agreement float64 `json:"agreement_seconds"` // from the start to the last party's holding the seed
	Whole     float64 `json:"seconds"`           // to the last party's result
	Sent      int64   `json:"sent_bytes"`        // by a party, on average, with everything that TLS and TCP's payload hold
	Received  int64   `json:"received_bytes"`
	Memory    int64   `json:"aggregator_bytes"` // most that was resident; 0 where the system does not say
}

// timeout bounds one study.
const timeout = 5 * time.Minute

// Run measures a study of each size in a directory of its own under dir, where
// network.Build has put the programs.
func Run(ctx context.Context, dir string, sizes []int, log io.Writer) ([]Measured, error) {
	var out []Measured
	for _, n := range sizes {
		m, err := one(ctx, dir, n)
		if err != nil {
			return out, fmt.Errorf("%d parties: %w", n, err)
		}
		out = append(out, m)
		fmt.Fprintf(log, "%d parties: seed after %.2f s\n", n, m.Agreement)
	}
	return out, nil
}

func one(ctx context.Context, dir string, n int) (m Measured, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	port, err := network.FreePort()
	if err != nil {
		return m, err
	}
	relay, err := network.NewRelay(ctx, fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return m, err
	}
	defer relay.Close()
	home := filepath.Join(dir, fmt.Sprintf("scale-%d", n))
	if err := os.Mkdir(home, 0o700); err != nil {
		return m, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	aggregator, err := network.Aggregator(ctx, dir, home)
	if err != nil {
		return m, err
	}
	t := &table{home: home, n: n}
	if err := t.seat(aggregator, relay.Port()); err != nil {
		return m, err
	}
	path := filepath.Join(home, "study.yaml")
	if err := os.WriteFile(path, t.study.Source, 0o600); err != nil {
		return m, fmt.Errorf("writing the study file: %w", err)
	}
	if _, err := aggregator.Run(ctx, "study", "create", path); err != nil {
		return m, err
	}
	serving, err := aggregator.Start("serve", "--listen", fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port))
	if err != nil {
		return m, err
	}
	m.Parties = n
	m.Agreement, m.Whole, err = t.run(ctx)
	err = errors.Join(err, serving.Kill())
	m.Sent, m.Received, m.Memory = relay.Up()/int64(n), relay.Down()/int64(n), serving.PeakMemory()
	return m, err
}

// table is the parties of one study, in this process.
type table struct {
	home   string
	n      int
	study  *study.Study
	stores []*store.Store
}

// seat makes the parties, their data and the study, which each approves.
func (t *table) seat(aggregator *network.Node, port int) error {
	var parties, columns strings.Builder
	for i := range t.n {
		dir := filepath.Join(t.home, t.name(i))
		if err := store.Create(dir, store.Party, rand.Reader); err != nil {
			return err
		}
		st, err := store.Open(dir, store.Party, store.Options{})
		if err != nil {
			return err
		}
		t.stores = append(t.stores, st)
		id, err := st.ID()
		if err != nil {
			return err
		}
		fmt.Fprintf(&parties, "  - {name: %s, id: %s}\n", t.name(i), id)
		fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, bounds: [0, 1], owner: %s}\n", i, t.name(i))
		if err := os.WriteFile(t.path(i, "csv"), t.data(i), 0o600); err != nil {
			return fmt.Errorf("writing the data of %s: %w", t.name(i), err)
		}
	}
	var nonce [16]byte
	if _, err := io.ReadFull(rand.Reader, nonce[:]); err != nil {
		return fmt.Errorf("drawing a nonce: %w", err)
	}
	now := time.Now().UTC()
	source := fmt.Sprintf(`cosketch: study/1
name: scale
nonce: "%x"
aggregator: {id: %s, hpke: %s, addrs: [/ip4/127.0.0.1/tcp/%d]}
parties:
%spartition: vertical
quorum: %d
expires: %s
deadline: %s
records: {id: [id]}
columns:
%ssketches: [{side: columns, family: sparse, k: 256, s: 1, helpers: {ones: 1}}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: intersection}]
`, nonce, aggregator.ID, aggregator.HPKE, port, &parties, t.n, instant(now.Add(time.Hour)), instant(now.Add(2*time.Hour)), &columns)
	var err error
	if t.study, err = study.Parse([]byte(source)); err != nil {
		return fmt.Errorf("the study file: %w", err)
	}
	return t.approve()
}

func instant(t time.Time) string { return t.Format("2006-01-02T15:04:05Z") }

func (t *table) name(i int) string { return fmt.Sprintf("p%02d", i) }

func (t *table) path(i int, suffix string) string {
	return filepath.Join(t.home, t.name(i)+"."+suffix)
}

// data is what a party holds: the same hundred records as the others.
func (t *table) data(party int) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, "id,x%d\n", party)
	for r := range 100 {
		fmt.Fprintf(&out, "r%d,%.2f\n", r, float64((r*(party+3))%100)/100)
	}
	return []byte(out.String())
}

func (t *table) approve() error {
	for i, st := range t.stores {
		site := fmt.Sprintf("datasets:\n  d: {source: %s.csv, caps: {attribute: {epsilon: 1}}}\nstudies:\n  %s: {dataset: d}\n", t.name(i), t.study.ID)
		if err := os.WriteFile(t.path(i, "yaml"), []byte(site), 0o600); err != nil {
			return fmt.Errorf("writing the site file of %s: %w", t.name(i), err)
		}
		if err := st.PutStudy(t.study.ID, t.study.Source, now()); err != nil {
			return err
		}
		if err := st.PutDecision(t.study.ID, store.Approve, now()); err != nil {
			return err
		}
	}
	return nil
}

func now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

// run lets all parties serve the study at once, each with a network stack of its own.
func (t *table) run(ctx context.Context) (agreement, whole float64, err error) {
	began := time.Now()
	var mu sync.Mutex
	var running sync.WaitGroup
	failures := make([]error, t.n)
	for i, st := range t.stores {
		observe := func(p node.Progress) {
			if p.Milestone == node.Projected { // the seed is known, and hardly anything was to be projected
				mu.Lock()
				agreement = max(agreement, time.Since(began).Seconds())
				mu.Unlock()
			}
		}
		running.Go(func() {
			failures[i] = errors.Join(serve(ctx, st, t.path(i, "yaml"), t.study.ID, observe), st.Close())
		})
	}
	running.Wait()
	return agreement, time.Since(began).Seconds(), errors.Join(failures...)
}

func serve(ctx context.Context, st *store.Store, site string, id protocol.StudyID, observe node.Observer) error {
	p, err := node.NewParty(node.PartyOptions{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(site) },
		Entropy: rand.Reader, Now: now, Observe: observe,
	})
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, id)
}
