// Package scale measures how cost grows with the number of parties. It plays studies over the real
// network stack, with the aggregator as a separate process and the parties in this one.
package scale

import (
	"bufio"
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
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
)

// Measured is the cost of one study.
type Measured struct {
	Parties   int     `json:"parties"`
	Rounds    int     `json:"rounds,omitempty"`  // of Size
	Sketch    int64   `json:"sketch_bytes"`      // stored size of one party's release
	Agreement float64 `json:"agreement_seconds"` // from the start until the last party has the seed
	Whole     float64 `json:"seconds"`           // until the last party has the result
	Sent      int64   `json:"sent_bytes"`        // average per party, the whole TCP payload including TLS
	Received  int64   `json:"received_bytes"`
	Memory    int64   `json:"aggregator_bytes"` // peak resident memory; 0 if the system does not report it
	Disk      int64   `json:"disk_bytes"`       // size of the aggregator's state directory afterwards
}

// timeout bounds one study.
const timeout = 30 * time.Minute

// Size is a study to measure.
type Size struct {
	Parties int
	// Megabytes is the rough size of each party's release. 0: as small as possible, so that the
	// protocol is measured.
	Megabytes int
	// Records clusters sketched records, one row each, instead of comparing sketched columns.
	Records bool
	// Masked lets the aggregator see only the sum of the parties' columns: entries of 8 bytes.
	Masked bool
	// Rounds finds three clusters in sums of 10,000 records of each party, in one round or two. 0:
	// no clusters.
	Rounds int
	// Apart sends sealed texts separately from their shares, as studies of more than 64 parties do.
	Apart bool
}

// manyColumns reports whether the data have many columns.
func (s Size) manyColumns() bool { return s.Megabytes > 0 || s.Rounds > 0 }

// Run measures a study of each size, each in a new directory under dir, where network.Build has put
// the programs.
func Run(ctx context.Context, dir string, sizes []Size, log io.Writer) ([]Measured, error) {
	var out []Measured
	for _, size := range sizes {
		m, err := one(ctx, dir, size)
		if err != nil {
			return out, fmt.Errorf("%d parties: %w", size.Parties, err)
		}
		out = append(out, m)
		fmt.Fprintf(log, "%d parties: seed after %.2f s\n", size.Parties, m.Agreement)
	}
	return out, nil
}

func one(ctx context.Context, dir string, size Size) (m Measured, err error) {
	n := size.Parties
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
	home := filepath.Join(dir, fmt.Sprintf("scale-%d-%d-%t-%t-%d-%t", n, size.Megabytes, size.Records, size.Masked, size.Rounds, size.Apart))
	if err := os.Mkdir(home, 0o700); err != nil {
		return m, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	aggregator, _, err := network.Identities(ctx, dir, home)
	if err != nil {
		return m, err
	}
	t := &table{home: home, Size: size}
	if err := t.seat(aggregator, relay.Port()); err != nil {
		return m, err
	}
	// All parties share one address here, and retry while the machine is busy.
	if err := os.WriteFile(aggregator.SiteFile(), fmt.Appendf(nil, "limits: {connections: %d, connections_per_address: %d}\n", 1024+2*n, 256+2*n), 0o600); err != nil {
		return m, fmt.Errorf("writing the configuration of the aggregator: %w", err)
	}
	path := filepath.Join(home, "study.yaml")
	if err := os.WriteFile(path, t.study.Source, 0o600); err != nil {
		return m, fmt.Errorf("writing the study file: %w", err)
	}
	if _, err := aggregator.Run(ctx, "study", "host", path); err != nil {
		return m, err
	}
	serving, err := aggregator.Serve(ctx, port, nil)
	if err != nil {
		return m, err
	}
	m.Parties, m.Rounds = n, size.Rounds
	m.Agreement, m.Whole, err = t.run(ctx)
	err = errors.Join(err, serving.Kill())
	m.Sent, m.Received, m.Memory = relay.Up()/int64(n), relay.Down()/int64(n), serving.PeakMemory()
	if err != nil {
		return m, err
	}
	if m.Disk, err = network.Held(aggregator.StateDir()); err != nil {
		return m, err
	}
	uploads, err := network.Held(filepath.Join(aggregator.StateDir(), "uploads"))
	m.Sketch = uploads / int64(n)
	return m, errors.Join(err, os.RemoveAll(home))
}

// table holds the parties of one study, in this process.
type table struct {
	home string
	Size
	study  *study.Study
	stores []*store.Store
}

// seat creates the parties, their data and the study, which each approves.
func (t *table) seat(aggregator *network.Node, port int) error {
	var parties, columns strings.Builder
	for i := range t.Parties {
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
		if !t.manyColumns() {
			fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, bounds: [0, 1], owner: %s}\n", i, t.name(i))
		}
		if err := t.writeData(i); err != nil {
			return fmt.Errorf("writing the data of %s: %w", t.name(i), err)
		}
	}
	terms := small
	if t.manyColumns() {
		switch {
		case t.Rounds == 1:
			terms = clusters + "sketches: [{side: moments, clip: 3, share: 1}, {side: cells, L: 8, q: 2, clip: 3, share: 3}]\n" + t.sum()
		case t.Rounds == 2:
			terms = clusters + "sketches: [{side: moments, clip: 3, share: 3}, {side: codes, share: 7}]\nrounds: 2\n" + t.sum()
		case t.Records:
			terms = long
		case t.Masked:
			terms = fmt.Sprintf(masked, t.Megabytes*maskedOfMegabyte)
		default:
			terms = fmt.Sprintf(wide, t.Megabytes*dimensionsOfMegabyte)
		}
		for i := range features {
			fmt.Fprintf(&columns, "  - {name: x%d, kind: numeric, bounds: [0, 1]}\n", i)
		}
	}
	if t.Apart {
		terms += "sealed: apart\n"
	}
	template, err := networks.Parse("scale", fmt.Sprintf(`data: d
---
cosketch: study/2
name: scale
nonce: "NONCE"
aggregator: {id: AGGREGATOR_ID, hpke: AGGREGATOR_HPKE, addrs: [AGGREGATOR_ADDRESS]}
parties:
%squorum: %d
expires: EXPIRES
deadline: DEADLINE
records: {id: [id]}
columns:
%s%s`, &parties, t.Parties, &columns, terms))
	if err != nil {
		return err
	}
	now := time.Now()
	source, err := template.Study(networks.Terms{ID: aggregator.ID, HPKE: aggregator.HPKE, Address: network.Loopback(port), Expires: now.Add(time.Hour), Deadline: now.Add(2 * time.Hour)})
	if err != nil {
		return err
	}
	if t.study, err = file.Parse(source); err != nil {
		return fmt.Errorf("the study file: %w", err)
	}
	return t.approve()
}

func (t *table) name(i int) string { return fmt.Sprintf("p%02d", i) }

func (t *table) path(i int, suffix string) string {
	return filepath.Join(t.home, t.name(i)+"."+suffix)
}

// small is a study with tiny releases.
const small = `partition: vertical
sketches: [{side: columns, family: sparse, k: 256, s: 1, helpers: {ones: 1}}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 1}
analyses: [{kind: intersection}]
`

// long is a study whose releases have a row of about two kilobytes per record.
const long = `partition: horizontal
sketches: [{side: records, family: sparse, k: 1024, s: 1}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 8}
analyses: [{kind: k-means, clusters: 3, restarts: 1}]
`

// wide is a study whose releases do not grow with the number of records.
const wide = `partition: horizontal
sketches: [{side: columns, family: sparse, k: %d, s: 1}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 8}
analyses: [{kind: inner-product}]
`

// masked is a study in which the aggregator sees only the parties' sum.
const masked = `partition: horizontal
sketches: [{side: columns, family: sparse, k: %d, s: 1}]
privacy: {unit: attribute, mechanism: gaussian, epsilon: 8, delta: 1e-6}
sum: masked
colluding: 1
analyses: [{kind: inner-product}]
`

// clusters is a study that finds clusters in sums.
const clusters = `partition: horizontal
privacy: {unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}
analyses: [{kind: k-means, clusters: 3}]
`

// sum returns the keys of a study that mask its sums, if Masked.
func (s Size) sum() string {
	if s.Masked {
		return "sum: masked\ncolluding: 1\n"
	}
	return ""
}

// Sizes that make a release of features columns about one megabyte.
const (
	features             = 32
	recordsOfMegabyte    = 370
	dimensionsOfMegabyte = 10_400
	maskedOfMegabyte     = 3_900
)

// writeData writes a party's data: a hundred records, or in a large study as many records of three
// groups as the release needs. All parties have the same record ids.
func (t *table) writeData(party int) error {
	f, err := os.OpenFile(t.path(party, "csv"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	records, columns := 100, []int{party}
	if t.manyColumns() {
		records, columns = 10_000, columns[:0]
		if t.Records {
			records = t.Megabytes * recordsOfMegabyte
		}
		for i := range features {
			columns = append(columns, i)
		}
	}
	out.WriteString("id")
	for _, c := range columns {
		fmt.Fprintf(out, ",x%d", c)
	}
	for r := range records {
		fmt.Fprintf(out, "\nr%d", r)
		for _, c := range columns {
			value := (r * (party + 3)) % 100
			if t.manyColumns() {
				value = 30*(r%3) + (7*r+11*c+13*party)%40
			}
			fmt.Fprintf(out, ",%.2f", float64(value)/100)
		}
	}
	out.WriteString("\n")
	return errors.Join(out.Flush(), f.Close())
}

func (t *table) approve() error {
	for i, st := range t.stores {
		site := fmt.Sprintf("datasets:\n  d: {source: %s.csv, caps: {%s: {epsilon: 8, delta: 1e-6}}}\nstudies:\n  %s: {dataset: d}\n", t.name(i), t.study.Privacy.Unit, t.study.ID)
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

// run serves the study for all parties at once, each with its own network stack.
func (t *table) run(ctx context.Context) (agreement, whole float64, err error) {
	began := time.Now()
	var mu sync.Mutex
	var running sync.WaitGroup
	failures := make([]error, t.Parties)
	for i, st := range t.stores {
		observe := func(p event.Progress) {
			if p.Milestone == event.Projected { // the seed is known, and projecting took next to no time
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

func serve(ctx context.Context, st *store.Store, site string, id protocol.StudyID, observe event.Observer) error {
	p, err := party.New(party.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(site) },
		Env: node.PartyEnv{Now: now, Observe: observe, Workers: 1},
	})
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, id)
}
