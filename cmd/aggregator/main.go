// Command aggregator is the operator's node: it hosts the boards of studies,
// takes the parties' noised sketches in and computes the results.
package main

import (
	"os"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
)

// commands is the command line. Each command is a file of this package.
type commands struct {
	console.Globals

	Init     initCommand     `cmd:"" group:"Make a node:" help:"Make this node's identity and configuration file."`
	Identity identityCommand `cmd:"" group:"Make a node:" help:"Print this node's peer id and HPKE key, for study files."`
	Token    tokenCommands   `cmd:"" group:"Make a node:" help:"Make, list or revoke tokens of readers of the pages and the API."`

	Invite inviteCommand `cmd:"" group:"Make a study:" help:"Make a study by answering questions: from the parties' introductions to the result."`
	Study  studyCommands `cmd:"" group:"Make a study:" help:"Create or explain a study."`

	Invitation invitationCommands `cmd:"" group:"Make a study:" help:"Make, list, accept or revoke one-time invitations."`

	Serve  serveCommand          `cmd:"" group:"Serve:" help:"Host all studies until stopped."`
	Status console.StatusCommand `cmd:"" group:"Serve:" help:"Show where studies stand and what they wait for."`
	Import importCommand         `cmd:"" group:"Serve:" help:"Take in files of parties that carry a study by hand."`
	Export exportCommand         `cmd:"" group:"Serve:" help:"Write the answers to parties that carry a study by hand."`

	Result  resultCommand         `cmd:"" group:"Read what came out:" help:"Print a study's result, or write it to a file."`
	Report  console.ReportCommand `cmd:"" group:"Read what came out:" help:"Write a study's result as a page with figures."`
	Analyze analyzeCommand        `cmd:"" group:"Read what came out:" help:"Answer a further analysis from a study's releases. Nothing is spent."`
	Query   queryCommand          `cmd:"" group:"Read what came out:" help:"Find the released records nearest to public vectors. Nothing is spent."`

	Purge purgeCommand `cmd:"" group:"Keep the node:" help:"Remove the sketches of studies that have ended. Results stay."`

	console.Upkeep
}

func main() {
	c := commands{
		Study:  studyCommands{Diff: console.DiffCommand{Role: store.Aggregator}},
		Status: console.StatusCommand{Role: store.Aggregator},
		Report: console.ReportCommand{Role: store.Aggregator},
		Upkeep: console.UpkeepOf(store.Aggregator),
	}
	os.Exit(int(console.Program{
		Name:     "aggregator",
		About:    "The operator's node in Cosketch studies.\n\nA first study: aggregator init, aggregator study create FILE, aggregator serve, aggregator result STUDY. STUDY is the beginning of the study's id.",
		Commands: &c, Globals: &c.Globals, Paths: config.DefaultAggregatorPaths,
	}.Main(os.Args[1:])))
}
