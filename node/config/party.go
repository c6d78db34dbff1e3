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
	Path     string // path of the file, whether or not it exists
	Datasets map[string]Dataset
	Studies  map[protocol.StudyID]StudySite
	Second   []protocol.PeerID // one of whom must approve every study besides its steward; empty: not required
	Network  Network
	Metrics  string // loopback address that answers /healthz, /readyz and /metrics while the party serves; empty: none
	Log      Log
}

// Dataset is one set of data. Its budget is kept under its name, so to the ledger a renamed dataset
// is a new one.
type Dataset struct {
	Name   string
	Source dataset.Source // with absolute paths
	ID     []string       // the data's columns that identify a record; empty: as in the study
	Caps   Caps
	// ApartFrom maps datasets that seem to be about the same people, but are not, to the steward's
	// reason.
	ApartFrom map[string]string
}

// Caps bound what all studies together may spend on a dataset, per unit. A unit without a cap is
// counted but not limited. A dataset without any cap may release nothing with noise.
type Caps struct {
	Record    Budget
	Attribute Budget
}

// Budget is an amount of (ε, δ). The zero value means no cap.
type Budget struct {
	Epsilon dp.Epsilon
	Delta   dp.Delta
}

// StudySite is what each party decides for itself about a study.
type StudySite struct {
	Dataset string // a key of Party.Datasets
	// Columns maps the study's names of columns to the data's, where they differ.
	Columns map[string]string
	// AcceptReconstruction is the steward's consent to a release from which, according to its plan,
	// records could be reconstructed.
	AcceptReconstruction bool
	// Release says when the exact sketch becomes the release. Default: ReleaseAuto.
	Release ReleaseMode
	// Welcome says to which late parties this party gives the seed. auto (default) means every
	// party that the study lists; ask means none yet.
	Welcome Welcome

	where string // file and line, for errors
}

// ReleaseMode is when a party noises its sketch and sends it.
type ReleaseMode string

const (
	ReleaseAuto ReleaseMode = "auto" // as soon as the seed is agreed
	ReleaseAsk  ReleaseMode = "ask"  // when the steward releases it; until then the data may change
)

// LoadParty reads a site file. An empty path means the default path. The file at the default path
// may be absent, which means an empty site file; any other must exist.
func LoadParty(path string) (Party, error) {
	usual, err := usualFile(path, DefaultPartyPaths)
	if err != nil {
		return Party{}, err
	}
	source, root, err := load("site file", sniff.Party, path, usual)
	if err == nil {
		root, err = source.environment(partyVariables, root, PartyKeys())
	}
	p := emptyParty(source.path)
	if err == nil {
		err = read(source, root, partyKeys(), &p)
	}
	if err != nil {
		return Party{}, err
	}
	return p, nil
}

// Study returns the site file's entry for a study, or an error with the command that makes it.
func (p Party) Study(id protocol.StudyID) (StudySite, error) {
	if site, known := p.Studies[id]; known {
		return site, nil
	}
	return StudySite{}, fmt.Errorf("site file %s does not say which data answer study %s (%s)", p.Path, id.Short(), p.Naming(id))
}

// Naming is the command that says which data answer a study. The reader fills in the words in
// capitals.
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

// Headers returns the data's names of the study's columns, in their order. It refuses a site file
// that maps a column not among them.
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

// emptyParty is an empty site file with defaults.
func emptyParty(path string) Party {
	return Party{Path: path, Datasets: make(map[string]Dataset), Studies: make(map[protocol.StudyID]StudySite)}
}

func putDataset(r *schema.Reader, name, _ schema.Item, p *Party, d *Dataset) {
	d.Name = name.Node.Value
	d.checkSource(r, name)
	p.Datasets[d.Name] = *d
}

func putApart(r *schema.Reader, name, value schema.Item, d *Dataset, reason *string) {
	if d.ApartFrom == nil {
		d.ApartFrom = map[string]string{}
	}
	other := name.Node.Value
	if d.ApartFrom[other] = *reason; strings.TrimSpace(*reason) == "" {
		r.Fail(value.Path, "apart_from says why the people of %q are others: %s: REASON", other, scalar(other))
	}
}

// check refuses an amount that is no bound.
func (b Budget) check() error {
	if !(b.Epsilon > 0) || math.IsInf(float64(b.Epsilon), 0) {
		return errors.New("a cap needs an epsilon above 0 (to allow nothing, leave all caps out)")
	}
	if !(b.Delta >= 0 && b.Delta < 1) {
		return fmt.Errorf("delta %v: must be at least 0 and below 1", float64(b.Delta))
	}
	return nil
}

// Welcome says which late parties may join. The zero value admits all.
type Welcome struct {
	Ask   bool     // only those in Names
	Names []string // the study's names of parties
}

// Admits reports whether a late party of this name may join.
func (w Welcome) Admits(name string) bool { return !w.Ask || slices.Contains(w.Names, name) }

// read reads auto, ask, or the names of parties.
func (w *Welcome) read(r *schema.Reader, at schema.Item) {
	var words []string
	before := r.Failures
	schema.OneOrMore(schema.Itself[[]string], text(), most).Read(r, at, &words)
	if r.Failures > before {
		return
	}
	*w = Welcome{Ask: true, Names: words}
	if at.Node.Kind != yaml.ScalarNode {
		return
	}
	switch words[0] {
	case "auto":
		*w = Welcome{}
	case "ask":
		w.Names = nil
	default:
		r.Fail(at.Path, "want auto, ask, or a list of the parties that are welcome late, not %q", words[0])
	}
}

func putStudy(r *schema.Reader, name, _ schema.Item, p *Party, site *StudySite) {
	id, err := protocol.ParseStudyID(name.Node.Value)
	if err != nil {
		r.FailAt(name, "%v", err)
		return
	}
	if _, twice := p.Studies[id]; twice {
		r.FailAt(name, "study %s is listed twice", id.Short())
		return
	}
	if site.Columns == nil {
		site.Columns = map[string]string{}
	}
	site.where = fmt.Sprintf("%s:%d", r.File, name.Node.Line)
	if site.Dataset == "" {
		r.FailAt(name, "study %s has no dataset (add: dataset: NAME)", id.Short())
	} else if _, known := p.Datasets[site.Dataset]; !known && r.Failures == 0 {
		r.FailAt(name, "study %s names dataset %q, which is not under datasets%s", id.Short(), site.Dataset, suggestion(site.Dataset, sortedKeys(p.Datasets)))
	}
	p.Studies[id] = *site
}
