package node_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	files "github.com/cosketch/cosketch/node/table"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/parquet-go/parquet-go"
)

// wide is a study of two parties with so many columns each, and a third with one.
func wide(each int, analyses string) (terms, func(party int) string) {
	var columns strings.Builder
	for party := range 2 {
		for c := range each {
			fmt.Fprintf(&columns, "{name: %c%d, kind: numeric, bounds: [0, 1], owner: %c}, ", "xy"[party], c, "ab"[party])
		}
	}
	return terms{
			columns:  "[" + columns.String() + "{name: z, kind: numeric, bounds: [0, 1], owner: c}]",
			sketches: "[{side: columns, family: sparse, k: 48, s: 1, helpers: {ones: 1}}]",
			privacy:  "{unit: attribute, mechanism: laplace, epsilon: 500}", caps: "{attribute: {epsilon: 500}}",
			analyses: analyses,
		}, func(party int) string {
			var s strings.Builder
			s.WriteString("id")
			columns := each
			if party == 2 {
				columns = 1
			}
			for c := range columns {
				fmt.Fprintf(&s, ",%c%d", "xyz"[party], c)
			}
			for i := range 60 {
				fmt.Fprintf(&s, "\nID%d", i)
				for c := range columns {
					fmt.Fprintf(&s, ",.%04d", (i*7919+c*i*31+party*104729)%10000)
				}
			}
			return strings.Replace(s.String(), "z0", "z", 1) + "\n"
		}
}

// tables lists a node's parts of tables.
func (b *bench) tables(name string) (names []string) {
	b.t.Helper()
	st := b.open(name)
	defer st.Close()
	all, err := st.Results(b.study.ID)
	check(b.t, err)
	for _, file := range all {
		if strings.HasPrefix(file, "table-") {
			names = append(names, file)
		}
	}
	return names
}

// whole checks a node's tables and returns its result.
func (b *bench) whole(name string) analysis.Result {
	b.t.Helper()
	st := b.open(name)
	defer st.Close()
	r, _, err := stored.Result(st, b.study.ID)
	check(b.t, err)
	check(b.t, r.CheckTables())
	pairs := int64(0)
	for _, a := range r.Analyses {
		check(b.t, a.EachPair(func(p analysis.Pair) error {
			pairs++
			return nil
		}))
		pairs -= a.PairCount()
	}
	if pairs != 0 {
		b.t.Errorf("%s reads %d pairs more than there are", name, pairs)
	}
	role := store.Party
	if name == "agg" {
		role = store.Aggregator
	}
	findings, err := local.Fsck(b.t.Context(), local.FsckOptions{Store: st, Role: role})
	check(b.t, err)
	for _, f := range findings {
		if f.Verdict != local.Pass && strings.Contains(f.Check, "result") {
			b.t.Errorf("fsck at %s: %+v", name, f)
		}
	}
	return r
}

// The pairs of 2 × 600 columns come to the parties in parts. Each part is written before the next
// arrives: nobody holds them all. A received part is not fetched again, and one that differs from
// what was signed is refused.
func TestWideResult(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of thousands of pairs, in one goroutine: TestTablesOfALaterResult has few")
	}
	w, data := wide(600, "[{kind: covariance}, {kind: distance}]")
	b := newBench(t, w, data)
	b.writes = map[string]*writes{"agg": {}, "a": {}, "b": {fail: nth{"NewResult", 3}, how: notPersisted}, "c": {fail: nth{"NewResult", 2}, how: notPersisted}}
	stop := b.serve()
	defer stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, name := range b.parties {
		all.Go(func() {
			if err := b.run(ctx, name, nil); (err == nil) != (name == "a") {
				t.Errorf("party %s: %v", name, err)
			}
		})
	}
	all.Wait()
	parts := b.tables("agg")
	if len(parts) < 10 || len(b.tables("b")) != 2 || len(b.tables("c")) != 1 {
		t.Fatalf("of %d parts %d and %d are there", len(parts), len(b.tables("b")), len(b.tables("c")))
	}
	check(t, b.run(ctx, "b", nil))
	if got := b.writes["b"].counts["NewResult"]; got != len(parts)+1 {
		t.Errorf("%d of %d parts were written, one for the second time", got, len(parts))
	}

	st := b.open("c")
	result, err := analysis.Decode(b.document("a"), b.study.ID)
	check(t, err)
	check(t, st.Close())
	wanted, err := result.Parts()
	check(t, err)
	path := fmt.Sprintf("%s/results/%s/table-%s", b.path("agg"), b.study.ID, wanted[len(wanted)-1].Hash)
	good, err := os.ReadFile(path)
	check(t, err)
	for want, bad := range map[string][]byte{
		"does not have the hash that was signed": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1),
		"does not have the size that was signed": good[:len(good)-1],
	} {
		check(t, os.WriteFile(path, bad, 0o600))
		if err := b.run(ctx, "c", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	check(t, os.WriteFile(path, good, 0o600))
	check(t, b.run(ctx, "c", nil))

	for _, name := range append(b.parties, "agg") {
		b.whole(name)
		if !bytes.Equal(b.document(name), b.document("agg")) {
			t.Errorf("%s has another document", name)
		}
		if got := b.tables(name); !slices.Equal(got, parts) {
			t.Errorf("%s has the parts %v, want %v", name, got, parts)
		}
		if most := b.writes[name].most; most > analysis.PartSize {
			t.Errorf("%s wrote %d bytes of a result as one, at most %d are in memory", name, most, analysis.PartSize)
		}
	}
}

// document is a node's result document.
func (b *bench) document(name string) []byte {
	b.t.Helper()
	st := b.open(name)
	defer st.Close()
	_, raw, err := stored.Result(st, b.study.ID)
	check(b.t, err)
	return raw
}

// Bundles and further results have tables, and an unpublished answer leaves none behind.
func TestTablesByHandAndFurther(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of thousands of pairs, in one goroutine: TestTablesOfALaterResult has few")
	}
	w, data := wide(205, "[{kind: distance}]")
	b := newBench(t, w, data)
	b.carryAll()
	for _, name := range append(b.parties, "agg") {
		b.whole(name)
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	st := b.open("agg")
	options := b.deskOptions(st)
	checkExports(t, st, b.study.ID)
	answer, err := aggregator.Analyze(t.Context(), options, b.study, study.Analysis{Kind: study.Cosine}, 1<<30)
	check(t, err)
	check(t, answer.Result.CheckTables())
	signed, err := aggregator.Publish(options, b.study, answer)
	check(t, err)
	check(t, answer.Close())
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	check(t, st.Close())
	b.whole("agg")
	in := b.answer("a")
	check(t, b.byHand("a", fixed("a"), func(p *party.Party) error {
		_, err := p.Import(b.context(), bytes.NewReader(in))
		return err
	}))
	b.whole("a")
	st = b.open("a")
	defer st.Close()
	further, _, err := stored.FurtherResults(st, b.study)
	check(t, err)
	if len(further) != 1 || further[0].Statement.Document != signed.Document {
		t.Fatalf("there are %d further results", len(further))
	}
	check(t, further[0].Result.CheckTables())
}

// A later result replaces the first one, and its tables replace the first one's.
func TestTablesOfALaterResult(t *testing.T) {
	t.Parallel()
	w, data := wide(205, "[{kind: distance}]")
	b := lateParty(t, w, data)
	for _, name := range append(b.parties, "agg") {
		r := b.whole(name)
		parts, err := r.Parts()
		check(t, err)
		if len(r.Analyses[0].Features) != 411 || len(b.tables(name)) != len(parts) {
			t.Errorf("%s has %d features and %d parts, of which the document names %d", name, len(r.Analyses[0].Features), len(b.tables(name)), len(parts))
		}
	}
}

// checkExports compares the exported files of a table of distances.
func checkExports(t *testing.T, st *store.Store, id protocol.StudyID) {
	t.Helper()
	r, _, err := stored.Result(st, id)
	check(t, err)
	var want []analysis.Pair
	check(t, r.Analyses[0].EachPair(func(p analysis.Pair) error {
		want = append(want, p)
		return nil
	}))
	var array, rows, columns bytes.Buffer
	check(t, files.Dense(&array, r.Analyses[0].Dense))
	check(t, files.CSV(&rows, r.Tables()[0]))
	check(t, files.Parquet(&columns, r.Tables()[0]))
	header := 10 + int(binary.LittleEndian.Uint16(array.Bytes()[8:]))
	const record = 33
	if header%64 != 0 || array.Len() != header+record*len(want) || !strings.Contains(string(array.Bytes()[:header]), "('high', '<f8'), ('undefined', '|u1')]") {
		t.Fatalf("an array of %d bytes with the header %q", array.Len(), array.Bytes()[:header])
	}
	lines, err := csv.NewReader(&rows).ReadAll()
	check(t, err)
	from := parquet.NewReader(bytes.NewReader(columns.Bytes()))
	defer from.Close()
	if len(lines) != len(want)+1 || from.NumRows() != int64(len(want)) {
		t.Fatalf("%d lines and %d rows of %d pairs", len(lines), from.NumRows(), len(want))
	}
	row := make([]parquet.Row, 1)
	for i, p := range want {
		_, err := from.ReadRows(row)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		at := array.Bytes()[header+record*i:]
		line := lines[i+1]
		if p.Estimate == nil {
			t.Fatalf("pair (%d, %d) is undefined", p.I, p.J)
		}
		for what, got := range map[string]float64{
			"array": math.Float64frombits(binary.LittleEndian.Uint64(at)), "parquet": row[0][7].Double(),
		} {
			if got != *p.Estimate {
				t.Fatalf("pair (%d, %d) is %g in the %s, want %g", p.I, p.J, got, what, *p.Estimate)
			}
		}
		if line[3] != strconv.Itoa(p.I) || line[4] != strconv.Itoa(p.J) || line[7] != strconv.FormatFloat(*p.Estimate, 'g', -1, 64) || at[32] != 0 {
			t.Fatalf("pair (%d, %d) is %q", p.I, p.J, line)
		}
	}
}
