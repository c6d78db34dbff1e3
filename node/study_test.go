package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

func now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

// now is the clock of the nodes in this process, which a test can advance.
func (b *bench) now() protocol.Instant { return now() + protocol.Instant(b.skew.Load()) }

// bench is an aggregator and some parties on loopback, each with its own state directory, and one
// study that all of them have.
type bench struct {
	t       *testing.T
	dir     string
	addr    string
	study   *study.Study
	parties []string // names
	logs    *safeBuffer
	skew    *atomic.Int64                // seconds
	entropy func(party string) io.Reader // default: crypto/rand
	writes  map[string]*writes           // by node: counts its writes, and one may fail
	before  [][]byte                     // party a's release when its write failed
	tune    func(*aggregator.Options)    // default: nothing
	uptime  func() time.Duration         // default: so fast that a missed date takes effect after 60 ms
}

// terms are the terms of a test's study, besides its parties.
type terms struct {
	partition string // default: vertical
	columns   string // YAML list; default: column x of party a, y of b, z of c
	sketches  string // YAML list
	privacy   string // YAML map
	analyses  string // YAML list
	caps      string // YAML map; default: attribute ε = 1
	accept    bool
	release   string           // of party a; default: auto
	expires   protocol.Instant // default: an hour from now
	deadline  protocol.Instant // default: two hours from now
	late      protocol.Instant // default: no late parties
	more      string           // further lines; default: none
	sum       string           // further keys; default: none, a plain sum
	missing   string           // default: refuse
}

// clustered is a study in which parties get their own labels besides the result.
var clustered = terms{
	partition: "horizontal",
	columns:   "[{name: x, kind: numeric, bounds: [0, 1]}, {name: y, kind: numeric, bounds: [0, 1]}]",
	sketches:  "[{side: records, family: sparse, k: 8, s: 1}]",
	privacy:   "{unit: attribute, mechanism: laplace, epsilon: 1}",
	analyses:  "[{kind: k-means, clusters: 2}]",
}

// ownSketch is a study in which parties standardise their columns, with a first look that is
// debited first.
var ownSketch = terms{
	sketches: "[{side: columns, family: sparse, k: 64, s: 1, helpers: {ones: 0.7}, clip: 1.2, standardise: own}]",
	privacy:  "{unit: record, mechanism: gaussian, epsilon: 1, delta: 1e-6}",
	analyses: "[{kind: correlation}]",
	caps:     "{record: {epsilon: 1, delta: 1e-6}}",
}

func points(int) string { return "id,x,y\nr1,0.5,0.25\nr2,2,0.5\nr3,0,1\n" }

// newBench makes the nodes, their data and the study. data returns party i's file: header and rows.
func newBench(t *testing.T, w terms, data func(party int) string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), parties: []string{"a", "b", "c"}, logs: &safeBuffer{}, skew: &atomic.Int64{}}
	began := time.Now()
	b.uptime = func() time.Duration { return 10_000 * time.Since(began) }
	b.addr = freeAddr(t)
	check(t, store.Create(b.path("agg"), store.Aggregator, rand.Reader))
	for i, p := range b.parties {
		check(t, store.Create(b.path(p), store.Party, rand.Reader))
		check(t, os.WriteFile(b.path(p+".csv"), []byte(data(i)), 0o600))
	}
	source := b.source(w)
	s, err := file.Parse([]byte(source))
	if err != nil {
		t.Fatalf("the test's study: %v\n%s", err, source)
	}
	b.study = s
	if w.caps == "" {
		w.caps = "{attribute: {epsilon: 1}}"
	}
	for _, p := range b.parties {
		source, release := p+".csv", "auto"
		if p == "a" && w.release != "" {
			source, release = "a*.csv", w.release
		}
		site := fmt.Sprintf("datasets:\n  d: {source: %s, caps: %s}\nstudies:\n  %s: {dataset: d, accept_reconstruction: %v, release: %s}\n", source, w.caps, s.ID, w.accept, release)
		check(t, os.WriteFile(b.path(p+".yaml"), []byte(site), 0o600))
		st := b.open(p)
		check(t, st.PutStudy(s.ID, s.Source, now()))
		check(t, st.PutDecision(s.ID, store.Approve, now()))
		check(t, st.Close())
	}
	st := b.open("agg")
	check(t, st.PutStudy(s.ID, s.Source, now()))
	check(t, st.Close())
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) open(name string) *store.Store {
	b.t.Helper()
	role := store.Party
	if name == "agg" {
		role = store.Aggregator
	}
	st, err := store.Open(b.path(name), role, store.Options{})
	check(b.t, err)
	return st
}

func (b *bench) source(w terms) string {
	agg := b.open("agg")
	defer agg.Close()
	var s strings.Builder
	fmt.Fprintf(&s, "cosketch: study/2\nname: bench\nnonce: 000102030405060708090a0b0c0d0e0f\n")
	fmt.Fprintf(&s, "aggregator:\n  id: %s\n  hpke: %s\n  addrs: [%s]\nparties:\n", peerID(b.t, agg),
		base64.StdEncoding.EncodeToString(agg.HPKE().PublicKey().Bytes()), b.addr)
	for _, p := range b.parties {
		st := b.open(p)
		fmt.Fprintf(&s, "  - {name: %s, id: %s}\n", p, peerID(b.t, st))
		st.Close()
	}
	fill(&w.partition, "vertical")
	fill(&w.columns, "[{name: x, kind: numeric, bounds: [0, 1], owner: a}, {name: y, kind: numeric, bounds: [0, 1], owner: b}, {name: z, kind: numeric, bounds: [0, 1], owner: c}]")
	if w.expires == 0 {
		w.expires = now() + 3600
	}
	if w.deadline == 0 {
		w.deadline = now() + 7200
	}
	fill(&w.missing, "refuse")
	fmt.Fprintf(&s, "partition: %s\nquorum: 2\nexpires: %s\ndeadline: %s\nrecords: {id: [id], missing: %s}\n", w.partition, w.expires, w.deadline, w.missing)
	if w.late != 0 {
		fmt.Fprintf(&s, "late_until: %s\n", w.late)
	}
	fmt.Fprintf(&s, "columns: %s\nsketches: %s\nprivacy: %s\nanalyses: %s\n%s", w.columns, w.sketches, w.privacy, w.analyses, w.more+w.sum)
	return s.String()
}

func fill(s *string, value string) {
	if *s == "" {
		*s = value
	}
}

func peerID(t *testing.T, st *store.Store) protocol.PeerID {
	t.Helper()
	id, err := st.ID()
	check(t, err)
	return id
}

// serve runs the aggregator until stop is called, which waits for its end.
func (b *bench) serve() (stop func()) {
	b.t.Helper()
	st := b.open("agg")
	options := aggregator.Options{
		Store: b.state("agg", st), Listen: []string{b.addr}, Tick: 50 * time.Millisecond, Uptime: b.uptime,
		Env: node.AggregatorEnv{Now: b.now, Log: b.logger()},
	}
	if b.tune != nil {
		b.tune(&options)
	}
	a, err := aggregator.New(options)
	check(b.t, err)
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx) }()
	var once sync.Once
	return func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				b.t.Errorf("aggregator: %v", err)
			}
			check(b.t, st.Close())
		})
	}
}

func (b *bench) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// run serves the study at one party in this process.
func (b *bench) run(ctx context.Context, name string, observe event.Observer) error {
	st, err := store.Open(b.path(name), store.Party, store.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	options := partyOptions(b.state(name, st), b.path(name+".yaml"), observe, b.logger())
	options.Now = b.now
	if b.entropy != nil {
		options.Entropy = b.entropy(name)
	}
	p, err := party.New(options)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, b.study.ID)
}

func partyOptions(st node.PartyState, site string, observe event.Observer, logger *slog.Logger) party.Options {
	return party.Options{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(site) },
		Env: node.PartyEnv{Entropy: rand.Reader, Now: now, Observe: observe, Log: logger, Workers: 2},
	}
}

// runAll serves the study at all named parties, and fails the test unless each gets its result.
func (b *bench) runAll(ctx context.Context, names ...string) {
	b.t.Helper()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() {
			if err := b.run(ctx, name, nil); err != nil {
				b.t.Errorf("party %s: %v", name, err)
			}
		})
	}
	all.Wait()
}

func (b *bench) context() context.Context {
	ctx, cancel := context.WithTimeout(b.t.Context(), time.Minute)
	b.t.Cleanup(cancel)
	return ctx
}

// freeAddr finds a free loopback port below the range from which the kernel takes the ports of
// outgoing connections, so that parallel tests cannot take it before the aggregator does.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := 15000 + int(ports.Add(1))%3000
		l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)
		}
	}
	t.Fatal("no free port")
	return ""
}

// ports is where freeAddr looks next. No port is given twice, and the tests of other packages use
// other ranges, so that a restarted node finds its port free.
var ports = func() *atomic.Uint32 {
	var p atomic.Uint32
	p.Store(mathrand.Uint32N(3000))
	return &p
}()

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// safeBuffer is a log for several goroutines.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *safeBuffer) Bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.buf.Bytes())
}

// uniform is a data file of one column named after the party, with record ids from "ID0" on.
func uniform(records int) func(int) string {
	return func(party int) string {
		var s strings.Builder
		fmt.Fprintf(&s, "id,%c\n", "xyz"[party])
		for i := range records {
			fmt.Fprintf(&s, "ID%d,%.4f\n", i, float64((i*7919+party*104729)%10000)/10000)
		}
		return s.String()
	}
}

// fallSilent runs a party until it has signed a message, which it never sends.
func (b *bench) fallSilent(ctx context.Context, name string, from protocol.Kind) (gone chan struct{}) {
	gone = make(chan struct{})
	ctx, die := context.WithCancel(ctx)
	go func() {
		defer close(gone)
		defer die()
		b.run(ctx, name, func(p event.Progress) {
			if p.Milestone == event.Persisted && p.Kind == from {
				die()
			}
		})
	}()
	return gone
}
