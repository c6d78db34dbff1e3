package chaos

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
)

// AttackOptions are the options of Attack.
type AttackOptions struct {
	Dir     string // required: an empty directory, with the programs that network.Build put there
	Peers   int    // number of hostile peers, half of which the aggregator lists in studies of their own; at least 4
	Studies int    // number of studies of honest parties during the attack; at least 1
	For     time.Duration
	Log     io.Writer

	// Attackers runs the hostile peers until the order's time is over: in their own process at the
	// lowest priority, or in this process.
	Attackers func(context.Context, Order) (Tally, error)
}

// Attacked has the measurements of an attack.
type Attacked struct {
	Peers    int         `json:"peers"`
	Quiet    []float64   `json:"quiet_seconds"` // duration of each study without hostile peers
	Loaded   []float64   `json:"loaded_seconds"`
	Calls    Tally       `json:"calls"`          // calls of hostile peers, by attack and outcome
	Costs    []Cost      `json:"costs"`          // cost of one hostile call
	Memory   int64       `json:"memory_bytes"`   // peak resident memory of the aggregator
	Most     int64       `json:"memory_limit"`   // limit of Memory
	Disk     int64       `json:"disk_bytes"`     // size of its state directory at the end
	MostDisk int64       `json:"disk_limit"`     // limit of Disk
	Pages    map[int]int `json:"pages"`          // number of responses by HTTP status
	Seconds  float64     `json:"attack_seconds"` // duration of the attack
}

// Limits of an attacked aggregator. Its memory may be memoryMiB, which it is configured with, plus
// besidesMiB for the rest of the program. A study may take mostSlowdown times as long as the
// slowest quiet one.
const (
	memoryMiB     = 512
	besidesMiB    = 128
	diskMiB       = 1024
	mostSlowdown  = 3
	quietStudies  = 3
	studyDeadline = 5 * time.Minute
	pageInterval  = 250 * time.Millisecond
	hostileKinds  = 2 // listed and unlisted
)

// Attack lets honest parties finish studies, first alone and then during an attack by hostile
// peers. It returns the measurements, and an error for the first violation.
func Attack(ctx context.Context, o AttackOptions) (out Attacked, err error) {
	port, err := network.FreePort()
	if err != nil {
		return out, err
	}
	pages, err := network.FreePort()
	if err != nil {
		return out, err
	}
	scene, err := laboratories(1 << 18)
	if err != nil {
		return out, err
	}
	site, err := newSite(ctx, o.Dir, o.Dir, port, port, scene)
	if err != nil {
		return out, err
	}
	site.lifetime = 2 * time.Hour
	attacked := attacked{site: site, pages: fmt.Sprintf("127.0.0.1:%d", pages), order: Order{
		Aggregator: site.Aggregator.ID, Address: network.Loopback(port), Port: port, Pages: fmt.Sprintf("127.0.0.1:%d", pages),
		Unlisted: o.Peers / hostileKinds, Seconds: o.For.Seconds(),
	}}
	out = Attacked{Peers: o.Peers, Most: (memoryMiB + besidesMiB) << 20, MostDisk: diskMiB << 20, Pages: map[int]int{}}
	if err := attacked.seat(ctx, o.Peers-attacked.order.Unlisted); err != nil {
		return out, err
	}
	if attacked.serving, err = site.Aggregator.Serve(ctx, port, nil); err != nil {
		return out, err
	}
	defer func() {
		out.Memory = attacked.serving.Resident().Peak
		err = errors.Join(err, attacked.serving.Kill())
		if out.Memory == 0 {
			out.Memory = attacked.serving.PeakMemory()
		}
		disk, err2 := network.Held(site.Aggregator.StateDir())
		out.Disk = disk
		err = errors.Join(err, err2)
		if err == nil {
			err = out.judge()
		}
	}()
	if attacked.token, err = attacked.readersToken(ctx); err != nil {
		return out, err
	}
	for n := range quietStudies {
		seconds, err := attacked.study(ctx, n)
		if err != nil {
			return out, fmt.Errorf("quiet study %d: %w", n+1, err)
		}
		out.Quiet = append(out.Quiet, seconds)
	}
	fmt.Fprintf(o.Log, "quiet: %d studies of %.1f to %.1f s\n", len(out.Quiet), slices.Min(out.Quiet), slices.Max(out.Quiet))
	if out.Costs, err = attacked.costs(ctx); err != nil {
		return out, err
	}
	err = attacked.load(ctx, o, &out)
	return out, err
}

// judge returns an error for the first violation.
func (a Attacked) judge() error {
	slow := mostSlowdown * slices.Max(a.Quiet)
	for i, seconds := range a.Loaded {
		if seconds > slow {
			return fmt.Errorf("study %d took %.1f s beside hostile peers, at most %d times %.1f s allowed", i+1, seconds, mostSlowdown, slices.Max(a.Quiet))
		}
	}
	if a.Memory > a.Most {
		return fmt.Errorf("the aggregator had %d MiB resident, at most %d allowed", a.Memory>>20, a.Most>>20)
	}
	if a.Disk > a.MostDisk {
		return fmt.Errorf("the aggregator's state took %d MiB, at most %d allowed", a.Disk>>20, a.MostDisk>>20)
	}
	for _, status := range slices.Sorted(maps.Keys(a.Pages)) {
		if status >= 500 && status != http.StatusServiceUnavailable {
			return fmt.Errorf("%d pages were answered with status %d", a.Pages[status], status)
		}
	}
	if a.Pages[http.StatusOK] == 0 {
		return errors.New("no page was answered")
	}
	return nil
}

// attacked has the nodes of one run.
type attacked struct {
	site    *site
	serving *network.Started
	pages   string // host and port
	token   string // token of a reader
	order   Order
}

// seat configures the aggregator, and hosts studies whose parties are the hostile peers.
func (a *attacked) seat(ctx context.Context, listed int) error {
	config := fmt.Sprintf("limits: {memory_mib: %d}\nhttp: {listen: \"%s\", tokens: always}\n", memoryMiB, a.pages)
	if err := os.WriteFile(a.site.Aggregator.SiteFile(), []byte(config), 0o600); err != nil {
		return fmt.Errorf("configuring the aggregator: %w", err)
	}
	var parties strings.Builder
	for i := range listed {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return fmt.Errorf("drawing a key: %w", err)
		}
		id, err := protocol.PeerIDFromKey(key.Public().(ed25519.PublicKey))
		if err != nil {
			return err
		}
		a.order.Seeds = append(a.order.Seeds, key.Seed())
		fmt.Fprintf(&parties, "  - {name: h%d, id: %s}\n", i, id)
	}
	template, err := networks.Parse("hostile", fmt.Sprintf(hostileNetwork, &parties, listed/2+1))
	if err != nil {
		return err
	}
	now := time.Now()
	terms := networks.Terms{ID: a.site.Aggregator.ID, HPKE: a.site.Aggregator.HPKE, Address: a.site.Address, Expires: now.Add(time.Hour), Deadline: now.Add(2 * time.Hour)}
	for n := range hostileStudies {
		source, err := template.Study(terms)
		if err != nil {
			return err
		}
		path := filepath.Join(a.site.Dir, fmt.Sprintf("hostile-%d.yaml", n+1))
		if err := os.WriteFile(path, source, 0o600); err != nil {
			return fmt.Errorf("writing a study file: %w", err)
		}
		if _, err := a.site.Aggregator.Run(ctx, "study", "host", path); err != nil {
			return err
		}
		a.order.Studies = append(a.order.Studies, string(source))
	}
	return nil
}

// hostileStudies is the number of studies that the listed peers may spoil.
const hostileStudies = 4

const hostileNetwork = `data: none
---
cosketch: study/2
name: hostile
nonce: "NONCE"
aggregator: {id: AGGREGATOR_ID, hpke: AGGREGATOR_HPKE, addrs: [AGGREGATOR_ADDRESS]}
parties:
%squorum: %d
expires: EXPIRES
deadline: DEADLINE
records: {id: [id]}
columns:
  - {name: x, kind: numeric, bounds: [0, 1]}
  - {name: y, kind: numeric, bounds: [0, 1]}
partition: horizontal
sketches: [{side: records, family: sparse, k: 256, s: 1}]
privacy: {unit: attribute, mechanism: laplace, epsilon: 8}
analyses: [{kind: k-means, clusters: 3, restarts: 1}]
`

// readersToken creates a token for everything that a reader may see.
func (a *attacked) readersToken(ctx context.Context) (string, error) {
	var made struct {
		Token string `json:"token"`
	}
	err := a.site.Aggregator.RunJSON(ctx, &made, "token", "create", "watcher", "--scope", "studies:read,results:read,metrics:read")
	return made.Token, err
}

// study runs a study of the honest parties, from its proposal to the last party's result, and
// checks it.
func (a *attacked) study(ctx context.Context, n int) (seconds float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, studyDeadline)
	defer cancel()
	id, err := a.site.propose(ctx)
	if err != nil {
		return 0, err
	}
	draft, err := a.site.Reopen(id)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := a.site.Run(ctx, draft, studyDeadline); err != nil {
		return time.Since(began).Seconds(), err
	}
	return time.Since(began).Seconds(), a.site.check(ctx, id)
}

// load runs studies during the attack. If the studies finish early, the attack continues to its
// end.
func (a *attacked) load(ctx context.Context, o AttackOptions, out *Attacked) error {
	attacking, stop := context.WithCancel(ctx)
	defer stop()
	began := time.Now()
	var hostile error
	var beside sync.WaitGroup
	beside.Go(func() {
		out.Calls, hostile = o.Attackers(attacking, a.order)
		out.Seconds = time.Since(began).Seconds()
	})
	looked := make(chan map[int]int, 1)
	looking, enough := context.WithCancel(ctx)
	defer enough()
	go func() { looked <- a.look(looking) }()
	var failed error
	for n := range o.Studies { // spread over the whole attack, as it has many phases
		due := time.Duration((float64(n) + 0.5) / float64(o.Studies) * float64(o.For))
		if err := pauseFor(ctx, due-time.Since(began)); err != nil {
			failed = err
			break
		}
		seconds, err := a.study(ctx, quietStudies+n)
		if err != nil {
			failed = fmt.Errorf("study %d beside hostile peers: %w", n+1, err)
			stop()
			break
		}
		out.Loaded = append(out.Loaded, seconds)
		fmt.Fprintf(o.Log, "study %d of %d beside hostile peers: %.1f s\n", n+1, o.Studies, seconds)
	}
	beside.Wait()
	enough()
	out.Pages = <-looked
	if failed == nil {
		failed = hostile
	}
	select {
	case <-a.serving.Ended():
		failed = errors.Join(failed, fmt.Errorf("the aggregator ended: %w", a.serving.Err()))
	default:
	}
	return failed
}

// pauseFor waits; it returns ctx's error if ctx ends first.
func pauseFor(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// look requests pages until ctx ends, and counts the responses by status; 0 is no response.
func (a *attacked) look(ctx context.Context) map[int]int {
	out := map[int]int{}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(pageInterval)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return out
		case <-ticker.C:
		}
		path := []string{"/api/v1/studies", "/", "/readyz", "/metrics"}[n%4]
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+a.pages+path, nil)
		if err != nil {
			continue
		}
		request.Header.Set("Authorization", "Bearer "+a.token)
		answer, err := client.Do(request)
		switch {
		case ctx.Err() != nil:
			return out
		case err != nil:
			out[0]++
		default:
			answer.Body.Close()
			out[answer.StatusCode]++
		}
	}
}

// Cost is what one hostile call costs the aggregator.
type Cost struct {
	Attack string  `json:"attack"`
	Calls  int     `json:"calls"`
	CPU    float64 `json:"cpu_milliseconds"` // per call; 0 if the system does not report it
}

// costs makes hostile calls one after the other and measures the aggregator's processor time.
func (a *attacked) costs(ctx context.Context) (out []Cost, err error) {
	peer, err := a.order.listed(0)
	if err != nil {
		return nil, err
	}
	defer peer.close()
	for _, attack := range calls {
		before := a.serving.Resident().CPU
		for range callsOfCost {
			attack.send(ctx, peer)
		}
		spent := a.serving.Resident().CPU - before
		out = append(out, Cost{attack.name, callsOfCost, float64(spent.Microseconds()) / 1000 / callsOfCost})
	}
	return out, nil
}

// callsOfCost is the number of calls that are measured together.
const callsOfCost = 60

// Write prints the measurements for people.
func (a Attacked) Write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d hostile peers for %.0f s; %d studies of honest parties beside them.\n", a.Peers, a.Seconds, len(a.Loaded))
	fmt.Fprintf(&b, "studies: quiet %.1f to %.1f s; attacked", slices.Min(a.Quiet), slices.Max(a.Quiet))
	for _, s := range a.Loaded {
		fmt.Fprintf(&b, " %.1f", s)
	}
	fmt.Fprintf(&b, " s (at most %d times the longest quiet one)\n", mostSlowdown)
	fmt.Fprintf(&b, "aggregator: memory %d MiB (at most %d), state %d MiB (at most %d)\n", a.Memory>>20, a.Most>>20, a.Disk>>20, a.MostDisk>>20)
	b.WriteString("pages by status:")
	for _, status := range slices.Sorted(maps.Keys(a.Pages)) {
		fmt.Fprintf(&b, " %d: %d", status, a.Pages[status])
	}
	b.WriteString("\n\nCPU of the aggregator for one hostile call:\n")
	for _, c := range a.Costs {
		fmt.Fprintf(&b, "  %-34s %8.2f ms\n", c.Attack, c.CPU)
	}
	b.WriteString("\nhostile calls, by what was answered:\n")
	for _, name := range slices.Sorted(maps.Keys(a.Calls)) {
		fmt.Fprintf(&b, "  %-34s", name)
		for _, answer := range slices.Sorted(maps.Keys(a.Calls[name])) {
			fmt.Fprintf(&b, " %s: %d", answer, a.Calls[name][answer])
		}
		b.WriteString("\n")
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
