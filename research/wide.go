package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/research/scale"
	"github.com/cosketch/cosketch/testnet/program"
)

type wide struct {
	Columns    int      `default:"5000" help:"Columns of each of the two parties."`
	K          int      `default:"128" help:"Rows of the sketches."`
	Records    int      `default:"2600" help:"Records, which both parties have. Without noise: more than 20 times k."`
	Mechanisms []string `default:"none,laplace" enum:"none,laplace" help:"One study for each: none, laplace."`
	Epsilon    float64  `default:"4" help:"The ε of noise."`
	Most       int64    `default:"1024" placeholder:"MiB" help:"Fail where a process takes more memory."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=3h"`
}

// Run plays studies of many columns and prints what each process took.
func (o wide) Run(ctx context.Context, s program.Streams) error {
	return program.In(ctx, "wide", s.Log, func(dir string) error {
		var played []scale.Played
		for _, mechanism := range o.Mechanisms {
			one, err := scale.PlayWide(ctx, dir, scale.Wide{Columns: o.Columns, K: o.K, Records: o.Records, Mechanism: mechanism, Epsilon: o.Epsilon}, s.Log)
			if err != nil {
				return fmt.Errorf("mechanism %s: %w", mechanism, err)
			}
			played = append(played, one)
		}
		if err := o.Print(s, played, func(w io.Writer) error { o.tell(played, w); return nil }); err != nil {
			return err
		}
		for _, p := range played {
			for _, one := range p.Processes {
				if one.Memory > o.Most<<20 {
					return fmt.Errorf("%s, %s: %d MiB, at most %d were allowed", p.Mechanism, one.Name, one.Memory>>20, o.Most)
				}
			}
		}
		return nil
	})
}

func (o wide) tell(played []scale.Played, w io.Writer) {
	for _, p := range played {
		fmt.Fprintf(w, "\n2 x %d columns, mechanism %s: both parties have a result of %.2f GB after %.0f s\n", o.Columns, p.Mechanism, float64(p.Result)/1e9, p.Seconds)
		t := present.NewTable("process", ">most memory, MiB")
		for _, one := range p.Processes {
			t.Add(one.Name, fmt.Sprintf("%.0f", float64(one.Memory)/(1<<20)))
		}
		t.Write(w)
		present.Paragraph(w, "", "study create: "+p.Refused)
	}
}
