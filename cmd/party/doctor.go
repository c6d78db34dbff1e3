package main

import (
	"context"
	"fmt"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type doctorCommand struct {
	Study string `arg:"" optional:"" help:"The beginning of a study's id. Default: every study that has not ended."`
}

func (doctorCommand) Help() string {
	return "Checks the state directory, ledger, disk and site file. For each study it tries every address of the aggregator (name, connection, key exchange, admission, version, clock) and asks whether the study was stopped and whether this ledger is up to date. Changes nothing and reads no data.\n\nExample: party doctor 5f0c1b0e"
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
	findings := cmd.diagnose(ctx, st, g, studies)
	if err := c.PrintFindings(findings); err != nil {
		return err
	}
	if err := failing(findings); err != nil {
		return err
	}
	if c.Format == console.Text {
		cmd.next(c, st, g, studies)
	}
	return nil
}

// diagnose makes all checks.
func (doctorCommand) diagnose(ctx context.Context, st *store.Store, g *console.Globals, studies []*study.Study) []local.Finding {
	findings := local.Diagnose(ctx, local.DoctorOptions{
		Store: st, Site: siteFile(g), Now: console.Now, Version: console.Version(), Studies: studies,
	})
	return append(findings, probes(st, g)...)
}

// probes checks that serve could answer health and metrics at the site file's address, unless a
// process does already.
func probes(st *store.Store, g *console.Globals) []local.Finding {
	site, err := config.LoadParty(g.Config)
	if err != nil || site.Metrics == "" {
		return nil
	}
	f := local.Finding{Check: "metrics", Subject: site.Path, Verdict: local.Pass, Said: "serve can answer at " + site.Metrics}
	if st.Served() {
		f.Said = "a party serve works on this state directory, and answers at the address that it read when it started"
		return []local.Finding{f}
	}
	listener, err := listenProbes(site.Metrics)
	if err != nil {
		f.Verdict, f.Said, f.Fix = local.Fail, err.Error(), "stop what listens there, or name another address under metrics"
		return []local.Finding{f}
	}
	listener.Close()
	return []local.Finding{f}
}

// next says what to do next if nothing fails.
func (cmd doctorCommand) next(c *console.Console, st *store.Store, g *console.Globals, studies []*study.Study) {
	if len(studies) == 0 {
		c.Say("Next: party study fetch ADDRESS, or party study add FILE")
		return
	}
	c.Say("Next: %s", next(st, g, studies[0]))
}

// studies returns the given study, or all that have not ended.
func (cmd doctorCommand) studies(st *store.Store) ([]*study.Study, error) {
	if cmd.Study != "" {
		s, err := console.FindStudy(st, cmd.Study)
		if err != nil {
			return nil, err
		}
		return []*study.Study{s}, nil
	}
	return console.ActiveStudies(st)
}

// failing returns an error if some findings fail. Its exit code says whether a ledger was rolled
// back, a study is over, the network fails, or this machine.
func failing(findings []local.Finding) error {
	failed, network, over, back := 0, false, false, false
	for _, f := range findings {
		if f.Verdict != local.Fail {
			continue
		}
		failed++
		switch f.Check {
		case "name", "connection", "admission":
			network = true
		case "study":
			over = true
		case local.LedgerHeadCheck:
			back = true
		}
	}
	if failed == 0 {
		return nil
	}
	code := fail.Usage
	switch {
	case back: // with the exit code of run
		code = fail.Budget
	case over:
		code = fail.Failed
	case network:
		code = fail.Connection
	}
	return code.Of(fmt.Errorf("%d of %d checks fail", failed, len(findings)))
}
