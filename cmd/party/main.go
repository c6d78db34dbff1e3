// Command party is an organisation's node: it keeps the organisation's data at
// home, agrees with the other parties of a study on a secret seed, and ships one
// noised sketch.
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

	Init     initCommand           `cmd:"" help:"Make this node's identity, ledger and site file."`
	Identity identityCommands      `cmd:"" help:"Print this node's peer id, for study files, or rotate it."`
	Study    studyCommands         `cmd:"" help:"Add, explain, approve or decline a study."`
	Steward  stewardCommands       `cmd:"" help:"Make the key of a second person, for four eyes."`
	Plan     planCommand           `cmd:"" help:"Forecast how far a study's answers will err, and what it would cost. Nothing leaves."`
	Data     dataCommands          `cmd:"" help:"Name data, look at them, check them against a study. Nothing leaves."`
	Sketch   sketchCommand         `cmd:"" help:"Bring a held sketch up to date: add files, withdraw records; or rehearse a release. Nothing leaves."`
	Release  releaseCommand        `cmd:"" help:"Let a held sketch go: the steward's decision."`
	Run      runCommand            `cmd:"" help:"Serve one approved study to its result, then exit."`
	Serve    serveCommand          `cmd:"" help:"Serve all approved studies until stopped."`
	Doctor   doctorCommand         `cmd:"" help:"Check state, site file and the way to the aggregators, and say what to do."`
	Export   exportCommand         `cmd:"" help:"Carry a study by hand: write what this party has to say to a file."`
	Import   importCommand         `cmd:"" help:"Carry a study by hand: read the aggregator's answer from a file."`
	Status   console.StatusCommand `cmd:"" help:"Say where studies stand and what they wait for."`
	Result   resultCommand         `cmd:"" help:"Print a study's result, or write it with this party's labels to files."`
	Predict  predictCommand        `cmd:"" help:"Say where new records of this party belong among a study's results. Nothing leaves."`
	Query    queryCommand          `cmd:"" help:"Ask which records of all parties are nearest to new records. This is a release, and debited."`
	Report   console.ReportCommand `cmd:"" help:"Write a study's result as a page with figures."`
	Inspect  inspectCommand        `cmd:"" help:"Show what this party released in a study, and verify its hashes."`
	Audit    auditCommand          `cmd:"" help:"Try a study's mechanism on made-up data against what it claims. Nothing leaves."`
	Budget   budgetCommands        `cmd:"" help:"Show what was spent of the privacy budgets, and set their caps."`
	Withdraw withdrawCommand       `cmd:"" help:"Take back the approval of a study, before this party has committed."`

	console.Upkeep
}

func main() {
	c := commands{
		Status: console.StatusCommand{Role: store.Party},
		Report: console.ReportCommand{Role: store.Party},
		Upkeep: console.UpkeepOf(store.Party),
	}
	os.Exit(int(console.Program{
		Name:     "party",
		About:    "An organisation's node in Cosketch studies.\n\nA first study: party init, party study add FILE, party study explain STUDY, party study approve STUDY, party run STUDY, party result STUDY. STUDY is the beginning of the study's id.",
		Commands: &c, Globals: &c.Globals, Paths: config.DefaultPartyPaths,
	}.Main(os.Args[1:])))
}
