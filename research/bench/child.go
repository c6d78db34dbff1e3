package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
)

// home is a party with a study of one data file.
type home struct {
	program string
	flags   []string
	study   string // study id
	columns int    // of the sketch, including the column of ones
}

// newHome creates parties and a study file, and names the data in the first party's site file. dir
// holds the programs and receives the new files under name. With unit record the records are
// clipped; with unit attribute they are projected unclipped.
func newHome(ctx context.Context, dir, name, data string, t table, unit dp.Unit) (*home, error) {
	ids := make([]string, 3)
	var agg struct{ ID, HPKE string }
	for i := range ids {
		var one struct{ ID string }
		if err := identify(ctx, dir, "party", nodeFlags(dir, fmt.Sprintf("%s-%d", name, i)), &one); err != nil {
			return nil, err
		}
		ids[i] = one.ID
	}
	if err := identify(ctx, dir, "aggregator", nodeFlags(dir, name+"-aggregator"), &agg); err != nil {
		return nil, err
	}
	var columns strings.Builder
	for j := range t.columns {
		fmt.Fprintf(&columns, "  - {name: %s, kind: numeric, bounds: [0, 1]}\n", columnName(j))
	}
	clip, noise, limits := "", "mechanism: laplace, epsilon: 1", "epsilon: 1"
	if unit == dp.Record {
		clip, noise, limits = fmt.Sprintf(", clip: %.3f", clipping(t.columns)), "mechanism: gaussian, epsilon: 1, delta: 1e-6", "epsilon: 1, delta: 1e-6"
	}
	now := time.Now().UTC()
	text := fmt.Sprintf(`cosketch: study/2
name: %s
nonce: 000102030405060708090a0b0c0d0e0f
aggregator: {id: %s, hpke: %s, addrs: [/ip4/127.0.0.1/tcp/1]}
parties: [{name: north, id: %s}, {name: south, id: %s}, {name: west, id: %s}]
partition: horizontal
expires: %s
deadline: %s
records: {id: [id], normalize: [nfc, trim, casefold]}
columns:
%ssketches: [{side: columns, family: sparse, k: %d, s: 1, helpers: {ones: 0.3}%s}]
privacy: {unit: %s, %s}
analyses: [{kind: correlation}]
`, name, agg.ID, agg.HPKE, ids[0], ids[1], ids[2], now.Add(time.Hour).Format(time.RFC3339), now.Add(2*time.Hour).Format(time.RFC3339), columns.String(), dimension, clip, unit, noise)
	file := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the study file: %w", err)
	}
	h := &home{program: program(dir, "party"), flags: nodeFlags(dir, name+"-0"), columns: t.columns + 1}
	var added struct{ Study string }
	if _, err := h.run(ctx, runtime.GOMAXPROCS(0), &added, "study", "add", file); err != nil {
		return nil, err
	}
	h.study = added.Study
	site := fmt.Sprintf("datasets:\n  data: {source: %s, caps: {%s: {%s}}}\nstudies:\n  %s: {dataset: data}\n", data, unit, limits, h.study)
	if err := os.WriteFile(filepath.Join(dir, name+"-0.site"), []byte(site), 0o600); err != nil {
		return nil, fmt.Errorf("writing the site file: %w", err)
	}
	return h, nil
}

// clipping returns a bound that about one record in twenty exceeds; the mean square of a value is
// 1/3.
func clipping(columns int) float64 { return 1.1 * math.Sqrt(float64(columns)/3) }

func program(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

func nodeFlags(dir, name string) []string {
	return []string{"--format", "json", "--state", filepath.Join(dir, name), "--config", filepath.Join(dir, name+".site")}
}

// identify creates a node's identity and decodes what the program prints.
func identify(ctx context.Context, dir, name string, flags []string, into any) error {
	h := &home{program: program(dir, name), flags: flags}
	_, err := h.run(ctx, runtime.GOMAXPROCS(0), into, "init")
	return err
}

// run runs a command on so many processors, waits for it, and decodes its output.
func (h *home) run(ctx context.Context, threads int, into any, args ...string) (Process, error) {
	cmd := exec.CommandContext(ctx, h.program, append(h.flags[:len(h.flags):len(h.flags)], args...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", threads))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began).Seconds()
	if ctx.Err() != nil {
		return Process{}, ctx.Err()
	}
	if err != nil {
		return Process{}, fmt.Errorf("running %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	if err := json.Unmarshal(stdout.Bytes(), into); err != nil {
		return Process{}, fmt.Errorf("reading what %s printed: %w", strings.Join(args, " "), err)
	}
	state := cmd.ProcessState
	return Process{Seconds: took, CPU: (state.UserTime() + state.SystemTime()).Seconds(), Memory: peakMemory(state)}, nil
}

// check runs the command that only reads the data.
func (h *home) check(ctx context.Context) (Process, error) {
	var checked struct{ Allowed bool }
	return h.run(ctx, runtime.GOMAXPROCS(0), &checked, "data", "check", h.study)
}

// dryRun runs the command that reads and projects the data.
func (h *home) dryRun(ctx context.Context, threads int) (DryRun, error) {
	var said struct {
		Seconds struct{ Noise, Encode float64 }
	}
	p, err := h.run(ctx, threads, &said, "advanced", "sketch", h.study, "--dry-run")
	// Each worker has a partial sum of 8 bytes an entry; one more holds the total.
	sums := int64(threads) + 1
	return DryRun{Process: p, Noise: said.Seconds.Noise, Encode: said.Seconds.Encode, Sketch: sums * 8 * dimension * int64(h.columns)}, err
}
