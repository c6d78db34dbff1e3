//go:build unix

package node_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"database/sql"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
)

// damage is one kind of damage to a stored state.
type damage struct {
	what string
	do   func(t *testing.T, dir string)
}

// flipped returns the bytes with one bit in the middle changed.
func flipped(b []byte) []byte {
	b = append([]byte(nil), b...)
	if len(b) == 0 {
		return []byte{1}
	}
	b[len(b)/2] ^= 1
	return b
}

// query runs a query on a state's database without its triggers: a failing disk bypasses them too.
func query(t *testing.T, dir string, do func(db *sql.DB)) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "state.db"))
	check(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	do(db)
}

func execute(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.Exec(statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func rowsOf(t *testing.T, db *sql.DB, statement string) (out [][]any) {
	t.Helper()
	found, err := db.Query(statement)
	check(t, err)
	defer found.Close()
	columns, err := found.Columns()
	check(t, err)
	for found.Next() {
		row := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		check(t, found.Scan(into...))
		out = append(out, row)
	}
	check(t, found.Err())
	return out
}

// tablesOf lists the tables of the database that this program made.
func tablesOf(t *testing.T, db *sql.DB) (names []string) {
	for _, row := range rowsOf(t, db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name") {
		names = append(names, fmt.Sprint(row[0]))
	}
	return names
}

// change writes a value into one cell of the database.
func change(table, column string, row, value any) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		query(t, dir, func(db *sql.DB) {
			execute(t, db, "PRAGMA ignore_check_constraints = 1")
			guards := rowsOf(t, db, "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
			for _, trigger := range guards {
				execute(t, db, fmt.Sprintf("DROP TRIGGER %s", trigger[0]))
			}
			if column == "" {
				execute(t, db, fmt.Sprintf("DELETE FROM %s WHERE rowid = ?", table), row)
			} else {
				execute(t, db, fmt.Sprintf("UPDATE %s SET %s = ? WHERE rowid = ?", table, column), value, row)
			}
			for _, trigger := range guards { // removing them is damage of its own: see damagedGuards
				execute(t, db, fmt.Sprint(trigger[1]))
			}
		})
	}
}

// damagedRows changes one bit in every value of every row of every table, and deletes every row.
func damagedRows(t *testing.T, dir string) (out []damage) {
	query(t, dir, func(db *sql.DB) {
		for _, table := range tablesOf(t, db) {
			var columns []string
			for _, c := range rowsOf(t, db, fmt.Sprintf("SELECT name FROM pragma_table_info('%s')", table)) {
				columns = append(columns, fmt.Sprint(c[0]))
			}
			for _, row := range rowsOf(t, db, fmt.Sprintf("SELECT rowid, %s FROM %s", strings.Join(columns, ", "), table)) {
				out = append(out, damage{fmt.Sprintf("%s %v gone", table, row[0]), change(table, "", row[0], nil)})
				for i, column := range columns {
					var other any
					switch v := row[i+1].(type) {
					case int64:
						other = v ^ 1<<20
					case string:
						other = string(flipped([]byte(v)))
					case []byte:
						other = flipped(v)
					}
					if other != nil {
						out = append(out, damage{fmt.Sprintf("%s.%s of %v", table, column, row[0]), change(table, column, row[0], other)})
					}
				}
			}
		}
	})
	return out
}

// damagedGuards removes every trigger, or makes it allow everything, and adds a table.
func damagedGuards(t *testing.T, dir string) (out []damage) {
	run := func(what, statement string) {
		out = append(out, damage{what, func(t *testing.T, dir string) {
			query(t, dir, func(db *sql.DB) { execute(t, db, statement) })
		}})
	}
	query(t, dir, func(db *sql.DB) {
		for _, trigger := range rowsOf(t, db, "SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'") {
			run(fmt.Sprintf("guard %s gone", trigger[0]), fmt.Sprintf("DROP TRIGGER %s", trigger[0]))
			run(fmt.Sprintf("guard %s idle", trigger[0]), fmt.Sprintf("DROP TRIGGER %s; CREATE TRIGGER %s BEFORE UPDATE ON %s BEGIN SELECT 1; END", trigger[0], trigger[0], trigger[1]))
		}
	})
	run("guard table too many", "CREATE TABLE more (x)")
	run("guard trigger too many", "CREATE TRIGGER more AFTER INSERT ON ledger BEGIN DELETE FROM people; END")
	return out
}

// damagedFiles changes a bit of every file, cuts its last byte, and removes it.
func damagedFiles(t *testing.T, dir string) (out []damage) {
	check(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		check(t, err)
		if strings.HasPrefix(name, "locks/") || strings.HasPrefix(name, "state.db") {
			return nil
		}
		rewrite := func(change func([]byte) []byte) func(*testing.T, string) {
			return func(t *testing.T, dir string) {
				data, err := os.ReadFile(filepath.Join(dir, name))
				check(t, err)
				check(t, os.WriteFile(filepath.Join(dir, name), change(data), 0o600))
			}
		}
		if info, err := d.Info(); err == nil && info.Size() > 0 {
			out = append(out, damage{name + " cut", rewrite(func(b []byte) []byte { return b[:len(b)-1] })})
		}
		out = append(out,
			damage{name + " changed", rewrite(flipped)},
			damage{name + " longer", rewrite(func(b []byte) []byte { return append(b, 'x') })},
			damage{name + " gone", func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, name))) }})
		return nil
	}))
	return out
}

// damageFound is what fsck finds wrong with a state, or why it cannot be opened; empty if all is
// well.
func damageFound(t *testing.T, dir string, role store.Role) string {
	t.Helper()
	st, err := store.Open(dir, role, store.Options{})
	if err != nil {
		return "opening: " + err.Error()
	}
	defer st.Close()
	findings, err := local.Fsck(t.Context(), local.FsckOptions{Store: st, Role: role})
	if err != nil {
		return "fsck: " + err.Error()
	}
	var out []string
	for _, f := range findings {
		if f.Verdict != local.Pass {
			out = append(out, fmt.Sprintf("%s %s: %s", f.Check, f.Subject, f.Said))
		}
	}
	return strings.Join(out, "; ")
}

// harmless returns the reason why fsck need not find a damage, or "" if it must. lastOfJournal
// names the row of the journal's last entry.
func harmless(d, lastOfJournal string) (why string) {
	switch {
	case strings.HasPrefix(d, "studies.status of"):
		return "it is what status shows, and written anew with every step; what is not JSON is found"
	case slices.Contains([]string{"identity.key cut", "identity.key longer", "hpke.key cut", "hpke.key longer", "ledger.id cut"}, d):
		return "the key between the lines is the same"
	case d == lastOfJournal+" gone" || strings.HasPrefix(d, lastOfJournal[:len("journal")]+".raw of"+lastOfJournal[len("journal"):]):
		return "nothing comes after the journal's end: advanced log verify --head holds it against a copy that is elsewhere"
	case strings.HasPrefix(d, "secrets/") && strings.HasSuffix(d, " gone"):
		return "secrets are destroyed in time, and no backup has them"
	}
	return ""
}

// tryAll tries every damage that only admits on a copy of a state. It reports those that fsck does
// not find.
func tryAll(t *testing.T, dir string, role store.Role, only func(string) bool) {
	t.Helper()
	if wrong := damageFound(t, dir, role); wrong != "" {
		t.Fatalf("%s is damaged before anything happened to it: %s", dir, wrong)
	}
	last := ""
	query(t, dir, func(db *sql.DB) {
		last = fmt.Sprintf("journal %v", rowsOf(t, db, "SELECT MAX(seq) FROM journal")[0][0])
	})
	tried := 0
	for _, d := range slices.Concat(damagedRows(t, dir), damagedFiles(t, dir), damagedGuards(t, dir)) {
		if !only(d.what) {
			continue
		}
		to := filepath.Join(t.TempDir(), "state")
		copyState(t, to, dir)
		d.do(t, to)
		if damageFound(t, to, role) == "" && harmless(d.what, last) == "" {
			t.Errorf("%s: fsck finds nothing wrong: %s", filepath.Base(dir), d.what)
		}
		check(t, os.RemoveAll(to))
		tried++
	}
	if tried == 0 {
		t.Errorf("%s: no damage was tried", dir)
	}
}

// every admits every damage of a state. Without COSKETCH_FULL it admits only the first row of long
// tables, and only a changed bit or the removal of files.
func every(d string) bool {
	if full.Asked() {
		return true
	}
	for _, table := range []string{"board", "journal", "own"} {
		if strings.HasPrefix(d, table) && !strings.HasSuffix(d, " 1") && !strings.HasSuffix(d, " 1 gone") {
			return false
		}
	}
	return !strings.HasSuffix(d, " cut") && !strings.HasSuffix(d, " longer") || strings.HasPrefix(d, "uploads")
}

func prefixed(any ...string) func(string) bool {
	return func(d string) bool {
		return slices.ContainsFunc(any, func(p string) bool { return strings.HasPrefix(d, p) })
	}
}

// A change in any value of any table, any row and any file of a party and of an aggregator is
// found, except those that harmless explains.
func TestFsckFindsEveryDamage(t *testing.T) {
	t.Parallel()
	b, stop := answered(t, curious())
	ctx := b.context()
	_, err := b.ask(ctx, "a", "new.csv")
	check(t, err)
	stop()
	st := b.open("agg")
	answer, err := aggregator.Analyze(ctx, b.deskOptions(st), b.study, b.study.Analyses[0], 1<<30)
	check(t, err)
	_, err = aggregator.Publish(b.deskOptions(st), b.study, answer)
	check(t, err)
	check(t, st.PutToken("0123abcd", []byte(`{"id":"0123abcd"}`)))
	check(t, st.Close())
	tryAll(t, b.path("a"), store.Party, every)
	tryAll(t, b.path("agg"), store.Aggregator, every)

	// A study does not leave these behind: a second person's cosignature, secrets of an attempt in
	// progress, a successor, a purge.
	st = b.open("b")
	self, err := st.ID()
	check(t, err)
	_, second, err := ed25519.GenerateKey(fixed("second"))
	check(t, err)
	signer, err := protocol.NewSigner(second)
	check(t, err)
	yes := signer.Cosign(b.study.ID, self)
	check(t, st.PutCosignature(b.study.ID, yes.By, yes.String(), now()))
	check(t, st.PutSecret(b.study.ID, 1, []byte("the seed of an attempt")))
	_, err = st.Rotate(b.path("next"), fixed("next"), now())
	check(t, err)
	check(t, st.Close())
	tryAll(t, b.path("b"), store.Party, prefixed("cosignatures", "retired", "secrets/"))
	tryAll(t, b.path("next"), store.Party, prefixed("ledger", "meta"))
	st = b.open("agg")
	_, err = st.Purge(b.study.ID, now())
	check(t, err)
	check(t, st.Close())
	tryAll(t, b.path("agg"), store.Aggregator, prefixed("purged"))
}

// A sketch held until its steward releases it is checked too.
func TestFsckLooksAtWhatIsHeld(t *testing.T) {
	t.Parallel()
	w := smallSketch
	w.release = "ask"
	b := newBench(t, w, uniform(50))
	stop := b.serve()
	defer stop()
	var others sync.WaitGroup
	ctx, cancel := context.WithCancel(b.context())
	for _, name := range []string{"b", "c"} {
		others.Go(func() { b.run(ctx, name, nil) })
	}
	if err := b.process(ctx, "held"); !killed(err) {
		t.Fatalf("the party was to die when its sketch is held, and ended with: %v", err)
	}
	cancel()
	others.Wait()
	if wrong := damageFound(t, b.path("a"), store.Party); wrong != "" {
		t.Errorf("what is held and not decided: %s", wrong)
	}
	b.release()
	tryAll(t, b.path("a"), store.Party, prefixed("held/", "secrets/"))
}

// busy is a context that lets a node write while fsck checks its state.
type busy struct {
	context.Context
	do func()
}

func (b busy) Err() error {
	b.do()
	return b.Context.Err()
}

// A decision made while fsck runs is not damage: fsck reads the journal again, which has it.
func TestFsckBesideARunningNode(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("a")
	defer st.Close()
	decided := 0
	ctx := busy{t.Context(), func() {
		decided++
		check(t, st.PutDecision(b.study.ID, store.Decline, now()))
	}}
	findings, err := local.Fsck(ctx, local.FsckOptions{Store: st, Role: store.Party})
	check(t, err)
	for _, f := range findings {
		if f.Verdict != local.Pass {
			t.Errorf("%s %s: %s", f.Check, f.Subject, f.Said)
		}
	}
	if decided == 0 {
		t.Error("nothing was decided while it looked")
	}
}

// What a killed process left half done, and what a party never sent, is reported but is not damage.
func TestFsckKnowsWhatIsHalfDone(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	check(t, st.PutResult(b.study.ID, "result.json", []byte("{}")))
	check(t, st.Close())
	verdicts := func() (warned, failed []string) {
		st := b.open("agg")
		defer st.Close()
		findings, err := local.Fsck(t.Context(), local.FsckOptions{Store: st, Role: store.Aggregator})
		check(t, err)
		for _, f := range findings {
			switch f.Verdict {
			case local.Warn:
				warned = append(warned, f.Check)
			case local.Fail:
				failed = append(failed, f.Check+": "+f.Said)
			}
		}
		return warned, failed
	}
	if warned, failed := verdicts(); !slices.Equal(warned, []string{"result"}) || failed != nil {
		t.Errorf("a result that is not signed yet: warns of %v, fails for %v", warned, failed)
	}
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	stop()
	query(t, b.path("agg"), func(db *sql.DB) { execute(t, db, "DELETE FROM ledger_heads WHERE rowid = 1") })
	if warned, failed := verdicts(); !slices.Equal(warned, []string{"ledger heads"}) || failed != nil {
		t.Errorf("a party without a ledger head: warns of %v, fails for %v", warned, failed)
	}
}

// A flipped bit anywhere in the database is found, or changed no stored value.
func TestFsckFindsFlippedBits(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	stop()
	dir := b.path("a")
	contents := func(dir string) (text string) {
		query(t, dir, func(db *sql.DB) {
			for _, table := range tablesOf(t, db) {
				rows := "* FROM " + table
				switch table { // harmless explains the omissions
				case "studies":
					rows = "id, source, added FROM studies"
				case "journal":
					rows = "* FROM journal WHERE seq < (SELECT MAX(seq) FROM journal)"
				}
				text += fmt.Sprint(table, rowsOf(t, db, "SELECT "+rows), "\n")
			}
		})
		return text
	}
	before := contents(dir)
	whole, err := os.ReadFile(filepath.Join(dir, "state.db"))
	check(t, err)
	random, flips, noticed := rand.New(rand.NewPCG(1, 2)), full.Or(60, 1000), 0
	for range flips {
		at, bit := random.IntN(len(whole)), byte(1)<<random.IntN(8)
		to := filepath.Join(t.TempDir(), "state")
		copyState(t, to, dir)
		changed := bytes.Clone(whole)
		changed[at] ^= bit
		check(t, os.WriteFile(filepath.Join(to, "state.db"), changed, 0o600))
		if damageFound(t, to, store.Party) != "" {
			noticed++
		} else if contents(to) != before {
			t.Errorf("bit %d of byte %d flips, fsck finds nothing wrong, and the database holds something else", bit, at)
		}
		check(t, os.RemoveAll(to))
	}
	if noticed < flips/10 {
		t.Errorf("%d of %d flips were found", noticed, flips)
	}
}
