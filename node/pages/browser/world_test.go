// Package browser tests the pages in a real browser, and the HTTP API with curl and Python, while
// real nodes run a study.
package browser

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
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
	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/monitor"
	"github.com/cosketch/cosketch/node/pages"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/views"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// world is an aggregator that shows its studies, and parties, on loopback.
type world struct {
	t       *testing.T
	dir     string
	addr    string // multiaddr of the aggregator
	url     string // of the pages, without a trailing slash
	agg     *store.Store
	tokens  api.Tokens
	parties []string
}

func now() protocol.Instant { return protocol.Instant(time.Now().Unix()) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld makes the nodes and serves until the test ends. always requires tokens.
func newWorld(t *testing.T, always bool) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), parties: []string{"St. Mary", "Charité", "Ospedale Maggiore"}}
	check(t, store.Create(w.path("agg"), store.Aggregator, rand.Reader))
	for i := range w.parties {
		check(t, store.Create(w.path(fmt.Sprint(i)), store.Party, rand.Reader))
	}
	var err error
	w.agg, err = store.Open(w.path("agg"), store.Aggregator, store.Options{})
	check(t, err)
	t.Cleanup(func() { w.agg.Close() })
	w.tokens = func(id string) ([]byte, error) {
		record, err := w.agg.Token(id)
		if err != nil {
			return nil, api.ErrNotFound
		}
		return record, nil
	}
	w.serve(always)
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// serve runs the aggregator and its pages.
func (w *world) serve(always bool) {
	w.t.Helper()
	logger := slog.New(slog.DiscardHandler)
	registry := &metrics.Registry{}
	registry.Process(metrics.Build{Role: "aggregator", Version: "test", Started: time.Now()})
	views, counts := views.New(w.agg), monitor.NewAggregator(registry, console.Overview{Store: w.agg})
	id, err := w.agg.ID()
	check(w.t, err)
	w.addr = freeAddr(w.t)
	aggregator, err := aggregator.New(aggregator.Options{
		Store: w.agg, Listen: []string{w.addr}, Tick: 50 * time.Millisecond,
		Env: node.AggregatorEnv{Now: now, Log: logger, Observe: func(h event.Event) { views.Observe(h); counts.Observe(h) }},
	})
	check(w.t, err)
	listener, loopback, err := api.Listen("127.0.0.1:0")
	check(w.t, err)
	server, err := api.New(api.Options{Views: views, Aggregator: id, Version: "test", Now: now, Metrics: registry, Tokens: w.tokens,
		Logger: logger, Loopback: loopback, WithoutTokens: !always, Poll: 50 * time.Millisecond})
	check(w.t, err)
	check(w.t, pages.Add(server))
	w.url = "http://" + listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := aggregator.Serve(ctx); err != nil {
			w.t.Errorf("aggregator: %v", err)
		}
	})
	running.Go(func() {
		if err := api.Serve(ctx, listener, server, nil, logger); err != nil {
			w.t.Errorf("pages: %v", err)
		}
	})
	w.t.Cleanup(func() { cancel(); running.Wait() })
}

// freeAddr finds a free loopback port below those of outgoing connections.
func freeAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := 18000 + int(ports.Add(1))%2000
		if l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
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
	p.Store(mathrand.Uint32N(2000))
	return &p
}()

// terms are what differs between the studies of a world.
type terms struct{ name, partition, columns, sketches, privacy, analyses string }

// wards is a vertical study of twelve columns whose result has figures.
func wards() terms {
	var columns []string
	for i, owner := range []string{"St. Mary", "Charité", "Ospedale Maggiore"} {
		for j := range 4 {
			columns = append(columns, fmt.Sprintf("{name: %s, kind: numeric, bounds: [-3, 3], owner: %q}", columnNames[i][j], owner))
		}
	}
	return terms{"wards", "vertical", "[" + strings.Join(columns, ", ") + "]",
		"[{side: columns, family: sparse, k: 4096, s: 1}]", "{unit: attribute, mechanism: laplace, epsilon: 40}",
		"[{kind: correlation}, {kind: intersection}]"}
}

var columnNames = [3][4]string{{"age", "weight", "pulse", "sodium"}, {"creatinine", "urea", "potassium", "lactate"}, {"days", "visits", "drugs", "score"}}

// add adds a study at the aggregator and, approved, at the parties.
func (w *world) add(of terms) *study.Study {
	w.t.Helper()
	var s strings.Builder
	id, err := w.agg.ID()
	check(w.t, err)
	fmt.Fprintf(&s, "cosketch: study/2\nname: %s\nnonce: 000102030405060708090a0b0c0d0e0f\naggregator:\n  id: %s\n  hpke: %s\n  addrs: [%s]\nparties:\n",
		of.name, id, base64.StdEncoding.EncodeToString(w.agg.HPKE().PublicKey().Bytes()), w.addr)
	for i, name := range w.parties {
		st, err := store.Open(w.path(fmt.Sprint(i)), store.Party, store.Options{ReadOnly: true})
		check(w.t, err)
		id, err := st.ID()
		check(w.t, err)
		check(w.t, st.Close())
		fmt.Fprintf(&s, "  - {name: %q, id: %s}\n", name, id)
	}
	fmt.Fprintf(&s, "partition: %s\nexpires: %s\ndeadline: %s\nrecords: {id: [id]}\ncolumns: %s\nsketches: %s\nprivacy: %s\nanalyses: %s\n",
		of.partition, now()+3600, now()+7200, of.columns, of.sketches, of.privacy, of.analyses)
	parsed, err := file.Parse([]byte(s.String()))
	if err != nil {
		w.t.Fatalf("the test's study: %v\n%s", err, s.String())
	}
	check(w.t, w.agg.PutStudy(parsed.ID, parsed.Source, now()))
	return parsed
}

// data writes a party's file for the study wards: columns that share a common factor.
func (w *world) data(party, records int) {
	w.t.Helper()
	rng := mathrand.New(mathrand.NewPCG(7, 7))
	var out strings.Builder
	fmt.Fprintf(&out, "id,%s\n", strings.Join(columnNames[party][:], ","))
	for i := range records {
		common := rng.NormFloat64()
		own := mathrand.New(mathrand.NewPCG(uint64(i), uint64(party)))
		fmt.Fprintf(&out, "r%d", i)
		for j := range 4 {
			sign := 1.0
			if (party+j)%3 == 0 {
				sign = -1
			}
			fmt.Fprintf(&out, ",%.4f", max(-3, min(3, sign*float64(j)*0.28*common+0.7*own.NormFloat64())))
		}
		out.WriteByte('\n')
	}
	check(w.t, os.WriteFile(w.path(fmt.Sprintf("%d.csv", party)), []byte(out.String()), 0o600))
}

// run serves a study at a party to its end.
func (w *world) run(ctx context.Context, at int, s *study.Study) error {
	site := w.path(fmt.Sprintf("%d.yaml", at))
	text := fmt.Sprintf("datasets:\n  d: {source: %d.csv, caps: {attribute: {epsilon: 40}}}\nstudies:\n  %s: {dataset: d}\n", at, s.ID)
	if err := os.WriteFile(site, []byte(text), 0o600); err != nil {
		return err
	}
	st, err := store.Open(w.path(fmt.Sprint(at)), store.Party, store.Options{})
	if err != nil {
		return err
	}
	defer st.Close()
	if err := st.PutStudy(s.ID, s.Source, now()); err != nil {
		return err
	}
	if err := st.PutDecision(s.ID, store.Approve, now()); err != nil {
		return err
	}
	p, err := party.New(party.Options{Env: node.PartyEnv{Entropy: rand.Reader, Now: now, Workers: 2}, Store: st, Site: func() (config.Party, error) { return config.LoadParty(site) }})
	if err != nil {
		return err
	}
	defer p.Close()
	return p.Run(ctx, s.ID)
}

// complete runs a study at all parties, to its result.
func (w *world) complete(s *study.Study) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for i := range w.parties {
		w.data(i, 3000)
		all.Go(func() {
			if err := w.run(ctx, i, s); err != nil {
				w.t.Errorf("party %s: %v", w.parties[i], err)
			}
		})
	}
	all.Wait()
	if w.t.Failed() {
		w.t.FailNow()
	}
}

// token makes a token with one scope.
func (w *world) token(scopes ...api.Scope) string {
	w.t.Helper()
	token, secret, err := api.NewToken("test", scopes, now(), 0)
	check(w.t, err)
	check(w.t, w.agg.PutToken(token.ID, token.Encode()))
	return secret.Reveal()
}
