package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/research/scale"
	"github.com/cosketch/cosketch/testnet/program"
)

type wideOptions struct {
	Columns    int           `default:"5000" help:"Columns of each of the two parties."`
	K          int           `default:"128" help:"Rows of the sketches."`
	Records    int           `default:"2600" help:"Records, which both parties have. Without noise: more than 20 times k."`
	Mechanisms []string      `default:"none,laplace" enum:"none,laplace" help:"One study for each: none, laplace."`
	Epsilon    float64       `default:"4" help:"The ε of noise."`
	Most       int64         `default:"1024" placeholder:"MiB" help:"Fail where a process takes more memory."`
	Format     string        `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
	Timeout    time.Duration `default:"3h" help:"Give up after this time."`
}

// runWide plays studies of many columns, tells what each process took and returns the exit
// code.
func runWide(ctx context.Context, opts wideOptions, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	played, err := playWide(ctx, opts, stderr)
	if code := program.Told(ctx, name, err, func() error { return tellWide(opts, played, stdout) }, stderr); code != program.OK {
		return code
	}
	for _, p := range played {
		for _, one := range p.Processes {
			if one.Memory > opts.Most<<20 {
				fmt.Fprintf(stderr, "research: %s, %s: %d MiB, at most %d were allowed\n", p.Mechanism, one.Name, one.Memory>>20, opts.Most)
				return program.Failed
			}
		}
	}
	return program.OK
}

// playWide plays in a temporary directory and removes it.
func playWide(ctx context.Context, opts wideOptions, log io.Writer) (out []scale.Played, err error) {
	dir, remove, err := program.Built(ctx, "wide", log)
	if err != nil {
		return nil, err
	}
	defer remove()
	for _, mechanism := range opts.Mechanisms {
		one, err := scale.PlayWide(ctx, dir, scale.Wide{Columns: opts.Columns, K: opts.K, Records: opts.Records, Mechanism: mechanism, Epsilon: opts.Epsilon}, log)
		if err != nil {
			return out, fmt.Errorf("mechanism %s: %w", mechanism, err)
		}
		out = append(out, one)
	}
	return out, nil
}

func tellWide(opts wideOptions, played []scale.Played, w io.Writer) error {
	if opts.Format == "json" {
		return program.PrintJSON(w, played)
	}
	for _, p := range played {
		fmt.Fprintf(w, "\n2 x %d columns, mechanism %s: both parties have a result of %.2f GB after %.0f s\n", opts.Columns, p.Mechanism, float64(p.Result)/1e9, p.Seconds)
		t := present.NewTable("process", ">most memory, MiB")
		for _, one := range p.Processes {
			t.Add(one.Name, fmt.Sprintf("%.0f", float64(one.Memory)/(1<<20)))
		}
		t.Write(w)
		present.Paragraph(w, "", "study create: "+p.Refused)
	}
	return nil
}
