// Command party is an organisation's node: it keeps the organisation's data at home, agrees with
// the other parties of a study on a secret seed, and sends one noised sketch.
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

	Init     initCommand     `cmd:"" group:"Make a node:" help:"Make this node's identity, ledger and site file."`
	Identity identityCommand `cmd:"" group:"Make a node:" help:"Print this node's peer id, for study files."`
	Doctor   doctorCommand   `cmd:"" group:"Make a node:" help:"Check state, site file and the way to the aggregators, and say what to do."`

	Join joinCommand `cmd:"" group:"Take part, step by step:" help:"Take part in a study at an aggregator, from a new node to the result, asking for each decision."`

	Data dataCommands `cmd:"" group:"Name data:" help:"Name data, look at them, check them against a study. Nothing leaves."`

	Study studyCommands `cmd:"" group:"Decide on a study:" help:"Add, explain, plan, approve or decline a study."`

	Run    runCommand            `cmd:"" group:"Take part:" help:"Serve one approved study to its result, then exit."`
	Serve  serveCommand          `cmd:"" group:"Take part:" help:"Serve all approved studies until stopped."`
	Status console.StatusCommand `cmd:"" group:"Take part:" help:"Show where studies stand and what they wait for."`

	Result resultCommand         `cmd:"" group:"Read what came out, and what left:" help:"Print a study's result, or write it with this party's labels to files."`
	Report console.ReportCommand `cmd:"" group:"Read what came out, and what left:" help:"Write a study's result as a page with figures."`
	Budget budgetCommand         `cmd:"" group:"Read what came out, and what left:" help:"Show every release, what each study and dataset spent, and what the caps leave."`

	Backup   console.BackupCommand `cmd:"" group:"Keep the node:" help:"Write the state to a file, also beside a running node."`
	Advanced advancedCommands      `cmd:"" group:"Keep the node:" help:"Do what is needed seldom; ${name} advanced --help lists it."`
}

type dataCommands struct {
	List    dataList    `cmd:"" help:"List the datasets of the site file: where they are, which studies they answer."`
	Show    dataShow    `cmd:"" help:"Show what data hold, column by column."`
	Add     dataAdd     `cmd:"" help:"Add data to the site file, so that studies can ask for them."`
	Change  dataChange  `cmd:"" help:"Change how a dataset is read: words, dates, decimal marks."`
	Use     dataUse     `cmd:"" help:"Choose which data answer a study."`
	Columns dataColumns `cmd:"" help:"Write the list of columns that an operator drafts a study from."`
	Check   dataCheck   `cmd:"" help:"Check the data against a study as run does before its first message."`
	Remove  dataRemove  `cmd:"" help:"Remove a dataset of which nothing was released from the site file."`
}

type studyCommands struct {
	Fetch    studyFetch    `cmd:"" help:"Ask an aggregator for the studies that list this party, and keep them. Nothing is approved."`
	Add      studyAdd      `cmd:"" help:"Add a study file to this node, if it is sound. Nothing leaves."`
	Explain  studyExplain  `cmd:"" help:"Explain what would leave, to whom, under which guarantee."`
	Sheet    studySheet    `cmd:"" help:"Write the study on one page, to read and to sign."`
	Plan     studyPlan     `cmd:"" help:"Forecast the errors of a study's answers and what it would cost. Nothing leaves."`
	Approve  studyApprove  `cmd:"" help:"Approve a study: the steward's decision."`
	Decline  studyDecline  `cmd:"" help:"Decline a study: it will not be served."`
	Withdraw studyWithdraw `cmd:"" help:"Take back the approval of a study, before this party has committed."`
}

// advancedCommands are those that stewards and scripts rarely need, in the same groups as commands.
type advancedCommands struct {
	Identity struct {
		Rotate identityRotate `cmd:"" help:"Make a new identity that goes on with this one's privacy ledger."`
	} `cmd:"" group:"Make a node:" help:"Make a new identity."`
	Steward struct {
		Init stewardInit `cmd:"" help:"Make the key of a second person, for four eyes."`
	} `cmd:"" group:"Make a node:" help:"Make the key of a second person, for four eyes."`

	Data struct {
		Mock dataMock `cmd:"" help:"Make up rows in the form that a study expects. No data are read."`
	} `cmd:"" group:"Name data:" help:"Make up data."`

	Study struct {
		Diff   console.DiffCommand `cmd:"" help:"Show what differs between two studies."`
		Cosign studyCosign         `cmd:"" help:"Agree to a study as a second person, with a key of your own."`
	} `cmd:"" group:"Decide on a study:" help:"Compare studies, or agree to one as a second person."`
	Audit auditCommand `cmd:"" group:"Decide on a study:" help:"Test on made-up data whether a study's mechanism keeps its promise. Nothing leaves."`

	Sketch  sketchCommand  `cmd:"" group:"Take part:" help:"Bring a held sketch up to date: add files, withdraw records; or rehearse a release. Nothing leaves."`
	Part    partCommand    `cmd:"" group:"Take part:" help:"Make a part of a sketch where the data are, by a job of the node. Needs no state."`
	Release releaseCommand `cmd:"" group:"Take part:" help:"Release a held sketch: the steward's decision."`
	Export  exportCommand  `cmd:"" group:"Take part:" help:"Carry a study by hand: write this party's messages to a file."`
	Import  importCommand  `cmd:"" group:"Take part:" help:"Carry a study by hand: read the aggregator's answer from a file."`

	Predict predictCommand `cmd:"" group:"Read what came out, and what left:" help:"Find the cluster or class of new records of this party. Nothing leaves."`
	Query   queryCommand   `cmd:"" group:"Read what came out, and what left:" help:"Find the records of all parties that are nearest to new records. This is a release, and debited."`
	Inspect inspectCommand `cmd:"" group:"Read what came out, and what left:" help:"Show what this party released in a study, and verify its hashes."`
	Budget  struct {
		Cap budgetCap `cmd:"" help:"Set or change a cap in the site file."`
	} `cmd:"" group:"Read what came out, and what left:" help:"Set or change caps."`

	console.Upkeep
}

// renamed maps the former or likely names of commands to their names. Commands that moved under
// advanced keep their names and need no entry.
func renamed() map[string]string {
	return map[string]string{
		"identity show": "identity",
		"plan":          "study plan",
		"withdraw":      "study withdraw",
		"budget show":   "budget",
		"study list":    "status",
		"study show":    "study explain",
	}
}

func main() {
	c := commands{
		Status:   console.StatusCommand{Role: store.Party},
		Report:   console.ReportCommand{Role: store.Party},
		Backup:   console.BackupCommand{Role: store.Party},
		Advanced: advancedCommands{Upkeep: console.UpkeepOf(store.Party)},
	}
	c.Advanced.Study.Diff.Role = store.Party
	os.Exit(int(console.Program{
		Name:     "party",
		About:    "An organisation's node in Cosketch studies.\n\nA first study: party init, party data add NAME FILE, party study fetch ADDRESS (or party study add FILE), party study explain STUDY, party data use NAME STUDY, party data check STUDY, party study approve STUDY, party run STUDY, party result STUDY. STUDY is the beginning of the study's id.",
		Commands: &c, Globals: &c.Globals, Paths: config.DefaultPartyPaths, Renamed: renamed(),
		Other: "aggregator", Elsewhere: []string{"analyze", "invite", "purge", "token"},
	}.Main(os.Args[1:])))
}
