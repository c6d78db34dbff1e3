// Package steward runs the programs of a network as its operator and its parties' stewards do. It
// deals the data, proposes a study, approves it, runs it and fetches the results. Everything is
// done through the programs' own commands.
package steward

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/network"
	"github.com/cosketch/cosketch/testnet/networks"
)

// Site is a network whose aggregator is serving.
type Site struct {
	Dir        string // where study files go
	Address    string // of the aggregator, a multiaddr
	Aggregator *network.Node
	Parties    []*network.Node // in the order of the template
	Template   networks.Template
	Terms      Terms
}

// Start creates the nodes of a network under home, using the programs that network.Build put into
// dir. It starts the aggregator, which the caller must stop.
func Start(ctx context.Context, dir, home string, t networks.Template) (*Site, *network.Started, error) {
	port, err := network.FreePort()
	if err != nil {
		return nil, nil, err
	}
	s := &Site{Dir: home, Address: network.Loopback(port), Template: t}
	if s.Aggregator, s.Parties, err = network.Identities(ctx, dir, home, t.Parties...); err != nil {
		return nil, nil, err
	}
	serving, err := s.Aggregator.Serve(ctx, port, nil)
	return s, serving, err
}

// Dates are the dates of a study, counted from now.
type Dates struct{ Expires, Deadline time.Duration }

// Draft is a study that has not been proposed yet.
type Draft struct {
	Study *study.Study
	Path  string // of the study file
}

// Draft writes the study's file, with a fresh nonce.
func (s *Site) Draft(d Dates) (Draft, error) {
	now := time.Now()
	terms := networks.Terms{
		ID: s.Aggregator.ID, HPKE: s.Aggregator.HPKE, Address: s.Address, Parties: map[string]string{},
		Expires: now.Add(d.Expires), Deadline: now.Add(d.Deadline),
	}
	for _, p := range s.Parties {
		terms.Parties[p.Name] = p.ID
	}
	source, err := s.Template.Study(terms)
	if err != nil {
		return Draft{}, err
	}
	read, err := file.Parse(source)
	if err != nil {
		return Draft{}, fmt.Errorf("the study of %s: %w", s.Template.Name, err)
	}
	out := Draft{Study: read, Path: s.studyFile(read.ID.String())}
	if err := os.WriteFile(out.Path, source, 0o644); err != nil {
		return Draft{}, fmt.Errorf("writing the study file: %w", err)
	}
	return out, nil
}

// Reopen reads a study's file that Draft wrote.
func (s *Site) Reopen(id string) (Draft, error) {
	out := Draft{Path: s.studyFile(id)}
	source, err := os.ReadFile(out.Path)
	if err != nil {
		return Draft{}, fmt.Errorf("reading a study file: %w", err)
	}
	if out.Study, err = file.Parse(source); err != nil {
		return Draft{}, fmt.Errorf("reading %s: %w", out.Path, err)
	}
	return out, nil
}

func (s *Site) studyFile(id string) string {
	return filepath.Join(s.Dir, s.Template.Name+"-"+id[:8]+".yaml")
}

// Deal writes every party's data and its site file, which names no study yet. It returns the size
// of the data in bytes.
func (s *Site) Deal(d Draft, data networks.Dealt) (raw int64, err error) {
	for p, party := range s.Parties {
		var file bytes.Buffer
		if err := data.WriteCSV(p, &file); err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(party.Dir(), DataFile), file.Bytes(), 0o600); err != nil {
			return 0, fmt.Errorf("writing the data of %s: %w", party.Name, err)
		}
		raw += int64(file.Len())
		if err := network.WriteSiteFile(party, SiteFile(s.Template, d.Study, s.Terms)); err != nil {
			return 0, err
		}
	}
	return raw, nil
}

// Propose adds the study at the aggregator and at every party.
func (s *Site) Propose(ctx context.Context, d Draft) error {
	if _, err := s.Aggregator.Run(ctx, "study", "host", d.Path); err != nil {
		return err
	}
	for _, party := range s.Parties {
		var added struct {
			Study string `json:"study"`
		}
		if err := party.RunJSON(ctx, &added, "study", "add", d.Path); err != nil {
			return err
		}
		if added.Study != d.Study.ID.String() {
			return fmt.Errorf("%s reads the study's id as %s, not %s", party.Name, added.Study, d.Study.ID)
		}
	}
	return nil
}

// Agree proposes the study and lets every steward approve it.
func (s *Site) Agree(ctx context.Context, d Draft) error {
	if err := s.Propose(ctx, d); err != nil {
		return err
	}
	for _, party := range s.Parties {
		if err := s.Approve(ctx, d, party); err != nil {
			return err
		}
	}
	return nil
}

// Approve does what a party's steward does: it names the data in the site file, and approves by the
// first eight characters of the id.
func (s *Site) Approve(ctx context.Context, d Draft, party *network.Node) error {
	file, err := os.OpenFile(party.SiteFile(), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the site file of %s: %w", party.Name, err)
	}
	_, err = file.WriteString(line(s.Template, d.Study, s.Terms))
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("writing the site file of %s: %w", party.Name, err)
	}
	_, err = party.Run(ctx, "study", "approve", d.Study.ID.String(), "--id", d.Study.ID.String()[:8], "--although-useless")
	return err
}
