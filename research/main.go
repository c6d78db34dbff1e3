// Command research is the laboratory: it measures what sketches and their intervals are
// worth, beside the papers that they come from, beside other software and beside the truth.
//
//	go run -C research . papers
//
// computes the tables and figures of the sources anew, beside the published values, and
// plays a study of each on running nodes; with --out docs it writes docs/papers.md.
//
//	go run -C research . coverage
//
// measures how often the intervals of results hold the truth of the pooled data.
//
//	go run -C research . union
//
// measures what studies that protect whole records of horizontal parties get from sums,
// beside what they get from projections.
//
//	go run -C research . mechanisms
//
// compares the mechanisms with those of the sources.
//
//	go run -C research . bench
//
// measures the projections beside those of scikit-learn, and with --files the party program
// that reads and projects generated files.
//
//	go run -C research . scale
//
// measures what ever more parties cost.
//
//	go run -C research . wide
//
// plays studies of thousands of columns, and measures memory.
//
//	go run -C research . figures
//
// counts the code: lines, exported names, files that use each other; with --ref COMMIT
// beside another commit.
//
//	go run -C research . mutate
//
// changes the code a little, over and over, and looks whether tests notice.
//
// It is a module of its own, which nothing else imports.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

// name is what messages begin with.
const name = "research"

// commands are what the program measures.
type commands struct {
	Papers     paperOptions     `cmd:"" help:"Compute the tables and figures of the sources anew, beside the published values and the theory, and play a study of each on three parties and an aggregator."`
	Coverage   coverageOptions  `cmd:"" help:"Measure how often the intervals of results hold the truth: every kind of number, with and without noise, with equal and with other record sets."`
	Union      unionOptions     `cmd:"" help:"Measure what horizontal studies that protect whole records get from moments and cells, beside what they get from row sketches and projections."`
	Mechanisms mechanismOptions `cmd:"" help:"Compare this project's mechanisms with those of its sources at equal privacy."`
	Bench      benchOptions     `cmd:"" help:"Measure the projections beside those of scikit-learn, numpy and scipy, where the system's Python has them. Wants a machine that is otherwise idle."`
	Scale      scaleOptions     `cmd:"" help:"Measure what many parties cost: time, bytes and the aggregator's memory, for studies of 4 to 64 parties on this machine."`
	Wide       wideOptions      `cmd:"" help:"Play covariances and correlations of thousands of columns on real processes, and print the memory that each took."`
	Figures    figuresOptions   `cmd:"" help:"Count the code: lines, exported names, files that use each other, functions that one study runs, calls that debit a ledger or draw noise; beside another commit, if asked."`
	Mutate     mutateOptions    `cmd:"" help:"Change the code a little, a hundred times, and run the tests of the changed package each time: nine of ten changes must be noticed."`
	Table      tableOptions     `cmd:"" hidden:"" help:"Write one of the generated files of bench --files."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var chosen commands
	parser, err := newParser(&chosen, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Internal
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(stderr, "research: %v (see --help)\n", err)
		return program.Usage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch parsed.Command() {
	case "papers":
		return runPapers(ctx, chosen.Papers, stdout, stderr)
	case "coverage":
		return runCoverage(ctx, chosen.Coverage, stdout, stderr)
	case "union":
		return runUnion(ctx, chosen.Union, stdout, stderr)
	case "mechanisms":
		return runMechanisms(ctx, chosen.Mechanisms, stdout, stderr)
	case "bench":
		return runBench(ctx, chosen.Bench, stdout, stderr)
	case "scale":
		return runScale(ctx, chosen.Scale, stdout, stderr)
	case "wide":
		return runWide(ctx, chosen.Wide, stdout, stderr)
	case "figures":
		return runFigures(ctx, chosen.Figures, stdout, stderr)
	case "mutate":
		return runMutate(ctx, chosen.Mutate, stdout, stderr)
	}
	return runTable(chosen.Table, stderr)
}

// newParser returns the parser of the command line.
func newParser(chosen *commands, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(chosen, kong.Name(name), kong.Writers(stderr, stderr),
		kong.Description("Measure what sketches and their intervals are worth, beside the papers that they come from, beside other software and beside the truth."),
		kong.Vars{"data": corpus.Variable})
}
