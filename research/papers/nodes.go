package papers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/node/audit"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/steward"
)

// partyNames are the three parties of every study.
var partyNames = [...]string{"north", "south", "west"}

// parties is their number.
const parties = len(partyNames)

// idColumn is the heading of the record ids.
const idColumn = "record"

// Records is a party's data: for each record an id and one value per column.
type Records struct {
	Columns []string
	IDs     []string
	Values  [][]float64
}

// Study is a study of three parties, with their data.
type Study struct {
	Name      string // required: letters, digits and hyphens
	Partition study.Partition
	Columns   []string // required: entries of columns, as in a study file
	Sketches  []string // required: entries of sketches
	Privacy   string   // required: the entry of privacy
	Analyses  []string // entries of analyses

	// Data is required: each party's records. Categorical columns are not supported; binary values
	// are 0 and 1.
	Data [parties]Records

	Audit bool // the first party attacks its own release before the study runs
}

// Outcome is the result of a study.
type Outcome struct {
	Study    *study.Study
	Result   analysis.Result
	Own      [parties][]map[string]string // by party: results about each of its own records, by heading; nil if none
	Releases [parties]steward.Release
	Attacked audit.AttackReport // output of party advanced audit --data, if requested
}

// Nodes plays studies between three party processes and an aggregator process on this machine,
// started anew for each study.
type Nodes struct{ dir string }

// Built returns Nodes for the directory where network.Build put the programs. The nodes' state goes
// there too.
func Built(dir string) *Nodes { return &Nodes{dir: dir} }

// Time limits of a study.
const (
	expires  = 8 * time.Minute // approval ends, and parties stop waiting for each other
	deadline = 10 * time.Minute
)

// Play runs a study from its file to the results. The parties' stewards accept everything it
// reveals, because the data are public.
func (n *Nodes) Play(ctx context.Context, s Study) (out Outcome, err error) {
	template, err := networks.Parse(s.Name, s.manifest())
	if err != nil {
		return out, err
	}
	home := filepath.Join(n.dir, s.Name)
	site, serving, err := steward.Start(ctx, n.dir, home, template)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, serving.Stop()) }()
	if out, err = play(ctx, site, s); err != nil && ctx.Err() == nil {
		return Outcome{}, fmt.Errorf("playing study %s: %w%s", s.Name, err, serving.Talk())
	}
	return out, errors.Join(err, ctx.Err())
}

func play(ctx context.Context, site *steward.Site, s Study) (out Outcome, err error) {
	draft, err := site.Draft(steward.Dates{Expires: expires, Deadline: deadline})
	if err != nil {
		return out, err
	}
	out.Study = draft.Study
	if _, err := site.Deal(draft, s.dealt()); err != nil {
		return out, err
	}
	if err := site.Agree(ctx, draft); err != nil {
		return out, err
	}
	if s.Audit {
		if err := site.Parties[0].RunJSON(ctx, &out.Attacked, "advanced", "audit", draft.Study.ID.String(), "--data"); err != nil {
			return out, err
		}
	}
	if err := site.Run(ctx, draft, expires); err != nil {
		return out, err
	}
	var dirs []string
	if out.Result, dirs, err = site.Fetch(ctx, draft); err != nil {
		return out, err
	}
	for p, party := range site.Parties {
		if out.Own[p], err = steward.ReadOwn(filepath.Join(dirs[p], steward.OwnFile)); err != nil {
			return out, fmt.Errorf("reading what %s is told of its records: %w", party.Name, err)
		}
		if out.Releases[p], err = steward.ReadRelease(party, out.Study); err != nil {
			return out, fmt.Errorf("reading the release of %s: %w", party.Name, err)
		}
	}
	return out, nil
}

// dealt returns the data for the parties' files. Every record of every party is a separate row; the
// pooled data are not used.
func (s Study) dealt() networks.Dealt {
	pooled := corpus.Table{Names: []string{idColumn}}
	at := map[string]int{}
	for _, held := range s.Data {
		for _, name := range held.Columns {
			if _, known := at[name]; !known {
				at[name] = len(pooled.Names)
				pooled.Names = append(pooled.Names, name)
			}
		}
	}
	out := networks.Dealt{}
	for p, held := range s.Data {
		part := networks.Part{Name: partyNames[p], Columns: append([]string{idColumn}, held.Columns...)}
		for i, id := range held.IDs {
			row := make([]string, len(pooled.Names))
			row[0] = id
			for j, name := range held.Columns {
				row[at[name]] = strconv.FormatFloat(held.Values[i][j], 'g', -1, 64)
			}
			part.Rows = append(part.Rows, len(pooled.Rows))
			pooled.Rows = append(pooled.Rows, row)
		}
		out.Parties = append(out.Parties, part)
	}
	out.Pooled = pooled
	return out
}

// manifest returns the network description of a study.
func (s Study) manifest() string {
	var out strings.Builder
	out.WriteString("data: given\nsplit: {deal: given}\naccept_reconstruction: true\n---\n")
	fmt.Fprintf(&out, "cosketch: study/2\nname: %s\nnonce: \"NONCE\"\naggregator: {id: AGGREGATOR_ID, hpke: AGGREGATOR_HPKE, addrs: [AGGREGATOR_ADDRESS]}\nparties:\n", s.Name)
	for _, name := range partyNames {
		fmt.Fprintf(&out, "  - {name: %s, id: %s_ID}\n", name, strings.ToUpper(name))
	}
	fmt.Fprintf(&out, "partition: %s\nquorum: %d\nexpires: EXPIRES\ndeadline: DEADLINE\nrecords: {id: [%s], missing: refuse}\n", s.Partition, parties, idColumn)
	for _, list := range []struct {
		key     string
		entries []string
	}{{"columns", s.Columns}, {"sketches", s.Sketches}, {"analyses", s.Analyses}} {
		fmt.Fprintf(&out, "%s:\n", list.key)
		for _, entry := range list.entries {
			fmt.Fprintf(&out, "  - {%s}\n", entry)
		}
	}
	fmt.Fprintf(&out, "privacy: {%s}\n", s.Privacy)
	return out.String()
}

// entries returns the entries of a release's i-th sketch, rows × columns, in encoded units: with
// R's scale, and a bound or 3 spreads as 1.
func entries(r steward.Release, i int) *mat.Dense {
	s, unit := r.Sketches[i], r.Plans[i].Unit()
	out := mat.NewDense(s.Rows, s.Cols, nil)
	for i := range s.Rows {
		for j, v := range s.Row(i) {
			out.Set(i, j, float64(v)*unit)
		}
	}
	return out
}
