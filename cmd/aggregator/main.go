// Command aggregator is the operator's node: it hosts the boards of studies, receives the parties'
// noised sketches and computes the results.
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
	Study  studyCommands `cmd:"" group:"Make a study:" help:"Draft, host, plan or explain a study."`

	Serve  serveCommand          `cmd:"" group:"Serve:" help:"Serve all hosted studies until stopped."`
	Status console.StatusCommand `cmd:"" group:"Serve:" help:"Show where studies stand and what they wait for."`

	Result  resultCommand         `cmd:"" group:"Read what came out:" help:"Print a study's result, or write it to a file."`
	Report  console.ReportCommand `cmd:"" group:"Read what came out:" help:"Write a study's result as a page with figures."`
	Analyze analyzeCommand        `cmd:"" group:"Read what came out:" help:"Answer a further analysis from a study's releases. Nothing is spent."`
	Query   queryCommand          `cmd:"" group:"Read what came out:" help:"Find the released records that are nearest to public vectors. Nothing is spent."`

	Purge    purgeCommand          `cmd:"" group:"Keep the node:" help:"Remove the sketches of studies that have ended. Results stay."`
	Backup   console.BackupCommand `cmd:"" group:"Keep the node:" help:"Write the state to a file, also beside a running node."`
	Advanced advancedCommands      `cmd:"" group:"Keep the node:" help:"Do what is needed seldom; ${name} advanced --help lists it."`
}

type studyCommands struct {
	Draft   studyDraft   `cmd:"" help:"Draft a study file from the column lists of its parties."`
	Check   studyCheck   `cmd:"" help:"Check a study file. Nothing is stored."`
	Plan    studyPlan    `cmd:"" help:"Forecast the errors of the answers, under every choice that the study has."`
	Explain studyExplain `cmd:"" help:"Explain what would leave, to whom, under which guarantee."`
	Host    studyHost    `cmd:"" help:"Host a study, if its file is sound; a running serve takes it up."`
	Cancel  studyCancel  `cmd:"" help:"End a study that has no result. Every party is told why."`
}

// advancedCommands are those that operators and scripts rarely need, in the same groups as
// commands.
type advancedCommands struct {
	Webhook webhookCommands `cmd:"" group:"Make a node:" help:"Make a secret of a webhook, or test webhooks."`

	Study struct {
		Diff console.DiffCommand `cmd:"" help:"Show what differs between two studies."`
	} `cmd:"" group:"Make a study:" help:"Compare studies."`

	Invitation invitationCommands `cmd:"" group:"Make a study:" help:"Make, list, accept or revoke one-time invitations."`

	Import importCommand `cmd:"" group:"Serve:" help:"Carry a study by hand: read the files of its parties."`
	Export exportCommand `cmd:"" group:"Serve:" help:"Carry a study by hand: write the answers to its parties."`

	console.Upkeep
}

// renamed maps the former or likely names of commands to their names. Commands that moved under
// advanced keep their names and need no entry.
func renamed() map[string]string {
	return map[string]string{
		"identity show": "identity",
		"study create":  "study host",
		"study add":     "study host",
		"study new":     "study draft",
		"study list":    "status",
		"study show":    "study explain",
	}
}

func main() {
	c := commands{
		Status:   console.StatusCommand{Role: store.Aggregator},
		Report:   console.ReportCommand{Role: store.Aggregator},
		Backup:   console.BackupCommand{Role: store.Aggregator},
		Advanced: advancedCommands{Upkeep: console.UpkeepOf(store.Aggregator)},
	}
	c.Advanced.Study.Diff.Role = store.Aggregator
	os.Exit(int(console.Program{
		Name:     "aggregator",
		About:    "The operator's node in Cosketch studies.\n\nA first study: aggregator init, aggregator study host FILE, aggregator serve, aggregator result STUDY. STUDY is the beginning of the study's id.",
		Commands: &c, Globals: &c.Globals, Paths: config.DefaultAggregatorPaths, Renamed: renamed(),
		Other: "party", Elsewhere: []string{"budget", "data", "doctor", "join", "run"},
	}.Main(os.Args[1:])))
}
