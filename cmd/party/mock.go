package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type dataMock struct {
	Study   string `arg:"" help:"The beginning of a study's id, or a study file."`
	Party   string `env:"-" placeholder:"NAME" help:"Whose columns the rows have, by its name in the study. Default: this party; of a study whose parties have the same columns, nobody's."`
	Records int    `env:"-" default:"1000" help:"How many rows."`
	Seed    uint64 `env:"-" default:"1" help:"The same seed gives the same rows."`
	Output  string `short:"o" required:"" env:"-" placeholder:"FILE" help:"The CSV file to write, like mock.csv."`
}

// Help explains the rows.
func (dataMock) Help() string {
	return "Writes made-up rows in the form that the study expects of a party, from the study file alone. Use them to try a study and write a notebook before anybody approves. Columns are independent, so answers about them mean nothing.\n\nExample: party advanced data mock study.yaml --party north -o north-mock.csv"
}

// Run writes them.
func (cmd dataMock) Run(c *console.Console, g *console.Globals) error {
	s, err := console.StudyOrFile(g, store.Party, cmd.Study)
	if err != nil {
		return err
	}
	if cmd.Records < 1 {
		return fail.Usage.Of(fmt.Errorf("%d mock records: want at least 1", cmd.Records))
	}
	party, err := cmd.party(c, g, s)
	if err != nil {
		return err
	}
	name := fnv.New64a()
	if party != study.Everyone {
		io.WriteString(name, s.Parties[party].Name)
	}
	o := local.MockOptions{Study: s, Party: party, Records: cmd.Records, Rand: rand.New(rand.NewPCG(cmd.Seed, name.Sum64()))}
	if err := console.WriteFileAtomic(cmd.Output, func(w io.Writer) error { return local.Mock(w, o) }); err != nil {
		return err
	}
	return c.Print(struct {
		Study   string `json:"study"`
		File    string `json:"file"`
		Records int    `json:"records"`
	}{s.ID.String(), cmd.Output, cmd.Records}, func(w io.Writer) {
		fmt.Fprintln(w, cmd.Output)
		c.Say("%s, made up from the study's columns: nobody is in them.", block.Counted(int64(cmd.Records), "record", "records"))
	})
}

// party is the party whose columns the rows have.
func (cmd dataMock) party(c *console.Console, g *console.Globals, s *study.Study) (int, error) {
	if cmd.Party == "" {
		party := viewer(c, g, s, "Made up")
		if party == study.Everyone && s.Partition == study.Vertical {
			return 0, fail.Usage.Of(fmt.Errorf("study %s: its parties have different columns, so say whose the rows are to have (--party NAME)", s.Name))
		}
		return party, nil
	}
	for i, p := range s.Parties {
		if p.Name == cmd.Party {
			return i, nil
		}
	}
	return 0, fail.Usage.Of(fmt.Errorf("study %s has no party %q (party study explain %s lists them)", s.Name, cmd.Party, cmd.Study))
}
