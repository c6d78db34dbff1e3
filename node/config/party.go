package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/schema"
)

// Party is a party's site file.
type Party struct {
	Path     string // of the file, whether it exists or not
	Datasets map[string]Dataset
	Studies  map[protocol.StudyID]StudySite
	Second   []protocol.PeerID // of whom one must agree to every study beside its steward; empty: nobody need
	Network  Network
	Metrics  string // address of the loopback interface that answers /healthz, /readyz and /metrics while the party serves; empty: none
	Log      Log
}

// Dataset is one body of data. Its budget is kept under its name, so a renamed
// dataset is a new one to the ledger.
type Dataset struct {
	Name   string
	Source dataset.Source // with absolute paths
	ID     []string       // the file's columns that identify a record; empty: those of the study
	Caps   Caps
	// ApartFrom are datasets that look as if they were about the same people and are not, with the
	// steward's reason by name.
	ApartFrom map[string]string
}

// Caps bound what all studies together may spend on a dataset, per unit. A unit
// without a cap is counted and not limited; a dataset without any cap may release
// nothing with noise.
type Caps struct {
	Record    Budget
	Attribute Budget
}

// Budget is an amount of (ε, δ). The zero value stands for no cap.
type Budget struct {
	Epsilon dp.Epsilon
	Delta   dp.Delta
}

// StudySite is what a party alone decides about one study.
type StudySite struct {
	Dataset string // a key of Party.Datasets
	// Columns maps the study's names of columns to the file's, where they differ.
	Columns map[string]string
	// AcceptReconstruction is the steward's yes to a release whose plan says that
	// records could be reconstructed from it.
	AcceptReconstruction bool
	// Release says when the exact sketch becomes the release. Default: ReleaseAuto.
	Release ReleaseMode
	// Welcome names the late parties that this party hands the seed to: auto (default)
	// is every party that the study lists, ask is nobody yet.
	Welcome Welcome

	where string // file and line, for errors
}

// ReleaseMode is when a party noises its sketch and sends it.
type ReleaseMode string

const (
	ReleaseAuto ReleaseMode = "auto" // as soon as the seed is agreed
	ReleaseAsk  ReleaseMode = "ask"  // when the steward says so; until then the data may change
)

// LoadParty reads a site file. An empty path means the default one, and so does its
// name: that file may be absent, which is an empty site file. Any other must exist.
func LoadParty(path string) (Party, error) {
	usual, err := usualFile(path, DefaultPartyPaths)
	if err != nil {
		return Party{}, err
	}
	source, root, err := load("site file", sniff.Party, path, usual)
	if err == nil {
		root, err = source.environment(partyVariables, root, partyDefaults())
	}
	p := Party{
		Path:     source.path,
		Datasets: make(map[string]Dataset),
		Studies:  make(map[protocol.StudyID]StudySite),
	}
	if err == nil {
		err = p.parse(source, root)
	}
	if err != nil {
		return Party{}, err
	}
	return p, nil
}

// Study returns the site file's entry for a study, or an error that says by which command
// to make it.
func (p Party) Study(id protocol.StudyID) (StudySite, error) {
	if site, known := p.Studies[id]; known {
		return site, nil
	}
	return StudySite{}, fmt.Errorf("site file %s does not say which data answer study %s (%s)", p.Path, id.Short(), p.Naming(id))
}

// Naming is the command that says which data answer a study. Words in capitals are for its
// reader to fill in.
func (p Party) Naming(id protocol.StudyID) string {
	names := sortedKeys(p.Datasets)
	switch len(names) {
	case 0:
		return fmt.Sprintf("party data add NAME FILE --study %s", id.Short())
	case 1:
		return fmt.Sprintf("party data use %s %s", names[0], id.Short())
	}
	return fmt.Sprintf("party data use NAME %s, where NAME is one of %s", id.Short(), strings.Join(names, ", "))
}

// Headers returns the file's names of the study's columns, in their order. It
// refuses a site file that maps a column which is not among them.
func (s StudySite) Headers(columns []string) ([]string, error) {
	for name := range s.Columns {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("matching columns: %s maps %q, which is not a column that the study asks of this party%s",
				s.where, name, suggestion(name, columns))
		}
	}
	headers := slices.Clone(columns)
	for i, name := range columns {
		if header, mapped := s.Columns[name]; mapped {
			headers[i] = header
		}
	}
	return headers, nil
}

func suggestion(word string, candidates []string) string {
	if close := schema.Closest(word, candidates); close != "" {
		return fmt.Sprintf(" (did you mean %q?)", close)
	}
	return ""
}

func (p *Party) parse(s source, root *yaml.Node) error {
	// Studies refer to datasets and so come second, whatever the file's order.
	var studies *yaml.Node
	err := s.fields(root, fields{
		"datasets": func(n *yaml.Node) error {
			return s.entries(n, func(key, value *yaml.Node) error { return p.parseDataset(s, key, value) })
		},
		"studies": func(n *yaml.Node) error {
			studies = n
			return nil
		},
		"approval": func(n *yaml.Node) error { return s.fields(n, fields{"second": s.peers(&p.Second)}) },
		"network":  p.Network.parse(s),
		"metrics":  s.loopback(&p.Metrics),
		"log":      p.Log.parse(s),
	})
	if err != nil {
		return err
	}
	return s.entries(studies, func(key, value *yaml.Node) error { return p.parseStudy(s, key, value) })
}

// peers reads a list of peer ids.
func (s source) peers(to *[]protocol.PeerID) parser {
	return func(n *yaml.Node) error {
		var texts []string
		if err := s.texts(&texts)(n); err != nil {
			return err
		}
		for i, text := range texts {
			id, err := protocol.ParsePeerID(text)
			if err != nil {
				return s.errorf(n.Content[i], "%v", err)
			}
			*to = append(*to, id)
		}
		return nil
	}
}

func (p *Party) parseDataset(s source, key, value *yaml.Node) error {
	d := Dataset{Name: key.Value}
	err := s.fields(value, fields{
		"source": s.oneOrMore(&d.Source.Files),
		"csv":    parseDialect(s, &d.Source.CSV),
		"sql":    parseSQL(s, &d.Source),
		"id":     s.texts(&d.ID),
		"apart_from": func(n *yaml.Node) error {
			d.ApartFrom = map[string]string{}
			return s.entries(n, func(key, value *yaml.Node) error {
				var reason string
				if err := s.text(&reason)(value); err != nil {
					return err
				}
				if d.ApartFrom[key.Value] = reason; strings.TrimSpace(reason) == "" {
					return s.errorf(value, "apart_from says why the people of %q are others: %s: REASON", key.Value, scalar(key.Value))
				}
				return nil
			})
		},
		"caps": func(n *yaml.Node) error {
			return s.fields(n, fields{"record": d.Caps.Record.parse(s), "attribute": d.Caps.Attribute.parse(s)})
		},
	})
	if err != nil {
		return err
	}
	if err := d.checkSource(s, key); err != nil {
		return err
	}
	p.Datasets[d.Name] = d
	return nil
}

func (b *Budget) parse(s source) parser {
	return func(n *yaml.Node) error {
		var epsilon, delta float64
		if err := s.fields(n, fields{"epsilon": s.number(&epsilon), "delta": s.number(&delta)}); err != nil {
			return err
		}
		*b = Budget{Epsilon: dp.Epsilon(epsilon), Delta: dp.Delta(delta)}
		if err := b.check(); err != nil {
			return s.errorf(n, "%v", err)
		}
		return nil
	}
}

// check refuses an amount that bounds nothing.
func (b Budget) check() error {
	if !(b.Epsilon > 0) || math.IsInf(float64(b.Epsilon), 0) {
		return errors.New("a cap needs an epsilon above 0 (to allow nothing, leave all caps out)")
	}
	if !(b.Delta >= 0 && b.Delta < 1) {
		return fmt.Errorf("delta %v: must be at least 0 and below 1", float64(b.Delta))
	}
	return nil
}

// Welcome says which late parties are welcome. The zero value welcomes all.
type Welcome struct {
	Ask   bool     // only those in Names
	Names []string // the study's names of parties
}

// Admits reports whether a late party of this name is welcome.
func (w Welcome) Admits(name string) bool { return !w.Ask || slices.Contains(w.Names, name) }

// parse reads auto, ask, or the names of parties.
func (w *Welcome) parse(s source) parser {
	return func(n *yaml.Node) error {
		var words []string
		if err := s.oneOrMore(&words)(n); err != nil {
			return err
		}
		*w = Welcome{Ask: true, Names: words}
		if n.Kind != yaml.ScalarNode {
			return nil
		}
		switch words[0] {
		case "auto":
			*w = Welcome{}
		case "ask":
			w.Names = nil
		default:
			return s.errorf(n, "welcome is auto, ask, or a list of the parties that are welcome late, not %q", words[0])
		}
		return nil
	}
}

func (p *Party) parseStudy(s source, key, value *yaml.Node) error {
	id, err := protocol.ParseStudyID(key.Value)
	if err != nil {
		return s.errorf(key, "%v", err)
	}
	if _, twice := p.Studies[id]; twice {
		return s.errorf(key, "study %s is listed twice", id.Short())
	}
	site := StudySite{Columns: make(map[string]string), Release: ReleaseAuto, where: fmt.Sprintf("%s:%d", s.path, key.Line)}
	err = s.fields(value, fields{
		"dataset":               s.text(&site.Dataset),
		"accept_reconstruction": s.boolean(&site.AcceptReconstruction),
		"release":               oneOf(s, &site.Release, []ReleaseMode{ReleaseAuto, ReleaseAsk}),
		"welcome":               site.Welcome.parse(s),
		"columns": func(n *yaml.Node) error {
			return s.entries(n, func(key, value *yaml.Node) error {
				var header string
				err := s.text(&header)(value)
				site.Columns[key.Value] = header
				return err
			})
		},
	})
	if err != nil {
		return err
	}
	if site.Dataset == "" {
		return s.errorf(key, "study %s has no dataset (add: dataset: NAME)", id.Short())
	}
	if _, known := p.Datasets[site.Dataset]; !known {
		return s.errorf(key, "study %s names dataset %q, which is not under datasets%s",
			id.Short(), site.Dataset, suggestion(site.Dataset, sortedKeys(p.Datasets)))
	}
	p.Studies[id] = site
	return nil
}
