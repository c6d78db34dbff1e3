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

	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// Wide is a study of two parties that hold many columns of the same people.
type Wide struct {
	Columns   int // per party
	K         int
	Records   int
	Mechanism string // none, or a noise mechanism with Epsilon
	Epsilon   float64
}

// Played is the cost of a wide study.
type Played struct {
	Mechanism string    `json:"mechanism"`
	Refused   string    `json:"pca_refused"` // error of study create for a pca of all columns
	Seconds   float64   `json:"seconds"`
	Result    int64     `json:"result_bytes"` // at a party, including its tables
	Processes []Process `json:"processes"`
}

// Process is one process of the study.
type Process struct {
	Name   string `json:"name"`
	Memory int64  `json:"bytes"` // peak resident memory; 0 if the system does not report it
}

// PlayWide plays covariances and correlations of all columns under dir, where network.Build has put
// the programs. Every node is a separate process. It checks that both parties have a result whose
// every part is what was signed.
func PlayWide(ctx context.Context, dir string, w Wide, log io.Writer) (out Played, err error) {
	home := filepath.Join(dir, "wide-"+w.Mechanism)
	template, err := w.network("[{kind: covariance}, {kind: correlation}]")
	if err != nil {
		return out, err
	}
	out.Mechanism = w.Mechanism
	site, serving, err := steward.Start(ctx, dir, home, template)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, serving.Kill()) }()
	if out.Refused, err = w.refused(ctx, *site); err != nil {
		return out, err
	}
	draft, err := site.Draft(steward.Dates{Expires: 12 * time.Hour, Deadline: 24 * time.Hour})
	if err != nil {
		return out, err
	}
	for i, party := range site.Parties {
		if err := w.writeData(filepath.Join(party.Dir(), steward.DataFile), party.Name, uint64(i)); err != nil {
			return out, fmt.Errorf("writing the data of %s: %w", party.Name, err)
		}
		if err := network.WriteSiteFile(party, steward.SiteFile(template, draft.Study, steward.Terms{})); err != nil {
			return out, err
		}
	}
	began := time.Now()
	if err := site.Agree(ctx, draft); err != nil {
		return out, err
	}
	id := draft.Study.ID.String()
	var running []*network.Started
	for _, party := range site.Parties {
		one, startErr := party.Start("run", id)
		if startErr != nil {
			return out, startErr
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
		out.Processes = append(out.Processes, Process{site.Parties[i].Name + ": run", one.PeakMemory()})
	}
	out.Seconds = time.Since(began).Seconds()
	err = errors.Join(err, serving.Kill())
	out.Processes = append(out.Processes, Process{"aggregator: serve", serving.PeakMemory()})
	if err != nil {
		return out, err
	}
	for _, party := range site.Parties {
		for _, args := range [][]string{{"result", id}, {"advanced", "fsck"}} {
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

// refused returns the error of study create for principal components of all columns.
func (w Wide) refused(ctx context.Context, site steward.Site) (_ string, err error) {
	if site.Template, err = w.network("[{kind: pca}]"); err != nil {
		return "", err
	}
	draft, err := site.Draft(steward.Dates{Expires: 12 * time.Hour, Deadline: 24 * time.Hour})
	if err != nil {
		return "", err
	}
	_, err = site.Aggregator.Run(ctx, "study", "host", draft.Path)
	if err == nil {
		return "", fmt.Errorf("study create takes principal components of %d columns", 2*w.Columns)
	}
	if !strings.Contains(err.Error(), "is refused: at most") {
		return "", err
	}
	_, said, _ := strings.Cut(err.Error(), "pca of ")
	return "pca of " + said, nil
}

// network returns the template of the study.
func (w Wide) network(analyses string) (networks.Template, error) {
	var columns strings.Builder
	for _, name := range []string{"north", "south"} {
		for c := range w.Columns {
			fmt.Fprintf(&columns, "  - {name: %s%d, kind: numeric, centre: 50, spread: 10, owner: %s}\n", name, c, name)
		}
	}
	privacy := "{mechanism: none}"
	if w.Mechanism != "none" {
		privacy = fmt.Sprintf("{unit: attribute, mechanism: %s, epsilon: %g}", w.Mechanism, w.Epsilon)
	}
	return networks.Parse("wide", fmt.Sprintf(`data: d
accept_reconstruction: true
---
cosketch: study/2
name: wide
nonce: "NONCE"
aggregator: {id: AGGREGATOR_ID, hpke: AGGREGATOR_HPKE, addrs: [AGGREGATOR_ADDRESS]}
partition: vertical
parties: [{name: north, id: NORTH_ID}, {name: south, id: SOUTH_ID}]
quorum: 2
expires: EXPIRES
deadline: DEADLINE
records: {id: [id]}
sketches: [{side: columns, family: sparse, k: %d, s: 1, helpers: {ones: 1}}]
privacy: %s
analyses: %s
columns:
%s`, w.K, privacy, analyses, &columns))
}

// writeData writes columns that depend on a few shared factors. So columns are correlated, also
// across the parties.
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
