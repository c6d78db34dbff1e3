// Package networks has studies of public data between realistic organisations, one per file. A file
// has the study that its parties would sign, except keys and dates, and says how the testnet runs
// it: which data set to use, and how to deal it.
//
// A file NAME.yaml has two documents. The first has the fields of a Template. The second is the
// study file. In it, names in capitals are placeholders for values that are known only when the
// network runs: NONCE, AGGREGATOR_ID, AGGREGATOR_HPKE, AGGREGATOR_ADDRESS, EXPIRES, DEADLINE, and
// for each party its name in capitals with _ID.
package networks

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

//go:embed *.yaml demo/*.yaml
var files embed.FS

// Template is one network: a study, and how the testnet runs it.
type Template struct {
	Name     string `yaml:"-"`        // of the file
	Title    string `yaml:"title"`    // what it is about, for people
	Question string `yaml:"question"` // what it asks, in a sentence or two
	Data     string `yaml:"data"`     // the name of a data set, see Load
	Split    Split  `yaml:"split"`
	Known    string `yaml:"known"` // a column of the data that groups records, to compare clusters with; may be empty

	// Limits bound how far correct estimates may lie from the truth, see errortable.Check. Kinds
	// without a limit are not judged.
	Limits map[study.AnalysisKind]float64 `yaml:"limits"`

	// AcceptReconstruction is the value that every steward writes into the site file.
	AcceptReconstruction bool `yaml:"accept_reconstruction"`

	Parties []string `yaml:"-"` // in the order of the study

	study string
}

// Split says which records each party holds; exactly one of the three fields is set. The study
// defines the columns: in a vertical study each party has the columns it owns.
type Split struct {
	By   string  `yaml:"by"`   // the records whose value in this column of the data is the party's name
	Deal string  `yaml:"deal"` // "random": equal parts
	Hold float64 `yaml:"hold"` // each party draws this random share of all records by itself
}

// String describes the split in words.
func (s Split) String() string {
	switch {
	case s.By != "":
		return "each party has the records of its own " + s.By
	case s.Hold > 0:
		return fmt.Sprintf("each party has a random %.0f %% of the records", 100*s.Hold)
	}
	return "records are dealt out at random, to each party as many"
}

// All returns every template except those of the demonstration, ordered by name.
func All() ([]Template, error) {
	found, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the networks: %w", err)
	}
	return readAll(found)
}

// demo lists the networks of the demonstration, in its order: first whole records protected between
// parties with different people and with different columns, then what sketches without noise
// reveal, then the rest.
var demo = []string{"regions", "registry", "laboratories", "hospitals-plain", "hospitals-cells", "hospitals-identity", "hospitals-sparse", "laboratories-joined"}

// Change returns the template with a part of its study replaced. It returns an error unless this
// part occurs exactly once.
func (t Template) Change(from, to string) (Template, error) {
	if n := strings.Count(t.study, from); n != 1 {
		return Template{}, fmt.Errorf("changing the network %s: %q is there %d times", t.Name, from, n)
	}
	t.study = strings.Replace(t.study, from, to, 1)
	return t, nil
}

// DemoNames returns the names of the networks of the demonstration, in its order.
func DemoNames() []string { return slices.Clone(demo) }

// Demo returns the templates of the demonstration, in its order. Their data need no folder.
func Demo() ([]Template, error) {
	var found []string
	for _, name := range demo {
		found = append(found, "demo/"+name+".yaml")
	}
	return readAll(found)
}

func readAll(found []string) (out []Template, err error) {
	for _, file := range found {
		source, err := files.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading a network: %w", err)
		}
		t, err := Parse(strings.TrimSuffix(path.Base(file), ".yaml"), string(source))
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// Find returns the template of this name, or all templates whose names have it before a dash, such
// as those of a data set.
func Find(name string) ([]Template, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	demo, err := Demo()
	if err != nil {
		return nil, err
	}
	var out []Template
	var names []string
	for _, t := range append(all, demo...) {
		if t.Name == name {
			return []Template{t}, nil
		}
		if strings.HasPrefix(t.Name, name+"-") {
			out = append(out, t)
		}
		set, _, _ := strings.Cut(t.Name, "-")
		for _, name := range []string{t.Name, set} {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if out != nil {
		return out, nil
	}
	if near := schema.Closest(name, names); near != "" {
		return nil, fmt.Errorf("no network %q: did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("no network %q; there are %s", name, strings.Join(names, ", "))
}

// Parse reads a template in the format of this package's files.
func Parse(name, source string) (Template, error) {
	t, err := parse(name, source)
	if err != nil {
		return Template{}, fmt.Errorf("reading the network %s: %w", name, err)
	}
	return t, nil
}

func parse(name, source string) (Template, error) {
	before, after, found := strings.Cut(source, "\n---\n")
	if !found {
		return Template{}, fmt.Errorf("no line of dashes before the study")
	}
	t := Template{Name: name, study: after}
	if err := yaml.Load([]byte(before), &t, yaml.WithKnownFields()); err != nil {
		return Template{}, err
	}
	var parties struct {
		Parties []struct{ Name string }
	}
	if err := yaml.Load([]byte(after), &parties); err != nil {
		return Template{}, err
	}
	for _, p := range parties.Parties {
		t.Parties = append(t.Parties, p.Name)
	}
	return t, nil
}
