package scale

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/network"
)

// Wide is a study of two parties with many columns of the same people.
type Wide struct {
	Columns   int // of each party
	K         int
	Records   int
	Mechanism string // none, or that of noise at Epsilon
	Epsilon   float64
}

// Played is what a wide study took.
type Played struct {
	Mechanism string    `json:"mechanism"`
	Refused   string    `json:"pca_refused"` // what study create says of a pca of as many columns
	Seconds   float64   `json:"seconds"`
	Result    int64     `json:"result_bytes"` // at a party, with its tables
	Processes []Process `json:"processes"`
}

// Process is one of its processes.
type Process struct {
	Name   string `json:"name"`
	Memory int64  `json:"bytes"` // most that was resident; 0 where the system does not say
}

// PlayWide plays covariances and correlations of all columns under dir, where network.Build has
// put the programs, with every node a process of its own, and checks that both parties have a
// result whose every part is what was signed.
func PlayWide(ctx context.Context, dir string, w Wide, log io.Writer) (out Played, err error) {
	home := filepath.Join(dir, "wide-"+w.Mechanism)
	if err := os.Mkdir(home, 0o700); err != nil {
		return out, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	aggregator, err := network.Aggregator(ctx, dir, home)
	if err != nil {
		return out, err
	}
	var parties []*network.Node
	for _, name := range []string{"north", "south"} {
		party, err := network.Party(ctx, dir, home, name)
		if err != nil {
			return out, err
		}
		if err := w.writeData(filepath.Join(party.Dir(), "data.csv"), name, uint64(len(parties))); err != nil {
			return out, fmt.Errorf("writing the data of %s: %w", name, err)
		}
		parties = append(parties, party)
	}
	port, err := network.FreePort()
	if err != nil {
		return out, err
	}
	out.Mechanism = w.Mechanism
	if out.Refused, err = w.refused(ctx, home, aggregator, parties, port); err != nil {
		return out, err
	}
	source := w.study(aggregator, parties, port, "[{kind: covariance}, {kind: correlation}]")
	s, err := file.Parse([]byte(source))
	if err != nil {
		return out, fmt.Errorf("the study file: %w", err)
	}
	path, id := filepath.Join(home, "study.yaml"), s.ID.String()
	if err := os.WriteFile(path, []byte(source), 0o600); err != nil {
		return out, fmt.Errorf("writing the study file: %w", err)
	}
	if _, err := aggregator.Run(ctx, "study", "create", path); err != nil {
		return out, err
	}
	began := time.Now()
	serving, err := aggregator.Start("serve", "--listen", fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port))
	if err != nil {
		return out, err
	}
	var running []*network.Started
	for _, party := range parties {
		site := fmt.Sprintf("datasets:\n  d: {source: data.csv, caps: {attribute: {epsilon: %g}}}\nstudies:\n  %s: {dataset: d, accept_reconstruction: true}\n", max(w.Epsilon, 1), id)
		err = errors.Join(err, network.WriteSiteFile(party, []byte(site)))
		for _, args := range [][]string{{"study", "add", path}, {"study", "approve", id, "--id", id[:8], "--although-useless"}} {
			if err == nil {
				_, err = party.Run(ctx, args...)
			}
		}
		if err != nil {
			return out, errors.Join(err, serving.Kill())
		}
		one, startErr := party.Start("run", id)
		if startErr != nil {
			return out, errors.Join(startErr, serving.Kill())
		}
		running = append(running, one)
	}
	fmt.Fprintf(log, "%s: the parties run\n", w.Mechanism)
	for i, one := range running {
		select {
		case <-one.Ended():
			err = errors.Join(err, one.Err())
		case <-serving.Ended():
			err = errors.Join(err, fmt.Errorf("the aggregator stopped: %w", serving.Err()), one.Kill())
		case <-ctx.Done():
			err = errors.Join(err, ctx.Err(), one.Kill())
		}
		out.Processes = append(out.Processes, Process{parties[i].Name + ": run", one.PeakMemory()})
	}
	out.Seconds = time.Since(began).Seconds()
	err = errors.Join(err, serving.Kill())
	out.Processes = append(out.Processes, Process{"aggregator: serve", serving.PeakMemory()})
	if err != nil {
		return out, err
	}
	for _, party := range parties {
		for _, args := range [][]string{{"result", id}, {"fsck"}} {
			one, err := party.Start(args...)
			if err != nil {
				return out, err
			}
			<-one.Ended()
			if err := one.Err(); err != nil {
				return out, err
			}
			out.Processes = append(out.Processes, Process{party.Name + ": " + args[0], one.PeakMemory()})
		}
		if out.Result, err = network.Held(filepath.Join(party.StateDir(), "results")); err != nil {
			return out, err
		}
	}
	return out, os.RemoveAll(home)
}

// refused is what study create says of principal components of all columns.
func (w Wide) refused(ctx context.Context, home string, aggregator *network.Node, parties []*network.Node, port int) (string, error) {
	path := filepath.Join(home, "pca.yaml")
	if err := os.WriteFile(path, []byte(w.study(aggregator, parties, port, "[{kind: pca}]")), 0o600); err != nil {
		return "", fmt.Errorf("writing a study file: %w", err)
	}
	_, err := aggregator.Run(ctx, "study", "create", path)
	if err == nil {
		return "", fmt.Errorf("study create takes principal components of %d columns", 2*w.Columns)
	}
	if !strings.Contains(err.Error(), "is refused: at most") {
		return "", err
	}
	_, said, _ := strings.Cut(err.Error(), "pca of ")
	return "pca of " + said, nil
}

func (w Wide) study(aggregator *network.Node, parties []*network.Node, port int, analyses string) string {
	var list, columns strings.Builder
	for _, p := range parties {
		fmt.Fprintf(&list, "  - {name: %s, id: %s}\n", p.Name, p.ID)
		for c := range w.Columns {
			fmt.Fprintf(&columns, "  - {name: %s%d, kind: numeric, centre: 50, spread: 10, owner: %s}\n", p.Name, c, p.Name)
		}
	}
	privacy := "{mechanism: none}"
	if w.Mechanism != "none" {
		privacy = fmt.Sprintf("{unit: attribute, mechanism: %s, epsilon: %g}", w.Mechanism, w.Epsilon)
	}
	now := time.Now().UTC()
	return fmt.Sprintf(`cosketch: study/2
name: wide
nonce: 000102030405060708090a0b0c0d0e0f
aggregator: {id: %s, hpke: %s, addrs: [/ip4/127.0.0.1/tcp/%d]}
partition: vertical
parties:
%squorum: 2
expires: %s
deadline: %s
records: {id: [id]}
sketches: [{side: columns, family: sparse, k: %d, s: 1, helpers: {ones: 1}}]
privacy: %s
analyses: %s
columns:
%s`, aggregator.ID, aggregator.HPKE, port, &list, instant(now.Add(12*time.Hour)), instant(now.Add(24*time.Hour)), w.K, privacy, analyses, &columns)
}

// writeData writes columns of which neighbours are correlated, also across the parties, as all
// lean on the same few factors.
func (w Wide) writeData(path, party string, stream uint64) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	out.WriteString("id")
	for c := range w.Columns {
		fmt.Fprintf(out, ",%s%d", party, c)
	}
	shared, own := rand.New(rand.NewPCG(5000, 1)), rand.New(rand.NewPCG(5000, 2+stream))
	var factors [20]float64
	for r := range w.Records {
		for i := range factors {
			factors[i] = shared.NormFloat64()
		}
		fmt.Fprintf(out, "\nr%d", r)
		for c := range w.Columns {
			fmt.Fprintf(out, ",%.2f", 50+8*factors[c%len(factors)]+6*own.NormFloat64())
		}
	}
	out.WriteString("\n")
	return errors.Join(out.Flush(), f.Close())
}
