package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
)

type options struct {
	Seed    uint64        `default:"1" help:"Seed of the split. The projections' seed is agreed anew in every run."`
	Study   []string      `placeholder:"NAME" help:"Run only these studies (repeatable): ${studies}."`
	Report  string        `default:"report.html" placeholder:"FILE" help:"Where to write the report."`
	Format  string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout time.Duration `default:"10m" help:"Give up after this time."`
	Keep    bool          `help:"Keep the temporary directory with all nodes' state, and say where it is."`
}

// errUsage marks what the caller can mend by other arguments.
var errUsage = errors.New("wrong arguments")

// runStudies runs the demonstration, tells the results and returns the exit code.
func runStudies(ctx context.Context, opts options, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	fail := func(err error) int {
		fmt.Fprintln(stderr, "testnet:", err)
		if errors.Is(err, errUsage) {
			return program.Usage
		}
		return program.Failed
	}
	chosen, err := choose(opts)
	if err != nil {
		return fail(err)
	}
	if _, err := os.Stat(filepath.Dir(opts.Report)); err != nil {
		return fail(fmt.Errorf("%w: there is no directory for the report: %w", errUsage, err))
	}
	tables, err := pooledData("", chosen)
	if err != nil {
		return fail(err)
	}
	all, err := player{seed: opts.Seed, keep: opts.Keep, text: opts.Format == "text"}.play(ctx, chosen, tables, stdout, stderr)
	if err != nil {
		return fail(err)
	}
	if err := tellStudies(opts, all, stdout, stderr); err != nil {
		fmt.Fprintln(stderr, "testnet:", err)
		return program.Internal
	}
	for _, one := range all {
		if slices.ContainsFunc(one.Checks, func(c errortable.Check) bool { return !c.OK() }) {
			fmt.Fprintln(stderr, "testnet: the estimates are further from the truth than their intervals allow")
			return program.Failed
		}
	}
	return program.OK
}

// choose returns the studies that were asked for, in their own order.
func choose(opts options) ([]networks.Template, error) {
	all, err := networks.Demo()
	if err != nil || len(opts.Study) == 0 {
		return all, err
	}
	for _, name := range opts.Study {
		if !slices.Contains(networks.DemoNames(), name) {
			return nil, fmt.Errorf("%w: no study %q; there are %s", errUsage, name, strings.Join(networks.DemoNames(), ", "))
		}
	}
	return slices.DeleteFunc(all, func(t networks.Template) bool { return !slices.Contains(opts.Study, t.Name) }), nil
}

// tellStudies writes the report, and says on stdout what holds of all studies together.
func tellStudies(opts options, all []errortable.Study, stdout, stderr io.Writer) error {
	path, err := filepath.Abs(opts.Report)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	var page bytes.Buffer
	if err := errortable.Page(&page, all); err != nil {
		return err
	}
	if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if opts.Format == "json" {
		if err := program.PrintJSON(stdout, map[string]any{"seed": opts.Seed, "networks": all}); err != nil {
			return err
		}
	} else {
		tellChecks(stdout, all)
	}
	fmt.Fprintf(stderr, "the report with all figures: %s\n", path)
	return nil
}

// tellChecks says how near to the truth the estimates are that are judged, if there are any.
func tellChecks(w io.Writer, all []errortable.Study) {
	var checks []errortable.Check
	for _, one := range all {
		checks = append(checks, one.Checks...)
	}
	if len(checks) == 0 {
		return
	}
	fmt.Fprintln(w)
	present.Paragraph(w, "", errortable.Rule)
	for _, c := range checks {
		present.Paragraph(w, "  ", c.String())
	}
}
