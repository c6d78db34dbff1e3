package steward

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/networks"
)

// Play runs a study from its file to the results: draft, deal, propose, approve, run and collect.
// It also returns the size of the data in bytes.
func (s *Site) Play(ctx context.Context, d Dates, pooled corpus.Table, seed uint64) (out errortable.Played, raw int64, err error) {
	draft, err := s.Draft(d)
	if err != nil {
		return out, 0, err
	}
	dealt, err := s.Template.Deal(draft.Study, pooled, seed)
	if err != nil {
		return out, 0, err
	}
	if raw, err = s.Deal(draft, dealt); err != nil {
		return out, 0, err
	}
	if err := s.Agree(ctx, draft); err != nil {
		return out, 0, err
	}
	if err := s.Run(ctx, draft, d.Expires); err != nil {
		return out, 0, err
	}
	out, err = s.Collect(ctx, draft, dealt)
	return out, raw, err
}

// Run lets all parties serve a study concurrently, until each has its result.
func (s *Site) Run(ctx context.Context, d Draft, wait time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var first sync.Once
	var cause error
	for _, party := range s.Parties {
		running.Go(func() {
			if _, err := party.Run(ctx, "run", d.Study.ID.String(), "--wait", wait.String()); err != nil {
				first.Do(func() { cause = err })
				cancel() // the others would wait for ever
			}
		})
	}
	running.Wait()
	return cause
}

// Fetch lets every party write the result, which is the same for all, and the private results about
// its own records, into a directory of its own.
func (s *Site) Fetch(ctx context.Context, d Draft) (result analysis.Result, dirs []string, err error) {
	id := d.Study.ID.String()
	var first []byte
	for _, party := range s.Parties {
		dir := filepath.Join(party.Dir(), "result-"+id[:8])
		if _, err := party.Run(ctx, "result", id, "--output", dir); err != nil {
			return result, nil, err
		}
		dirs = append(dirs, dir)
		raw, err := os.ReadFile(filepath.Join(dir, "result.json"))
		if err != nil {
			return result, nil, fmt.Errorf("reading the result of %s: %w", party.Name, err)
		}
		if first == nil {
			if result, err = analysis.Decode(raw, d.Study.ID); err != nil {
				return result, nil, err
			}
			first = raw
		} else if !bytes.Equal(first, raw) {
			return result, nil, fmt.Errorf("%s holds another result than %s", party.Name, s.Parties[0].Name)
		}
	}
	if result.Completeness != "full" || len(result.Absent) > 0 {
		return result, nil, fmt.Errorf("the result is %s; absent: %v", result.Completeness, result.Absent)
	}
	return result, dirs, nil
}

// Collect fetches the plan, the result, and the clusters of each party's own records.
func (s *Site) Collect(ctx context.Context, d Draft, data networks.Dealt) (out errortable.Played, err error) {
	out = errortable.Played{Template: s.Template, Study: d.Study, Data: data}
	if err := s.plan(ctx, d, &out); err != nil {
		return out, err
	}
	var dirs []string
	if out.Result, dirs, err = s.Fetch(ctx, d); err != nil {
		return out, err
	}
	id := d.Study.ID.String()
	for p, party := range s.Parties {
		own := filepath.Join(dirs[p], OwnFile)
		if slices.ContainsFunc(d.Study.Sketches, func(sk study.Sketch) bool { return sk.Side == sketch.Cells }) && clustered(out) {
			if _, err := party.Run(ctx, "result", id, "--label", own); err != nil { // labels that the party computes by the published model
				return out, err
			}
		}
		labels, err := clusters(own, data, p)
		if err != nil {
			return out, fmt.Errorf("reading the clusters of %s: %w", party.Name, err)
		}
		out.Labels = append(out.Labels, labels)
		if err := s.clipped(ctx, p, id, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// OwnFile is the name of the file with a party's results about its own records. The file is missing
// if there are none.
const OwnFile = "labels.csv"

// ReadOwn reads such a file: for each record a map by column heading.
func ReadOwn(path string) ([]map[string]string, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		record := make(map[string]string, len(line))
		for i, heading := range lines[0] {
			record[heading] = line[i]
		}
		out = append(out, record)
	}
	return out, nil
}

// clustered reports whether the study has clusters.
func clustered(p errortable.Played) bool {
	for _, a := range p.Result.Analyses {
		if a.CellMeans != nil {
			return true
		}
	}
	return false
}

// plan asks the operator's program for the forecast. It passes the record counts and, in a vertical
// study, the overlap, which the parties could tell each other.
func (s *Site) plan(ctx context.Context, d Draft, out *errortable.Played) error {
	var counts []string
	for _, part := range out.Data.Parties {
		counts = append(counts, fmt.Sprintf("%s=%d", part.Name, len(part.Rows)))
	}
	args := []string{"study", "plan", d.Path, "--records", strings.Join(counts, ",")}
	if d.Study.Partition == study.Vertical {
		args = append(args, "--overlap", fmt.Sprintf("%.3f", overlap(out.Data)))
	}
	return s.Aggregator.RunJSONThough(ctx, &out.Plan, int(fail.Failed), args...) // if nothing is usable, the plan says so and exits with this code
}

// overlap returns the number of records that the first two parties share, divided by that of the
// smaller party.
func overlap(d networks.Dealt) float64 {
	has := map[int]bool{}
	for _, i := range d.Parties[0].Rows {
		has[i] = true
	}
	shared := 0
	for _, i := range d.Parties[1].Rows {
		if has[i] {
			shared++
		}
	}
	return float64(shared) / float64(min(len(d.Parties[0].Rows), len(d.Parties[1].Rows)))
}

// clipped adds up how many records of a party were clipped in each sketch, which only the party
// knows.
func (s *Site) clipped(ctx context.Context, p int, id string, out *errortable.Played) error {
	var inspected struct {
		Sketches []struct {
			Clipped *int64 `json:"clipped"`
		} `json:"sketches"`
	}
	if err := s.Parties[p].RunJSON(ctx, &inspected, "advanced", "inspect", id); err != nil {
		return err
	}
	for i, sk := range inspected.Sketches {
		if sk.Clipped == nil {
			continue
		}
		for len(out.Clipped) <= i {
			out.Clipped = append(out.Clipped, 0)
		}
		out.Clipped[i] += *sk.Clipped
	}
	return nil
}

// clusters reads the clusters of a party's records, in the order of its rows; nil if there are
// none.
func clusters(path string, data networks.Dealt, party int) ([]int, error) {
	records, err := ReadOwn(path)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	if _, told := records[0]["cluster"]; !told {
		return nil, nil
	}
	part := data.Parties[party]
	id := part.Columns[0]
	found := make(map[string]string, len(records))
	for _, record := range records {
		found[record[id]] = record["cluster"]
	}
	ids, err := data.Pooled.Column(id)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(part.Rows))
	for i, row := range part.Rows {
		if out[i], err = strconv.Atoi(found[ids[row]]); err != nil {
			return nil, fmt.Errorf("no cluster of record %d of %d", i+1, len(part.Rows))
		}
	}
	return out, nil
}
