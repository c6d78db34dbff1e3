package main

import (
	"io"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

type studyPlan struct {
	Study string `arg:"" help:"The beginning of a study's id, or a study file."`
	console.PlanFlags
}

func (studyPlan) Help() string {
	return "Example: aggregator study plan study.yaml --records north=20000,south=8000"
}

// Run forecasts a study for all of its parties.
func (cmd studyPlan) Run(c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Aggregator, cmd.Study)
	if err != nil {
		return err
	}
	p, err := cmd.Make(s, study.Everyone)
	if err != nil {
		return err
	}
	err = c.Print(p, func(w io.Writer) {
		present.Text(w, p.Blocks())
		c.Say("Next: change the study file, or aggregator study host it.")
	})
	if err != nil {
		return err
	}
	return console.NewVerdict(p).Err(s)
}
