// Command research is the laboratory. It compares sketches and their intervals with the papers
// behind them, with other software and with the truth.
//
//	go run -C research . papers
//
// recomputes the tables and figures of the sources beside the published values, and plays a study
// of each on running nodes. With --out docs it writes docs/papers.md.
//
//	go run -C research . coverage
//
// measures how often the intervals of results hold the truth of the pooled data.
//
//	go run -C research . defaults
//
// measures whether the answers of drafted studies are as accurate as their labels say, and how
// close they are to the best that the budget can buy.
//
//	go run -C research . union
//
// compares sums with projections in studies that protect whole records of horizontal parties.
//
//	go run -C research . mechanisms
//
// compares the mechanisms with those of the sources.
//
//	go run -C research . bench
//
// measures the projections beside those of scikit-learn; with --files it measures the party
// program, which reads and projects generated files.
//
//	go run -C research . scale
//
// measures how the cost grows with the number of parties.
//
//	go run -C research . wide
//
// plays studies of thousands of columns, and measures memory.
//
//	go run -C research . figures
//
// counts the code: lines, exported names, files that use each other; with --ref COMMIT beside
// another commit.
//
//	go run -C research . mutate
//
// makes many small changes to the code and checks that tests notice.
//
// It is a separate module, which nothing else imports.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/program"
)

// name is the prefix of messages.
const name = "research"

// commands are the subcommands of the program.
type commands struct {
	Papers     paperTables  `cmd:"" help:"Recompute the tables and figures of the sources beside the published values and the theory, and play a study of each on three parties and an aggregator."`
	Coverage   coverageRows `cmd:"" help:"Measure how often the intervals of results hold the truth: for every kind of number, with and without noise, with equal and with different record sets."`
	Defaults   defaultsRows `cmd:"" help:"Measure whether answers of drafted studies are as accurate as their labels say, on public and generated data, and how close they are to the best for their budget. Needs the public data sets, and takes long."`
	Rounds     roundsTable  `cmd:"" help:"Measure k-means in one round, by cells of random directions, and in two, by cells that the moments of the first choose, beside a curator's private Lloyd iterations."`
	Union      unionReport  `cmd:"" help:"Compare moments and cells with row sketches and projections, in horizontal studies that protect whole records."`
	Mechanisms mechanisms   `cmd:"" help:"Compare this project's mechanisms with those of its sources at equal privacy."`
	Bench      benchmark    `cmd:"" help:"Time the projections beside those of scikit-learn, numpy and scipy, if the system's Python has them. Needs an otherwise idle machine."`
	Scale      scaled       `cmd:"" help:"Measure what many parties cost: time, bytes and the aggregator's memory, for studies of 4 to 256 parties on this machine."`
	Cost       costs        `cmd:"" help:"Measure the time to read and project a record, beside the forecasts of plans."`
	Wide       wide         `cmd:"" help:"Play covariances and correlations of thousands of columns on real processes, and print the memory that each took."`
	Apart      apart        `cmd:"" help:"Play k-means, nearest records and a join of more records than fit in the aggregator's memory, on real processes, and print the memory of each."`
	Figures    figureCounts `cmd:"" help:"Count the code: lines, exported names, files that use each other, functions that one study runs, calls that debit a ledger or draw noise; beside another commit, if asked."`
	Mutate     mutants      `cmd:"" help:"Make a hundred small changes to the code, one at a time, and run the tests of the changed package: they must detect nine of ten."`
	Table      table        `cmd:"" hidden:"" help:"Write one of the generated files of bench --files."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	parser, err := newParser(new(commands), stderr)
	if err != nil {
		fmt.Fprintln(stderr, "research:", err)
		return program.Internal
	}
	return program.Main(name, parser, args, program.Streams{Out: stdout, Log: stderr})
}

// newParser returns the parser of the command line.
func newParser(chosen *commands, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(chosen, kong.Name(name), kong.Writers(stderr, stderr),
		kong.Description("Measure what sketches and their intervals are worth, beside the papers that they come from, beside other software and beside the truth."),
		kong.Vars{"data": corpus.Variable})
}
