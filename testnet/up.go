package main

import (
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

// where is the directory of a network that stands.
type where struct {
	Dir string `placeholder:"DIR" help:"Where the network stands. Default: cosketch/testnet in the XDG state directory."`
}

func (w where) dir() (standing.Dir, error) {
	if w.Dir == "" {
		return standing.DefaultDir()
	}
	path, err := filepath.Abs(w.Dir)
	return standing.Dir(path), err
}

type upOptions struct {
	Name string `arg:"" optional:"" default:"cancer-vertical-value" help:"A network, as testnet network lists them. Default: ${default}."`
	where
	Data    string        `placeholder:"DIR" help:"Folder of public data sets, where the network wants one. Default: ${data}."`
	Seed    uint64        `default:"1" help:"Seed of the split."`
	Pace    time.Duration `default:"4s" help:"Time between two steps of the stewards, so that a person can watch and kill."`
	Restart bool          `default:"true" negatable:"" help:"Start a node again that ended (the default), or leave it away."`
	Study   bool          `default:"true" negatable:"" help:"Propose a study at once (the default), or wait for testnet study."`
}

type studyOptions struct {
	where
	Pace time.Duration `default:"4s" help:"Time between two steps of the stewards."`
}

type killOptions struct {
	Node string `arg:"" help:"aggregator, or a party's name."`
	where
}

type askOptions struct {
	Node string `arg:"" help:"aggregator, or a party's name."`
	where
	Words []string `arg:"" passthrough:"" help:"What the node's steward or operator types behind party or aggregator, such as budget show."`
}

type statusOptions struct {
	where
	Format string `default:"text" enum:"text,json" help:"What to print on stdout: text or json."`
}

type downOptions struct {
	where
	Remove bool `help:"Remove the directory as well, with all that the nodes hold."`
}

// outcomeOf says what went wrong and returns the exit code.
func outcomeOf(err error, stderr io.Writer) int {
	switch {
	case err == nil:
		return program.OK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "testnet: interrupted")
		return program.Failed
	}
	fmt.Fprintln(stderr, "testnet:", err)
	for _, mended := range []error{standing.ErrBusy, standing.ErrName, standing.ErrNone, standing.ErrOther, errUsage} {
		if errors.Is(err, mended) {
			return program.Usage
		}
	}
	return program.Failed
}

// dealer loads a network's data now, and deals them out for any study.
func dealer(t networks.Template, folder string, seed uint64) (standing.Dealer, error) {
	tables, err := pooledData(folder, []networks.Template{t})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return func(s *study.Study) (networks.Dealt, error) { return t.Deal(s, tables[t.Data], seed) }, nil
}

// runUp keeps a network up until it is interrupted, and returns the exit code.
func runUp(ctx context.Context, opts upOptions, stderr io.Writer) int {
	dir, err := opts.dir()
	if err != nil {
		return outcomeOf(fmt.Errorf("%w: %w", errUsage, err), stderr)
	}
	if opts.Pace < 0 || opts.Pace > 10*time.Minute {
		return outcomeOf(fmt.Errorf("%w: --pace %v: must be from 0 to 10 minutes", errUsage, opts.Pace), stderr)
	}
	found, err := networks.Find(opts.Name)
	if err == nil && found[0].Name != opts.Name {
		err = fmt.Errorf("%s are several networks: name one, such as %s", opts.Name, found[0].Name)
	}
	if err != nil {
		return outcomeOf(fmt.Errorf("%w: %w", errUsage, err), stderr)
	}
	folder := opts.Data
	if folder == "" {
		folder = os.Getenv(corpus.Variable)
	}
	if folder != "" { // later commands may be given elsewhere
		if folder, err = filepath.Abs(folder); err != nil {
			return outcomeOf(err, stderr)
		}
	}
	deal, err := dealer(found[0], folder, opts.Seed)
	if err != nil {
		return outcomeOf(err, stderr)
	}
	return outcomeOf(standing.Up(ctx, standing.Options{
		Dir: dir, Template: found[0], Data: folder, Dealt: deal, Seed: opts.Seed,
		Restart: opts.Restart, Pace: opts.Pace, Study: opts.Study, Talk: stderr,
	}), stderr)
}

// runStudy plays one more study on a network that is up.
func runStudy(ctx context.Context, opts studyOptions, stdout, stderr io.Writer) int {
	dir, err := opts.dir()
	if err != nil {
		return outcomeOf(err, stderr)
	}
	deal := func(a standing.About) (standing.Dealer, error) {
		found, err := networks.Find(a.Network)
		if err != nil {
			return nil, err
		}
		return dealer(found[0], a.Data, a.Seed)
	}
	return outcomeOf(standing.Propose(ctx, dir, deal, opts.Pace, stdout), stderr)
}

// runKill ends a node of a network that is up.
func runKill(ctx context.Context, opts killOptions, stdout, stderr io.Writer) int {
	dir, err := opts.dir()
	if err != nil {
		return outcomeOf(err, stderr)
	}
	return outcomeOf(standing.Kill(ctx, dir, opts.Node, stdout), stderr)
}

// runAsk runs a node's own program, and returns its exit code.
func runAsk(ctx context.Context, opts askOptions, stdout, stderr io.Writer) int {
	dir, err := opts.dir()
	if err != nil {
		return outcomeOf(err, stderr)
	}
	code, err := standing.Ask(ctx, dir, opts.Node, opts.Words, os.Stdin, stdout, stderr)
	if err != nil {
		return outcomeOf(err, stderr)
	}
	return code
}

// runStatus says how a network stands.
func runStatus(ctx context.Context, opts statusOptions, stdout, stderr io.Writer) int {
	dir, err := opts.dir()
	if err != nil {
		return outcomeOf(err, stderr)
	}
	s, err := standing.Status(ctx, dir)
	if err != nil {
		return outcomeOf(err, stderr)
	}
	if opts.Format == "json" {
		return outcomeOf(program.PrintJSON(stdout, s), stderr)
	}
	s.Write(stdout)
	return program.OK
}

// runDown ends a network.
func runDown(opts downOptions, stdout, stderr io.Writer) int {
	dir, err := opts.dir()
	if err != nil {
		return outcomeOf(err, stderr)
	}
	return outcomeOf(standing.Down(dir, opts.Remove, stdout), stderr)
}
