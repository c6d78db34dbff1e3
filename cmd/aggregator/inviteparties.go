package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// address asks where parties reach this node.
func (v *inviting) address(ctx context.Context) error {
	v.step("Where parties reach this node", "aggregator study draft --addr MULTIADDR")
	return v.put(ctx, joining.Question{
		ID: joining.Address, Asks: "Where do parties reach this node?", Open: "the address at which parties reach this node",
		Why:   "It stands in the study file, and cannot be changed later. Parties dial it; nobody is dialled. The port is that of listen in the configuration, unless something between passes it on.",
		Forms: []string{"a name and port: /dns4/agg.example.org/tcp/7424", "a number and port: /ip4/203.0.113.7/tcp/7424", "through a proxy that ends HTTPS: /dns4/agg.example.org/tcp/443/tls/ws"},
	}, func(line string) error {
		if err := aggregator.CheckPlace(line); err != nil {
			return err
		}
		v.draft.Addr = []string{line}
		return nil
	})
}

// introduced are introductions by the party's name, of files that were given and of those that were accepted before.
func (v *inviting) introduced() (out []config.ColumnList, err error) {
	for _, path := range v.Introductions {
		l, err := config.LoadColumns(path)
		if err != nil {
			return nil, fail.Usage.Of(err)
		}
		if slices.ContainsFunc(out, func(o config.ColumnList) bool { return o.Name == l.Name }) {
			return nil, fail.Usage.Of(fmt.Errorf("introduction %s: another one is of %q, too: each party has one name, and one introduction", path, l.Name))
		}
		out = append(out, l)
	}
	return out, nil
}

// call says what parties run to introduce themselves, and serves until their introductions are handed to another run.
func (v *inviting) call(ctx context.Context) error {
	v.step("Ask the parties for their introductions", "aggregator serve")
	v.c.Say("Every party runs this, and sends you the file that it writes:")
	v.c.Say("  party join %s/p2p/%s", v.draft.Addr[0], v.id)
	v.c.Say("This node in words, to compare over a telephone: %s", v.id.Words())
	v.c.Say("It serves here until you stop it with Ctrl-C. When the files are there, go on: aggregator invite FILE FILE …")
	return v.wait(ctx, func() error { return fail.Unintroduced.New() }, func() (bool, error) { return false, nil })
}

// acceptedPath is where the introduction of a party is kept that was accepted.
func (v *inviting) acceptedPath(name string) string {
	return v.beside("introduction-" + strings.ReplaceAll(name, " ", "-") + ".yaml")
}

// named is an answer to whose introductions are accepted.
type named struct {
	Names []string `arg:""`
}

// accept asks by name whose introductions the study is drafted from.
func (v *inviting) accept(ctx context.Context) error {
	lists, err := v.introduced()
	if err != nil {
		return err
	}
	for _, line := range v.ask.Lines[joining.Accept] { // accepted by an earlier run: it may be given no more
		var n named
		if console.TakeLine(&n, line) != nil {
			continue
		}
		for _, name := range n.Names {
			known := slices.ContainsFunc(lists, func(l config.ColumnList) bool { return l.Name == name })
			if l, err := config.LoadColumns(v.acceptedPath(name)); err == nil && !known {
				lists = append(lists, l)
			}
		}
	}
	if len(lists) == 0 {
		return v.call(ctx)
	}
	v.step("The parties' introductions", "aggregator study draft --columns FILE")
	t := block.Table{Columns: block.Headed("party", "records", "columns", "in words"), Whole: true}
	for _, l := range lists {
		var columns []string
		for _, c := range l.Columns {
			columns = append(columns, fmt.Sprintf("%s (%s)", c.Name, c.Kind))
		}
		records := "not said"
		if l.About > 0 {
			records = fmt.Sprintf("about %d", l.About)
		}
		t.Rows = append(t.Rows, block.Cells(l.Name, records, strings.Join(columns, ", "), l.ID.Words()))
	}
	v.c.Show(t)
	return v.put(ctx, joining.Question{
		ID: joining.Accept, Asks: "Whose introductions do you accept?", Open: "the names of those that you accept",
		Why:   "A study lists those that you name, and nobody else. Before you name one, compare its words over a telephone: a number that you know, and not one that came with the introduction.",
		Forms: []string{"names with spaces between them: north south"},
	}, func(line string) error {
		var n named
		if err := console.TakeLine(&n, line); err != nil {
			return err
		}
		if len(n.Names) < 2 {
			return fmt.Errorf("%q is one party: a study has at least 2", line)
		}
		v.draft.Columns = nil
		for _, name := range n.Names {
			i := slices.IndexFunc(lists, func(l config.ColumnList) bool { return l.Name == name })
			if i < 0 {
				return fmt.Errorf("there is no introduction of %q", name)
			}
			path := v.acceptedPath(name)
			if err := keepIntroduction(path, lists[i]); err != nil {
				return err
			}
			if slices.Contains(v.draft.Columns, path) {
				return fmt.Errorf("%q is named twice", name)
			}
			v.draft.Columns = append(v.draft.Columns, path)
		}
		return nil
	})
}

// keepIntroduction writes what was accepted, in its own words: nothing of the file that came is copied as it stands.
func keepIntroduction(path string, l config.ColumnList) error {
	text := l.Text()
	if old, err := os.ReadFile(path); err == nil {
		if string(old) == text {
			return nil
		}
		if was, err := config.LoadColumns(path); err != nil || was.ID != l.ID {
			return fmt.Errorf("%s holds the introduction of another node: remove it, if it is no longer needed", path)
		}
	}
	err := durable.Replace(path, durable.Private, func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the introduction of %s: %w", l.Name, err)
	}
	return nil
}
