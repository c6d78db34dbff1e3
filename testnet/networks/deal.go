package networks

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// Dealt is a data set, both as the parties of a study hold it and pooled.
type Dealt struct {
	Pooled  corpus.Table
	Parties []Part // in the order of the template
}

// Part is the data of one party.
type Part struct {
	Name    string
	Rows    []int    // of Pooled, in the party's own order
	Columns []string // of Pooled, the record ids first
}

// Deal gives every party its records and columns. The same seed gives the same deal.
func (t Template) Deal(s *study.Study, pooled corpus.Table, seed uint64) (Dealt, error) {
	out := Dealt{Pooled: pooled}
	rng := rand.New(rand.NewPCG(seed, 1))
	n := len(pooled.Rows)
	order := rng.Perm(n)
	var by []string
	if t.Split.By != "" {
		var err error
		if by, err = pooled.Column(t.Split.By); err != nil {
			return Dealt{}, fmt.Errorf("dealing %s out: %w", t.Data, err)
		}
	}
	for p, name := range t.Parties {
		listed, ok := s.PartyByName(name)
		if !ok {
			return Dealt{}, fmt.Errorf("dealing %s out: the study lists no party %s", t.Data, name)
		}
		part := Part{Name: name, Columns: append([]string(nil), s.Records.ID...)}
		for _, c := range s.OwnColumns(listed) {
			part.Columns = append(part.Columns, s.Columns[c].Name)
		}
		switch {
		case by != nil:
			for i, value := range by {
				if value == name {
					part.Rows = append(part.Rows, i)
				}
			}
		case t.Split.Hold > 0:
			part.Rows = rng.Perm(n)[:int(math.Round(t.Split.Hold*float64(n)))]
		default:
			part.Rows = order[p*n/len(t.Parties) : (p+1)*n/len(t.Parties)]
		}
		for _, name := range part.Columns {
			if _, err := pooled.Column(name); err != nil {
				return Dealt{}, fmt.Errorf("dealing %s out: %w", t.Data, err)
			}
		}
		out.Parties = append(out.Parties, part)
	}
	return out, nil
}

// WriteCSV writes the data file of one party.
func (d Dealt) WriteCSV(party int, w io.Writer) error {
	part := d.Parties[party]
	columns := make([]int, len(part.Columns))
	for j, name := range part.Columns {
		for at, other := range d.Pooled.Names {
			if other == name {
				columns[j] = at
			}
		}
	}
	out := csv.NewWriter(w)
	if err := out.Write(part.Columns); err != nil {
		return fmt.Errorf("writing the data of %s: %w", part.Name, err)
	}
	line := make([]string, len(columns))
	for _, i := range part.Rows {
		for j, at := range columns {
			line[j] = d.Pooled.Rows[i][at]
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("writing the data of %s: %w", part.Name, err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("writing the data of %s: %w", part.Name, err)
	}
	return nil
}
