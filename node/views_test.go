package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/views"
	"github.com/cosketch/cosketch/protocol"
)

// Views show a study in progress, and its result as signed.
func TestViews(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	defer st.Close()
	v := views.New(st)
	before, err := v.Study(b.study.ID)
	check(t, err)
	if before.Status.State != "added" || before.Messages != 0 || len(before.Results) != 0 || len(before.Parties) != 3 {
		t.Errorf("before it is served: %+v", before)
	}
	news := v.News(b.study.ID)
	seen := map[event.Type]bool{}
	stop := b.serveObserved(func(h event.Event) { seen[h.What] = true; v.Observe(h) })
	b.runAll(b.context(), b.parties...)
	stop()
	select {
	case <-news:
	default:
		t.Error("no news")
	}
	for _, want := range []event.Type{event.Posted, event.ChunkKept, event.ReleaseTaken, event.Moved, event.Computed, event.TakenUp} {
		if !seen[want] {
			t.Errorf("the observer was not told of %q", want)
		}
	}
	after, err := v.Study(b.study.ID)
	check(t, err)
	if after.Status.State != "closed" || after.Status.Active() || after.Status.WaitFor != "" || len(after.Results) != 1 || !after.Results[0].Complete {
		t.Errorf("afterwards: %+v", after)
	}
	for _, p := range after.Parties {
		if strings.Join(p.Steps, " ") != "approved committed shared confirmed sketched released" || p.Release == nil || p.Release.Records != 50 || p.Received != p.Release.Bytes || p.Received == 0 {
			t.Errorf("party %s: %+v", p.Name, p)
		}
	}
	_, raw, err := stored.Result(st, b.study.ID)
	check(t, err)
	d, err := v.Document(b.study.ID, after.Results[0].Document.Hash)
	check(t, err)
	if !bytes.Equal(d.Raw, raw) {
		t.Error("other bytes than those that are stored")
	}
	all, err := v.Messages(b.study.ID, 0, 1000)
	check(t, err)
	chain := protocol.Digest{}
	for i, m := range all {
		if chain = protocol.ExtendChain(chain, m.ID); m.Number != uint64(i) {
			t.Errorf("message %d has number %d", i, m.Number)
		}
		if i > 0 && m.Noted < all[i-1].Noted || m.Noted == 0 {
			t.Errorf("message %d was noted at %d, the one before at %d", i, m.Noted, all[max(i, 1)-1].Noted)
		}
	}
	if uint64(len(all)) != after.Messages || chain != after.Chain || all[len(all)-1].Kind != protocol.KindResult || all[len(all)-1].From != "the aggregator" {
		t.Errorf("%d messages of %d, chain %s of %s", len(all), after.Messages, chain, after.Chain)
	}
	if rest, err := v.Messages(b.study.ID, 3, 2); err != nil || len(rest) != 2 || rest[0] != all[3] {
		t.Errorf("from 3: %v %v", rest, err)
	}
	noted, last, err := st.Noted(0)
	check(t, err)
	if len(noted) != len(all) || noted[3].Number != 3 || noted[3].Study != b.study.ID || noted[3].At != all[3].Noted {
		t.Errorf("the journal notes %d messages of %d: %+v", len(noted), len(all), noted[3])
	}
	if again, end, err := st.Noted(last); err != nil || len(again) != 0 || end != last {
		t.Errorf("after its end the journal notes %v up to %d: %v", again, end, err)
	}
	if fresh, err := views.New(st).Study(b.study.ID); err != nil || fresh.Chain != after.Chain {
		t.Errorf("views that were not there: %v %v", fresh.Chain, err)
	}
	if _, err := v.Study(protocol.StudyID{}); !errors.Is(err, api.ErrNotFound) {
		t.Errorf("no such study: %v", err)
	}
	_, err = st.Purge(b.study.ID, 1)
	check(t, err)
	bare, err := v.Study(b.study.ID)
	check(t, err)
	if p := bare.Parties[0]; after.Purged || !bare.Purged || p.Whole() || !slices.Equal(p.Steps, after.Parties[0].Steps) || len(bare.Results) != 1 {
		t.Errorf("after the purge: purged %v, before %v, %+v, %d results", bare.Purged, after.Purged, p, len(bare.Results))
	}
	check(t, st.PutResult(b.study.ID, "result.json", append(raw, ' ')))
	if damaged, err := v.Study(b.study.ID); err != nil || len(damaged.Results) != 0 {
		t.Errorf("a result that nobody signed is shown: %v %v", damaged.Results, err)
	}
	check(t, v.Ready())
	v.Observe(event.Event{What: event.TakenDown, Study: b.study.ID})
	if err := v.Ready(); err == nil || strings.Contains(err.Error(), "store") {
		t.Errorf("while a study is not served, which may be for a panic: %v", err)
	}
}

// serveObserved is serve with an observer.
func (b *bench) serveObserved(observe event.AggregatorObserver) (stop func()) {
	b.t.Helper()
	st := b.open("agg")
	done := make(chan event.Event, 1024)
	told := make(chan struct{})
	go func() {
		defer close(told)
		for h := range done {
			observe(h)
		}
	}()
	a, err := aggregator.New(aggregator.Options{
		Store: st, Listen: []string{b.addr}, Tick: 50 * time.Millisecond,
		Env: node.AggregatorEnv{Now: b.now, Log: b.logger(), Observe: func(h event.Event) { done <- h }},
	})
	check(b.t, err)
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx) }()
	return func() {
		cancel()
		check(b.t, <-ended)
		close(done)
		<-told
		check(b.t, st.Close())
	}
}

// Apart from pages, no answer of the API holds what is not for every party: labels of one party's
// records, bytes of sketches, keys. The test requests all paths that the API describes, and those
// of files in the state directory.
func TestAPIServesNothingElse(t *testing.T) {
	var needles map[string][]byte
	var b *bench
	b, needles = secretStudy(t, (*bench).serve, func() {})
	st, err := store.Open(b.path("agg"), store.Aggregator, store.Options{ReadOnly: true})
	check(t, err)
	defer st.Close()
	add := func(pattern string) {
		files, err := filepath.Glob(filepath.Join(b.path("agg"), pattern))
		check(t, err)
		if len(files) == 0 {
			t.Fatalf("no file %s", pattern)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			check(t, err)
			data = bytes.TrimSpace(data)
			needles[f] = data[max(0, len(data)-200) : len(data)-min(len(data)/2, 40)]
		}
	}
	add("uploads/*/*/sketch-0/0")
	add("identity.key")
	add("hpke.key")
	add("ledger.id")
	add("results/*/labels-*")
	server, err := api.New(api.Options{Views: views.New(st), Metrics: &metrics.Registry{}, Now: now, Loopback: true, WithoutTokens: true})
	check(t, err)
	web := httptest.NewServer(server)
	defer web.Close()
	get := func(path string) (int, []byte) {
		answer, err := http.Get(web.URL + path)
		check(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		check(t, err)
		return answer.StatusCode, body
	}
	base := "/api/v1/studies/" + b.study.ID.String()
	asked := 0
	for _, path := range []string{"/api/v1/node", "/api/v1/studies", base, base + "/file", base + "/explanation", base + "/releases", base + "/board", base + "/events",
		base + "/results", base + "/results/current", base + "/results/current/files", base + "/results/current/files/numbers.csv", base + "/results/current/files/k_means_sizes.json", "/metrics", "/readyz"} {
		status, body := get(path)
		if status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
		asked++
		if found := find(body, needles); len(found) > 0 {
			t.Errorf("%s holds %v", path, found)
		}
	}
	for _, p := range b.study.Parties {
		for _, name := range []string{fmt.Sprintf("labels-%x.json", p.ID[:]), fmt.Sprintf("labels-%x", p.ID[:])} {
			if status, _ := get(base + "/results/" + name); status != http.StatusNotFound {
				t.Errorf("%s: %d", name, status)
			}
		}
	}
	for _, path := range []string{"/identity.key", "/../identity.key", base + "/results/..%2f..%2f..%2fidentity.key", base + "/results/current/files/..%2fresult.json", "/api/v1/studies/..%2f..", "/state.db"} {
		if status, body := get(path); status == http.StatusOK {
			t.Errorf("%s: %s", path, body)
		}
	}
	if asked < 12 {
		t.Fatalf("only %d paths asked", asked)
	}
}
