// Command testnet shows Cosketch at work. It builds both programs and runs studies on real data,
// each between an aggregator and three parties on this machine. It compares every result with the
// truth, which only the testnet can compute.
//
//	go run ./testnet
//
// It writes report.html, removes everything else it made, and exits with 1 if the estimates are
// further from the truth than their intervals allow.
//
//	go run ./testnet network NAME
//
// runs a study of real public data between realistic organisations.
//
//	go run ./testnet up
//
// keeps a network running, to look at. Use it with ask, kill, study, status and down.
//
//	go run ./testnet chaos
//
// disturbs studies at random and checks that they end correctly nevertheless.
//
//	go run ./testnet upgrade --from COMMIT
//
// begins studies with the programs of an earlier commit and finishes them with today's programs,
// and vice versa.
//
//	go run ./testnet hostile
//
// attacks an aggregator while honest parties finish studies.
//
//	go run ./testnet simulate
//
// plays random schedules of the protocol with random adversaries, and counts the outcomes. With
// --parties 1000 it plays one study with 1000 parties.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/cosketch/cosketch/testnet/chaos"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
)

// name is the prefix of messages.
const name = "testnet"

// commands are the commands of the program; without a command, it runs the demonstration.
type commands struct {
	Demo     demo         `cmd:"" aliases:"run" default:"withargs" help:"Run the studies of the demonstration between three parties and an aggregator on this machine, and set the results beside the truth (the default)."`
	Network  playNetwork  `cmd:"" help:"Play studies of real public data between organisations as they might be, and print an error table: every answer beside what the pooled data say."`
	Up       up           `cmd:"" help:"Start a network and keep it up until Ctrl-C, with a study slow enough to watch; nodes may be killed, and come back."`
	Study    oneMore      `cmd:"" help:"Play one more study on the network that is up."`
	Ask      ask          `cmd:"" help:"Ask a node of the network, as its steward or operator would: ask north budget."`
	Kill     kill         `cmd:"" help:"Kill a node of the network that is up, as a crash would (SIGKILL)."`
	Status   status       `cmd:"" help:"Say which nodes of a network run and where their studies stand."`
	Down     down         `cmd:"" help:"End the network that is up."`
	Chaos    disturb      `cmd:"" help:"Kill, pause and restart nodes and cut the network between them while they run studies, and check that nothing is lost, spent twice or left hanging."`
	Upgrade  upgrade      `cmd:"" help:"Stop studies at every state, give their nodes the programs of another build, and check that these finish them as if nothing had happened."`
	Hostile  hostile      `cmd:"" help:"Let hostile peers attack an aggregator while honest parties finish studies, and check that these are hardly slower, and that memory and disk stay within their bounds."`
	Apart    hostilePeers `cmd:"" name:"hostile-peers" hidden:"" help:"Play the hostile peers of an order on stdin."`
	Simulate simulate     `cmd:"" help:"Play random schedules of the protocol, with adversaries, crashes and a bad network, and count what came of them."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	parser, err := newParser(new(commands), stderr)
	if err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Internal
	}
	return program.Main(name, parser, args, program.Streams{Out: stdout, Log: stderr})
}

// newParser returns the parser of the command line.
func newParser(chosen *commands, stderr io.Writer) (*kong.Kong, error) {
	return kong.New(chosen, kong.Name(name), kong.Writers(stderr, stderr),
		kong.Description("Run studies between three parties and an aggregator on this machine, and set the results beside the truth."),
		kong.Help(help),
		kong.Vars{"studies": strings.Join(networks.DemoNames(), ", "), "states": strings.Join(chaos.StateNames(), ", "), "data": corpus.Variable})
}

// help prints the usage of the chosen command. If there is none, it prints the usage of the program
// and of the demonstration, whose flags need no command.
func help(options kong.HelpOptions, chosen *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, chosen); err != nil || chosen.Selected() != nil {
		return err
	}
	shown, err := kong.Trace(chosen.Kong, []string{"demo"})
	if err != nil {
		return err
	}
	fmt.Fprintln(chosen.Stdout)
	return kong.DefaultHelpPrinter(options, shown)
}
