package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/webhook"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
)

type webhookCommands struct {
	Secret webhookSecret `cmd:"" help:"Write a new secret for a webhook into a file."`
	Test   webhookTest   `cmd:"" help:"Send each webhook of the configuration file a test, once."`
}

type webhookSecret struct {
	File string `arg:"" help:"The file to write. It must not exist."`
}

func (webhookSecret) Help() string {
	return "The receiver needs the same secret to verify signatures.\n\nExample: aggregator advanced webhook secret /etc/cosketch/portal.secret"
}

// Run writes a file that only its owner can read.
func (cmd webhookSecret) Run(c *console.Console) error {
	err := durable.Create(cmd.File, func(f *os.File) error {
		_, err := fmt.Fprintln(f, webhook.NewSecret())
		return err
	})
	if err != nil {
		return fail.Usage.Of(fmt.Errorf("writing a secret: %w", err))
	}
	return c.Print(map[string]string{"secret": cmd.File}, func(w io.Writer) {
		fmt.Fprintln(w, cmd.File)
		c.Say("Name it as secret of a webhook in the configuration file, and hand a copy to the receiver.")
	})
}

type webhookTest struct {
	Name string `arg:"" optional:"" help:"One of webhooks in the configuration file. Default: all."`
}

func (webhookTest) Help() string { return "Example: aggregator advanced webhook test portal" }

// tested is the outcome of a test.
type tested struct {
	Webhook string `json:"webhook"`
	URL     string `json:"url"`
	Works   bool   `json:"works"`
	Error   string `json:"error,omitempty"`
}

// Run calls each hook, and fails if one does not accept the test.
func (cmd webhookTest) Run(ctx context.Context, c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Aggregator)
	if err != nil {
		return err
	}
	defer st.Close()
	id, err := st.ID()
	if err != nil {
		return err
	}
	conf, err := config.LoadAggregator(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	hooks := conf.Webhooks
	if cmd.Name != "" {
		hooks = slices.DeleteFunc(hooks, func(h webhook.Hook) bool { return h.Name != cmd.Name })
	}
	if len(hooks) == 0 {
		return fail.Usage.Of(fmt.Errorf("testing webhooks: %s has none%s (config show names those that there are)", conf.Path, ofName(cmd.Name)))
	}
	out, failed := []tested{}, error(nil)
	for _, h := range hooks {
		one := tested{Webhook: h.Name, URL: h.URL, Works: true}
		if err := webhook.Try(ctx, h, id, console.Version(), console.Now()); err != nil {
			one.Works, one.Error = false, err.Error()
			failed = errors.Join(failed, fail.WebhookRefuses.Of(err, h.Name))
		}
		out = append(out, one)
	}
	return errors.Join(c.Print(out, func(w io.Writer) {
		list := block.Table{Columns: block.Headed("webhook", "url", "test"), AllRows: true}
		for _, one := range out {
			says := "arrived"
			if !one.Works {
				says = "failed"
			}
			list.Rows = append(list.Rows, block.Cells(one.Webhook, one.URL, says))
		}
		present.Text(w, []block.Block{list})
	}), failed)
}

func ofName(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" of the name %q", name)
}

// hooks are the webhooks of a serving node.
type hooks struct{ *webhook.Sender }

// newHooks opens the stored state of webhooks. s, unless off, counts their messages.
func newHooks(st *store.Store, conf config.Aggregator, s *shown) (hooks, error) {
	id, err := st.ID()
	if err != nil {
		return hooks{}, err
	}
	o := webhook.Options{
		Hooks: conf.Webhooks, Dir: filepath.Join(st.Dir(), store.WebhooksDir), Studies: standings{st}, Aggregator: id,
		Version: console.Version(), Now: console.Now, Log: s.logger,
	}
	if s.monitor != nil {
		o.Count, o.Waiting = s.monitor.Webhook, s.monitor.WebhooksPending
	}
	sender, err := webhook.New(o)
	return hooks{sender}, err
}

// observe looks at a study whose status changed. The caller owns the study and has stored the
// status.
func (h hooks) observe(e event.Event) {
	if e.What == event.Moved {
		h.Look(e.Study)
	}
}

// beside runs while the node serves, and has ended when it returns.
func (h hooks) beside(ctx context.Context, node func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.Run(ctx)
	}()
	err := node(ctx)
	cancel()
	<-ended
	return err
}

// standings reads what webhooks are told from a store.
type standings struct{ *store.Store }

func (s standings) Studies() (ids []protocol.StudyID, err error) {
	all, err := s.Store.Studies()
	for _, one := range all {
		ids = append(ids, one.ID)
	}
	return ids, err
}

func (s standings) Standing(id protocol.StudyID) (webhook.State, bool, error) {
	raw, err := s.Status(id)
	if errors.Is(err, store.ErrNotFound) {
		return webhook.State{}, false, nil
	}
	var now stored.Snapshot
	if err == nil {
		now, err = stored.DecodeSnapshot(raw)
	}
	if err != nil {
		return webhook.State{}, false, err
	}
	out := webhook.State{
		Name: now.Name, State: session.State(now.State), WaitsFor: now.Waits().String(), From: now.From, Until: now.Until,
		Cancelled: now.Cause == session.StopOperator || now.Abandoned != "",
	}
	if out.Results = now.Results; out.State == session.Answered || out.State == session.Closed {
		out.Results = max(1, out.Results) // the status is older than the count
	}
	return out, true, nil
}
