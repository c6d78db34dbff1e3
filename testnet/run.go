package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/program"
	"github.com/cosketch/cosketch/testnet/report"
	"github.com/cosketch/cosketch/testnet/scenario"
)

type options struct {
	Seed    uint64        `default:"1" help:"Seed of the data and their split. The projections' seed is agreed anew in every run."`
	Study   []string      `placeholder:"NAME" help:"Run only these studies (repeatable): ${studies}."`
	Report  string        `default:"report.html" placeholder:"FILE" help:"Where to write the report."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"10m" help:"Give up after this time."`
	Keep    bool          `help:"Keep the temporary directory with all nodes' state, and say where it is."`
}

// runStudies runs the studies, tells the results and returns the exit code.
func runStudies(ctx context.Context, opts options, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	result, err := perform(ctx, opts, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		if errors.Is(err, errUsage) {
			return program.Usage
		}
		return program.Failed
	}
	if err := tell(opts, result, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Internal
	}
	if !result.Verdict.OK() {
		fmt.Fprintln(stderr, "testnet: the estimates are further from the truth than their intervals allow")
		return program.Failed
	}
	return program.OK
}

// errUsage marks what the caller can mend by other arguments.
var errUsage = errors.New("wrong arguments")

// perform runs the studies in a temporary directory and removes it.
func perform(ctx context.Context, opts options, log io.Writer) (result report.Run, err error) {
	began := time.Now()
	data, err := cancer.Load()
	if err != nil {
		return report.Run{}, err
	}
	scenarios, err := choose(opts)
	if err != nil {
		return report.Run{}, err
	}
	if _, err := os.Stat(filepath.Dir(opts.Report)); err != nil {
		return report.Run{}, fmt.Errorf("%w: there is no directory for the report: %w", errUsage, err)
	}
	dir, err := os.MkdirTemp("", "cosketch-testnet-")
	if err != nil {
		return report.Run{}, fmt.Errorf("making a directory for the nodes: %w", err)
	}
	defer func() {
		if opts.Keep {
			fmt.Fprintln(log, "kept:", dir)
		} else if removed := os.RemoveAll(dir); err == nil && removed != nil {
			err = fmt.Errorf("removing the nodes' state: %w", removed)
		}
	}()
	fmt.Fprintln(log, "building party and aggregator")
	if err := network.Build(ctx, dir); err != nil {
		return report.Run{}, program.Explain(ctx, err, nil)
	}
	built := time.Now()
	fmt.Fprintf(log, "built in %.0f s; starting an aggregator and three parties\n", built.Sub(began).Seconds())
	nodes, err := network.Start(ctx, dir)
	if err != nil {
		return report.Run{}, program.Explain(ctx, err, nil)
	}
	defer nodes.Stop()
	s := stage{nodes: nodes, data: data, dir: dir, log: log}
	result = report.Run{Seed: opts.Seed, Made: began, Go: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}
	for _, scene := range scenarios {
		study, err := s.play(ctx, scene)
		if err != nil {
			return report.Run{}, program.Explain(ctx, fmt.Errorf("%s: %w", scene.Name, err), nodes)
		}
		result.Studies = append(result.Studies, study)
	}
	result.Elapsed = time.Since(built)
	result.Verdict = outcome.Judge(result.Studies)
	return result, nil
}

// choose returns the scenarios that were asked for, in their own order.
func choose(opts options) ([]scenario.Scenario, error) {
	for _, name := range opts.Study {
		if !slices.Contains(scenario.Names(), name) {
			return nil, fmt.Errorf("%w: no study %q; there are %s", errUsage, name, strings.Join(scenario.Names(), ", "))
		}
	}
	all, err := scenario.All(opts.Seed)
	if err != nil || len(opts.Study) == 0 {
		return all, err
	}
	return slices.DeleteFunc(all, func(s scenario.Scenario) bool { return !slices.Contains(opts.Study, s.Name) }), nil
}

// tell writes the report, then the results on stdout.
func tell(opts options, result report.Run, stdout, stderr io.Writer) error {
	path, err := filepath.Abs(opts.Report)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	var page strings.Builder
	if err := report.HTML(&page, result); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	write := report.Text
	if opts.Format == "json" {
		write = report.JSON
	}
	if err := write(stdout, result); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "done in %.0f s; the report with all figures: %s\n", result.Elapsed.Seconds(), path)
	return nil
}
