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

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
)

type demo struct {
	Seed   uint64   `default:"1" help:"Seed of the split. The projections' seed is agreed anew in every run."`
	Study  []string `placeholder:"NAME" help:"Run only these studies (repeatable): ${studies}."`
	Report string   `default:"report.html" placeholder:"FILE" help:"Where to write the report."`
	Keep   bool     `help:"Keep the temporary directory with all nodes' state, and say where it is."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=10m"`
}

// Run runs the demonstration and reports the results and findings.
func (o demo) Run(ctx context.Context, s program.Streams) error {
	chosen, err := o.choose()
	if err != nil {
		return program.UsageError(err)
	}
	path, err := filepath.Abs(o.Report)
	if err == nil {
		_, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return program.UsageErrorf("there is no directory for the report: %w", err)
	}
	tables, err := pooledData("", chosen)
	if err != nil {
		return err
	}
	all, err := player{seed: o.Seed, keep: o.Keep, text: o.Text()}.play(ctx, chosen, tables, s)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := errortable.Page(&page, all); err != nil {
		return err
	}
	if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if err := o.Print(s, map[string]any{"seed": o.Seed, "networks": all}, func(w io.Writer) error { tell(w, all); return nil }); err != nil {
		return err
	}
	fmt.Fprintf(s.Log, "the report with all figures: %s\n", path)
	if slices.ContainsFunc(errortable.Checks(all), func(c errortable.Check) bool { return !c.OK() }) {
		return errors.New("the estimates are further from the truth than their intervals allow")
	}
	return nil
}

// choose returns the selected studies, in the order of the demonstration.
func (o demo) choose() ([]networks.Template, error) {
	all, err := networks.Demo()
	if err != nil || len(o.Study) == 0 {
		return all, err
	}
	for _, name := range o.Study {
		if !slices.Contains(networks.DemoNames(), name) {
			return nil, fmt.Errorf("no study %q; there are %s", name, strings.Join(networks.DemoNames(), ", "))
		}
	}
	return slices.DeleteFunc(all, func(t networks.Template) bool { return !slices.Contains(o.Study, t.Name) }), nil
}

// tell prints how close the judged estimates are to the truth, if there are any, and the findings.
func tell(w io.Writer, all []errortable.Study) {
	fmt.Fprintln(w)
	if checks := errortable.Checks(all); len(checks) > 0 {
		present.Paragraph(w, "", errortable.Rule)
		for _, c := range checks {
			present.Paragraph(w, "  ", c.String())
		}
		fmt.Fprintln(w)
	}
	for _, sentence := range errortable.Seen(all) {
		present.Paragraph(w, "", sentence)
	}
}
