package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
)

// ConfigCommands are about a node's own configuration file.
type ConfigCommands struct {
	Init configInit `cmd:"" help:"Make a configuration file in which every key is explained."`
	Show configShow `cmd:"" help:"Show the settings, and where each comes from."`

	Role store.Role `kong:"-"` // role of the node; set by the program
}

type configInit struct{}

// Help has an example.
func (configInit) Help() string { return "Example: ${name} advanced config init" }

// Run writes the template, and never replaces a file.
func (configInit) Run(c *Console, g *Globals, of *ConfigCommands) error {
	text := config.PartyTemplate()
	if of.Role == store.Aggregator {
		text = config.AggregatorTemplate()
	}
	err := writeNew(g.Config, text)
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s exists and stays as it is: name another with --config", g.Config)
	}
	if err != nil {
		return fail.Usage.Of(fmt.Errorf("writing configuration file: %w", err))
	}
	return c.Print(map[string]string{"config": g.Config}, func(w io.Writer) {
		fmt.Fprintln(w, g.Config)
		c.Say("Every key is explained in it. Next: edit it, then advanced config show --effective")
	})
}

type configShow struct {
	Effective bool `env:"-" help:"Also what nobody set: flags, environment, file and defaults, whichever wins."`
}

// Help has an example.
func (configShow) Help() string { return "Example: ${name} advanced config show --effective" }

// Run checks the file and prints its settings; with --effective all settings.
func (cmd configShow) Run(c *Console, g *Globals, of *ConfigCommands) error {
	read := config.PartySettings
	if of.Role == store.Aggregator {
		read = config.AggregatorSettings
	}
	all, err := read(g.Config)
	if err != nil {
		return fail.Usage.Of(err)
	}
	if cmd.Effective {
		all = c.override(all, g)
	} else {
		all = slices.DeleteFunc(all, func(s config.Setting) bool { return s.Origin == config.FromDefault })
	}
	return c.Print(all, func(w io.Writer) {
		if len(all) > 0 {
			t := block.Table{Columns: []block.Column{{Name: "key", NoTruncate: true}, {Name: "value", NoTruncate: true}, {Name: "set by", NoTruncate: true}}, AllRows: true}
			for _, s := range all {
				t.Rows = append(t.Rows, block.Cells(longID.ReplaceAllString(s.Key, "$1"), s.Value, nameOf(s.Origin)))
			}
			present.Text(w, []block.Block{t})
		} else {
			c.Say("%s sets nothing; --effective shows the defaults", g.Config)
		}
	})
}

// longID matches a study's id in a key, which is shortened for people.
var longID = regexp.MustCompile(`\b([0-9a-f]{8})[0-9a-f]{56}\b`)

// nameOf drops the directory from a setting's origin: there is only one file.
func nameOf(origin string) string {
	if filepath.IsAbs(origin) {
		return filepath.Base(origin)
	}
	return origin
}

// override puts the settings of flags and the environment first, and replaces those that win over
// the file.
func (c *Console) override(all []config.Setting, g *Globals) []config.Setting {
	for i := range all {
		if all[i].Key == "log.level" && c.level != "" {
			all[i].Value, all[i].Origin = c.level, c.origin("log-level")
		}
	}
	return append([]config.Setting{
		{Key: "state", Value: g.State, Origin: c.origin("state")},
		{Key: "config", Value: g.Config, Origin: c.origin("config")},
		{Key: "format", Value: string(c.Format), Origin: c.origin("format")},
	}, all...)
}

// origin says where a global flag's value comes from.
func (c *Console) origin(flag string) string {
	if c.origins == nil {
		return config.FromDefault
	}
	return c.origins(flag)
}

// originOf returns a function that says where a parsed flag's value comes from. The command line
// wins over the environment.
func (p Program) originOf(given map[string]bool, set func(string) bool) func(flag string) string {
	return func(flag string) string {
		name := p.variable(flag)
		switch {
		case given[flag]:
			return "flag --" + flag
		case set(name):
			return "environment " + name
		}
		return config.FromDefault
	}
}
