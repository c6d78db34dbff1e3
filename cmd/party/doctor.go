package main

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/study"
)

type doctorCommand struct {
	Study string `arg:"" optional:"" help:"The beginning of a study's id. Default: every study that has not ended."`
}

func (doctorCommand) Help() string {
	return "Looks at the state directory, ledger, disk and site file, and for each study at every address of its aggregator: name, connection, key exchange, admission, version and clock. Nothing is changed and no data are read.\n\nExample: party doctor 5f0c1b0e"
}

// Run prints PASS, WARN or FAIL for each check, with what to do.
func (cmd doctorCommand) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	studies, err := cmd.studies(st)
	if err != nil {
		return err
	}
	findings := node.Diagnose(ctx, node.DoctorOptions{
		Store: st, Site: func() (config.Party, error) { return config.LoadParty(g.Config) },
		Now: console.Now, Version: console.Version(), Studies: studies,
	})
	if err := c.PrintFindings(findings); err != nil {
		return err
	}
	return failing(findings)
}

// studies returns the one that was asked for, or all that have not ended.
func (cmd doctorCommand) studies(st *store.Store) ([]*study.Study, error) {
	if cmd.Study != "" {
		s, err := console.FindStudy(st, cmd.Study)
		if err != nil {
			return nil, err
		}
		_, err = self(st, s)
		return []*study.Study{s}, err
	}
	return console.ActiveStudies(st)
}

// failing is the error of findings of which some fail: about the network, or about
// this machine.
func failing(findings []node.Finding) error {
	failed, network := 0, false
	for _, f := range findings {
		if f.Verdict != node.Fail {
			continue
		}
		failed++
		switch f.Check {
		case "name", "connection", "admission":
			network = true
		}
	}
	if failed == 0 {
		return nil
	}
	code := console.Usage
	if network {
		code = console.Connection
	}
	return console.WithCode(code, fmt.Errorf("%d of %d checks fail", failed, len(findings)))
}
