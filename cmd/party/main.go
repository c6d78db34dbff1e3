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

	Init     initCommand      `cmd:"" group:"Make a node:" help:"Make this node's identity, ledger and site file."`
	Identity identityCommands `cmd:"" group:"Make a node:" help:"Print this node's peer id, for study files, or rotate it."`
	Steward  stewardCommands  `cmd:"" group:"Make a node:" help:"Make the key of a second person, for four eyes."`
	Doctor   doctorCommand    `cmd:"" group:"Make a node:" help:"Check state, site file and the way to the aggregators, and say what to do."`

	Join joinCommand `cmd:"" group:"Take part, step by step:" help:"Take part in a study at an aggregator, from a new node to the result, asking for each decision."`

	Data dataCommands `cmd:"" group:"Name data:" help:"Name data, look at them, check them against a study. Nothing leaves."`

	Study    studyCommands   `cmd:"" group:"Decide on a study:" help:"Add, explain, approve or decline a study."`
	Plan     planCommand     `cmd:"" group:"Decide on a study:" help:"Forecast the errors of a study's answers and what it would cost. Nothing leaves."`
	Audit    auditCommand    `cmd:"" group:"Decide on a study:" help:"Test on made-up data whether a study's mechanism keeps its promise. Nothing leaves."`
	Withdraw withdrawCommand `cmd:"" group:"Decide on a study:" help:"Take back the approval of a study, before this party has committed."`

	Run     runCommand            `cmd:"" group:"Take part:" help:"Serve one approved study to its result, then exit."`
	Serve   serveCommand          `cmd:"" group:"Take part:" help:"Serve all approved studies until stopped."`
	Status  console.StatusCommand `cmd:"" group:"Take part:" help:"Show where studies stand and what they wait for."`
	Sketch  sketchCommand         `cmd:"" group:"Take part:" help:"Bring a held sketch up to date: add files, withdraw records; or rehearse a release. Nothing leaves."`
	Part    partCommand           `cmd:"" group:"Take part:" help:"Make a part of a sketch where the data are, by a job of the node. Needs no state."`
	Release releaseCommand        `cmd:"" group:"Take part:" help:"Release a held sketch: the steward's decision."`
	Export  exportCommand         `cmd:"" group:"Take part:" help:"Carry a study by hand: write this party's messages to a file."`
	Import  importCommand         `cmd:"" group:"Take part:" help:"Carry a study by hand: read the aggregator's answer from a file."`

	Result  resultCommand         `cmd:"" group:"Read what came out:" help:"Print a study's result, or write it with this party's labels to files."`
	Report  console.ReportCommand `cmd:"" group:"Read what came out:" help:"Write a study's result as a page with figures."`
	Predict predictCommand        `cmd:"" group:"Read what came out:" help:"Find the cluster or class of new records of this party. Nothing leaves."`
	Query   queryCommand          `cmd:"" group:"Read what came out:" help:"Ask which records of all parties are nearest to new records. This is a release, and debited."`

	Inspect inspectCommand `cmd:"" group:"Read what left:" help:"Show what this party released in a study, and verify its hashes."`
	Budget  budgetCommands `cmd:"" group:"Read what left:" help:"Show what was spent of the privacy budgets, and set their caps."`

	console.Upkeep
}

type studyCommands struct {
	Fetch   studyFetch          `cmd:"" help:"Ask an aggregator for the studies that list this party, and keep them. Nothing is approved."`
	Add     studyAdd            `cmd:"" help:"Check a study file and keep it. Nothing leaves."`
	Explain studyExplain        `cmd:"" help:"Explain what would leave, to whom, under which guarantee."`
	Diff    console.DiffCommand `cmd:"" help:"Show what differs between two studies."`
	Sheet   studySheet          `cmd:"" help:"Write the study on one page, to read and to sign."`
	Approve studyApprove        `cmd:"" help:"Approve a study: the steward's decision."`
	Cosign  studyCosign         `cmd:"" help:"Agree to a study as a second person, with a key of your own."`
	Decline studyDecline        `cmd:"" help:"Decline a study: it will not be served."`
}

type budgetCommands struct {
	Show budgetShow `cmd:"" help:"Show every release, what each study and dataset spent, and what the caps leave."`
	Cap  budgetCap  `cmd:"" help:"Set or change a cap in the site file."`
}

type dataCommands struct {
	Show    dataShow    `cmd:"" help:"Show what data hold, column by column."`
	Add     dataAdd     `cmd:"" help:"Add data to the site file, so that studies can ask for them."`
	Change  dataChange  `cmd:"" help:"Change how a dataset is read: words, dates, decimal marks."`
	Use     dataUse     `cmd:"" help:"Choose which data answer a study."`
	Columns dataColumns `cmd:"" help:"Write the list of columns that an operator drafts a study from."`
	Mock    dataMock    `cmd:"" help:"Make up rows in the form that a study expects. No data are read."`
	Check   dataCheck   `cmd:"" help:"Read the data against a study as run does before its first message."`
}

func main() {
	c := commands{
		Study:  studyCommands{Diff: console.DiffCommand{Role: store.Party}},
		Status: console.StatusCommand{Role: store.Party},
		Report: console.ReportCommand{Role: store.Party},
		Upkeep: console.UpkeepOf(store.Party),
	}
	os.Exit(int(console.Program{
		Name:     "party",
		About:    "An organisation's node in Cosketch studies.\n\nA first study: party init, party data add NAME FILE, party study fetch ADDRESS (or party study add FILE), party study explain STUDY, party data use NAME STUDY, party data check STUDY, party study approve STUDY, party run STUDY, party result STUDY. STUDY is the beginning of the study's id.",
		Commands: &c, Globals: &c.Globals, Paths: config.DefaultPartyPaths,
	}.Main(os.Args[1:])))
}
