// Command testnet shows Cosketch at work: it builds both programs, starts an
// aggregator and three parties on this machine, runs studies on real data, and
// sets every result beside the truth that only it can compute.
//
//	go run ./testnet
//
// It writes report.html, removes everything else it made, and exits with 1 when
// the estimates are further from the truth than their intervals allow.
//
//	go run ./testnet chaos
//
// disturbs studies at random and checks that they end right all the same.
//
//	go run ./testnet scale
//
// measures what ever more parties cost.
//
//	go run ./testnet bench
//
// measures the projections beside those of scikit-learn instead, and with --files
// the party program that reads and projects generated files.
//
//	go run ./testnet mechanisms
//
// compares the mechanisms with those of the sources.
//
//	go run ./testnet union
//
// measures what studies that protect whole records of horizontal parties get from sums,
// beside what they get from projections.
//
//	go run ./testnet papers
//
// computes the tables and figures of the sources anew, beside the published values, and
// plays a study of each on running nodes; with --out docs it writes docs/papers.md.
//
//	go run ./testnet simulate
//
// plays random schedules of the protocol with random adversaries, and counts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/testnet/cancer"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/outcome"
	"github.com/cosketch/cosketch/testnet/report"
	"github.com/cosketch/cosketch/testnet/scenario"
)

// exit codes, those of the nodes' programs
const (
	exitOK       = 0
	exitFailed   = 1
	exitUsage    = 4
	exitInternal = 5
)

type options struct {
	Seed    uint64        `default:"1" help:"Seed of the data and their split. The projections' seed is agreed anew in every run."`
	Study   []string      `placeholder:"NAME" help:"Run only these studies (repeatable): ${studies}."`
	Report  string        `default:"report.html" placeholder:"FILE" help:"Where to write the report."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"10m" help:"Give up after this time."`
	Keep    bool          `help:"Keep the temporary directory with all nodes' state, and say where it is."`
}

// commands are what the program does; without a name, it runs studies.
type commands struct {
	Run        options          `cmd:"" default:"withargs" help:"Run studies between three parties and an aggregator on this machine, and set the results beside the truth (the default)."`
	Chaos      chaosOptions     `cmd:"" help:"Kill, pause and restart nodes and cut the network between them while they run studies, and check that nothing is lost, spent twice or left hanging."`
	Scale      scaleOptions     `cmd:"" help:"Measure what many parties cost: time, bytes and the aggregator's memory, for studies of 4 to 64 parties on this machine."`
	Bench      benchOptions     `cmd:"" help:"Measure the projections beside those of scikit-learn, numpy and scipy, where the system's Python has them. Wants a machine that is otherwise idle."`
	Table      tableOptions     `cmd:"" hidden:"" help:"Write one of the generated files of bench --files."`
	Mechanisms mechanismOptions `cmd:"" help:"Compare this project's mechanisms with those of its sources at equal privacy."`
	Union      unionOptions     `cmd:"" help:"Measure what horizontal studies that protect whole records get from moments and cells, beside what they get from row sketches and projections."`
	Papers     paperOptions     `cmd:"" help:"Compute the tables and figures of the sources anew, beside the published values and the theory, and play a study of each on three parties and an aggregator."`
	Simulate   simulateOptions  `cmd:"" help:"Play random schedules of the protocol, with adversaries, crashes and a bad network, and count what came of them."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var chosen commands
	parser, err := kong.New(&chosen, kong.Name("testnet"), kong.Writers(stderr, stderr),
		kong.Description("Run studies between three parties and an aggregator on this machine, and set the results beside the truth."),
		kong.Help(help),
		kong.Vars{"studies": strings.Join(scenario.Names(), ", "), "data": corpus.Variable})
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitInternal
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "testnet: %v (see --help)\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch parsed.Command() {
	case "simulate":
		return runSimulate(ctx, chosen.Simulate, stdout, stderr)
	case "bench":
		return runBench(ctx, chosen.Bench, stdout, stderr)
	case "chaos":
		return runChaos(ctx, chosen.Chaos, stdout, stderr)
	case "scale":
		return runScale(ctx, chosen.Scale, stdout, stderr)
	case "table <file>":
		return runTable(chosen.Table, stderr)
	case "union":
		return runUnion(ctx, chosen.Union, stdout, stderr)
	case "papers":
		return runPapers(ctx, chosen.Papers, stdout, stderr)
	case "mechanisms":
		return runMechanisms(ctx, chosen.Mechanisms, stdout, stderr)
	}
	return runStudies(ctx, chosen.Run, stdout, stderr)
}

// help prints the usage of what was chosen, and of both program and studies when
// nothing was: those flags need no command.
func help(options kong.HelpOptions, chosen *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, chosen); err != nil || chosen.Selected() != nil {
		return err
	}
	studies, err := kong.Trace(chosen.Kong, []string{"run"})
	if err != nil {
		return err
	}
	fmt.Fprintln(chosen.Stdout)
	return kong.DefaultHelpPrinter(options, studies)
}

// runStudies runs the studies, tells the results and returns the exit code.
func runStudies(ctx context.Context, opts options, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	result, err := perform(ctx, opts, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		if errors.Is(err, errUsage) {
			return exitUsage
		}
		return exitFailed
	}
	if err := tell(opts, result, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return exitInternal
	}
	if !result.Verdict.OK() {
		fmt.Fprintln(stderr, "testnet: the estimates are further from the truth than their intervals allow")
		return exitFailed
	}
	return exitOK
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
		return report.Run{}, explain(ctx, err, nil)
	}
	built := time.Now()
	fmt.Fprintf(log, "built in %.0f s; starting an aggregator and three parties\n", built.Sub(began).Seconds())
	nodes, err := network.Start(ctx, dir)
	if err != nil {
		return report.Run{}, explain(ctx, err, nil)
	}
	defer nodes.Stop()
	s := stage{nodes: nodes, data: data, dir: dir, log: log}
	result = report.Run{Seed: opts.Seed, Made: began, Go: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}
	for _, scene := range scenarios {
		study, err := s.play(ctx, scene)
		if err != nil {
			return report.Run{}, explain(ctx, fmt.Errorf("%s: %w", scene.Name, err), nodes)
		}
		result.Studies = append(result.Studies, study)
	}
	result.Elapsed = time.Since(built)
	result.Verdict = outcome.Judge(result.Studies)
	return result, nil
}

// explain says why the run ended: from outside, or by the error, which then
// comes with what the aggregator said.
func explain(ctx context.Context, err error, nodes *network.Network) error {
	// An interrupt at the terminal reaches the nodes too, and perhaps first.
	select {
	case <-ctx.Done():
	case <-time.After(200 * time.Millisecond):
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("gave up after --timeout")
	case ctx.Err() != nil:
		return errors.New("interrupted")
	case nodes != nil:
		return fmt.Errorf("%w%s", err, nodes.Talk())
	}
	return err
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
