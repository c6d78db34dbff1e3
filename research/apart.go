package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/research/scale"
	"github.com/cosketch/cosketch/testnet/program"
)

type apart struct {
	Records int    `default:"10000000" help:"Records of the three parties together."`
	K       int    `default:"64" help:"Coordinates of a sketched record."`
	Memory  int    `default:"512" placeholder:"MiB" help:"Memory limit of the aggregator's analyses. The command fails if a process uses 128 MiB more than this."`
	Party   int    `default:"4096" placeholder:"MiB" help:"Target for the memory of each party, which holds all of its records."`
	Join    bool   `help:"Use two parties, each with all --records, which are joined, instead of three."`
	Python  string `placeholder:"PATH" help:"A Python with scikit-learn and faiss, to print their times beside ours."`
	Killed  bool   `help:"Kill the aggregator while it computes, and restart it."`
	Held    bool   `help:"Compute again with all records in memory, and fail if the answers differ."`
	Within  int    `placeholder:"MiB" help:"Limit the memory of the aggregator's processes, including the page cache, with a control group. Needs Linux and root; fails if the system kills a process."`
	program.Formatted
	program.Timed `embed:"" set:"timeout=3h"`
}

// Run plays studies of more records than fit in memory and prints what each step took.
func (o apart) Run(ctx context.Context, s program.Streams) error {
	return program.In(ctx, "apart", s.Log, func(dir string) error {
		steps, err := scale.Apart{Records: o.Records, K: o.K, Memory: o.Memory, Party: o.Party, Join: o.Join, Python: o.Python, Killed: o.Killed, Held: o.Held, Within: o.Within}.Play(ctx, dir, s.Log)
		if shown := o.Print(s, steps, func(w io.Writer) error { o.tell(steps, w); return nil }); err == nil {
			err = shown
		}
		for _, one := range steps {
			if err == nil && one.What != "k-means in memory" && one.Own > int64(o.Memory+128)<<20 {
				err = fmt.Errorf("%s: %d MiB, at most %d are allowed", one.What, one.Own>>20, o.Memory+128)
			}
		}
		return err
	})
}

func (o apart) tell(steps []scale.Step, w io.Writer) {
	t := present.NewTable("step", ">seconds", ">own memory, MiB", ">resident, MiB")
	for _, one := range steps {
		t.Add(one.What, fmt.Sprintf("%.0f", one.Seconds), fmt.Sprintf("%.0f", float64(one.Own)/(1<<20)), fmt.Sprintf("%.0f", float64(one.Peak)/(1<<20)))
	}
	t.Write(w)
}
