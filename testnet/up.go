package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
	"github.com/cosketch/cosketch/testnet/standing"
)

// where is the directory of a standing network.
type where struct {
	Dir string `placeholder:"DIR" help:"Directory of the network. Default: cosketch/testnet in the XDG state directory."`
}

func (w where) dir() (standing.Dir, error) {
	if w.Dir == "" {
		return standing.DefaultDir()
	}
	path, err := filepath.Abs(w.Dir)
	return standing.Dir(path), err
}

type up struct {
	Name string `arg:"" optional:"" default:"cancer-vertical-value" help:"A network, as testnet network lists them. Default: ${default}."`
	where
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, if the network needs one. Default: ${data}."`
	Seed    uint64        `default:"1" help:"Seed of the split."`
	Pace    time.Duration `default:"4s" help:"Time between two steps of the stewards, so that a person can watch and kill."`
	Restart bool          `default:"true" negatable:"" help:"Restart nodes that end (the default), or leave them stopped."`
	Study   bool          `default:"true" negatable:"" help:"Propose a study at once (the default), or wait for testnet study."`
}

type oneMore struct {
	where
	Pace time.Duration `default:"4s" help:"Time between two steps of the stewards."`
}

type kill struct {
	Node string `arg:"" help:"aggregator, or a party's name."`
	where
}

type ask struct {
	Node string `arg:"" help:"aggregator, or a party's name."`
	where
	Words []string `arg:"" passthrough:"" help:"What the node's steward or operator types behind party or aggregator, such as budget."`
}

type status struct {
	where
	program.Formatted
}

type down struct {
	where
	Remove bool `help:"Remove the directory as well, with all that the nodes hold."`
}

// told marks errors of a standing network that other arguments can fix.
func told(err error) error {
	for _, mended := range []error{standing.ErrBusy, standing.ErrName, standing.ErrNone, standing.ErrOther} {
		if errors.Is(err, mended) {
			return program.UsageError(err)
		}
	}
	return err
}

// dealer loads a network's data now and returns a Dealer for any study.
func dealer(t networks.Template, folder string, seed uint64) (standing.Dealer, error) {
	tables, err := pooledData(folder, []networks.Template{t})
	if err != nil {
		return nil, program.UsageError(err)
	}
	return func(s *study.Study) (networks.Dealt, error) { return t.Deal(s, tables[t.Data], seed) }, nil
}

// Run keeps a network up until it is interrupted.
func (o up) Run(ctx context.Context, s program.Streams) error {
	dir, err := o.dir()
	if err != nil {
		return program.UsageError(err)
	}
	if o.Pace < 0 || o.Pace > 10*time.Minute {
		return program.UsageErrorf("--pace %v: must be from 0 to 10 minutes", o.Pace)
	}
	found, err := networks.Find(o.Name)
	if err == nil && found[0].Name != o.Name {
		err = fmt.Errorf("%s are several networks: name one, such as %s", o.Name, found[0].Name)
	}
	if err != nil {
		return program.UsageError(err)
	}
	folder := cmp.Or(o.Data, os.Getenv(corpus.Variable))
	if folder != "" { // later commands may run in another working directory
		if folder, err = filepath.Abs(folder); err != nil {
			return err
		}
	}
	deal, err := dealer(found[0], folder, o.Seed)
	if err != nil {
		return err
	}
	return told(standing.Up(ctx, standing.Options{
		Dir: dir, Template: found[0], Data: folder, Dealt: deal, Seed: o.Seed,
		Restart: o.Restart, Pace: o.Pace, Study: o.Study, Talk: s.Log,
	}))
}

// Run runs one more study on a network that is up.
func (o oneMore) Run(ctx context.Context, s program.Streams) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	deal := func(a standing.About) (standing.Dealer, error) {
		found, err := networks.Find(a.Network)
		if err != nil {
			return nil, err
		}
		return dealer(found[0], a.Data, a.Seed)
	}
	return told(standing.Propose(ctx, dir, deal, o.Pace, s.Out))
}

// Run ends a node of a network that is up.
func (o kill) Run(ctx context.Context, s program.Streams) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	return told(standing.Kill(ctx, dir, o.Node, s.Out))
}

// Run runs a node's own program, and exits with its exit code.
func (o ask) Run(ctx context.Context, s program.Streams) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	code, err := standing.Ask(ctx, dir, o.Node, o.Words, os.Stdin, s.Out, s.Log)
	if err != nil {
		return told(err)
	}
	return program.Exit(code)
}

// Run prints the status of a network.
func (o status) Run(ctx context.Context, s program.Streams) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	stands, err := standing.Status(ctx, dir)
	if err != nil {
		return told(err)
	}
	return o.Print(s, stands, func(w io.Writer) error { stands.Write(w); return nil })
}

// Run ends a network.
func (o down) Run(_ context.Context, s program.Streams) error {
	dir, err := o.dir()
	if err != nil {
		return err
	}
	return told(standing.Down(dir, o.Remove, s.Out))
}
