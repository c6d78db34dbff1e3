// Package networks holds studies of public data between organisations as they might be: a
// file each, with the study that its parties would sign but for keys and dates, and with
// what the testnet does to play them: which data set it takes and how it deals that out.
//
// A file NAME.yaml has two documents. The first is a Template's fields; the second is the
// study file, in which names in capitals stand for what is known only when the network
// runs: NONCE, AGGREGATOR_ID, AGGREGATOR_HPKE, AGGREGATOR_ADDRESS, EXPIRES, DEADLINE, and
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

// Template is one network: a study, and how the testnet plays it.
type Template struct {
	Name     string `yaml:"-"`        // of the file
	Title    string `yaml:"title"`    // what it is about, for people
	Question string `yaml:"question"` // what it asks, in a sentence or two
	Data     string `yaml:"data"`     // one of the Sets
	Split    Split  `yaml:"split"`
	Known    string `yaml:"known"` // a column of the data that groups records, beside which clusters are set; may be empty

	// Limits are how far right estimates may lie from the truth: see errortable.Check. Kinds that
	// have none are not judged.
	Limits map[study.AnalysisKind]float64 `yaml:"limits"`

	// AcceptReconstruction is what every steward writes into the site file.
	AcceptReconstruction bool `yaml:"accept_reconstruction"`

	Parties []string `yaml:"-"` // as the study lists them

	study string
}

// Split says which records each party holds; just one of the three is there. Columns are
// the study's: in a vertical one each party has those it owns.
type Split struct {
	By   string  `yaml:"by"`   // those whose value in this column of the data is the party's name
	Deal string  `yaml:"deal"` // "random": equal parts
	Hold float64 `yaml:"hold"` // a random share of all, drawn by each for itself
}

// String says it in words.
func (s Split) String() string {
	switch {
	case s.By != "":
		return "each party has the records of its own " + s.By
	case s.Hold > 0:
		return fmt.Sprintf("each party has a random %.0f %% of the records", 100*s.Hold)
	}
	return "records are dealt out at random, to each party as many"
}

// All returns every template but those of the demonstration, in the order of their names.
func All() ([]Template, error) {
	found, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the networks: %w", err)
	}
	return readAll(found)
}

// demo are the networks of the demonstration, in its order.
var demo = []string{"laboratories", "registry", "hospitals-plain", "hospitals-identity", "hospitals-sparse", "hospitals-cells", "laboratories-joined"}

// Change returns the template with a part of its study replaced, which stands there once.
func (t Template) Change(from, to string) (Template, error) {
	if n := strings.Count(t.study, from); n != 1 {
		return Template{}, fmt.Errorf("changing the network %s: %q is there %d times", t.Name, from, n)
	}
	t.study = strings.Replace(t.study, from, to, 1)
	return t, nil
}

// DemoNames are the names of the networks of the demonstration, in its order.
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

// Find returns the template of a name, or all those whose names have this before a dash, as
// those of a data set have.
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

// Parse reads a template, as the files of this package have it.
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
