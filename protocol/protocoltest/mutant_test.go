package protocoltest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// mutant is a bug that somebody could write, as a change of one file.
type mutant struct {
	name     string
	file     string // from the repository's root
	old, new string
}

// mutants break the invariants one by one. The simulations must find each.
var mutants = []mutant{
	{"confirmations are counted and not checked", "protocol/session/advance.go",
		"if err := outcome.Check(m.ID, c.Confirm); err != nil {\n\t\t\tif", "if err := outcome.Check(m.ID, c.Confirm); err != nil && a == nil {\n\t\t\tif"},
	{"a second commit takes the place of the first", "protocol/session/view.go",
		"return fault(e, ErrConflict)", "if e.Kind() != protocol.KindCommit {\n\t\t\treturn fault(e, ErrConflict)\n\t\t}"},
	{"who was struck stays on the roster", "protocol/session/attempt.go",
		"return a.removal(m.ID) != nil })", "return a.removal(m.ID) != nil && a.number > 99 })"},
	{"a complaint convicts whoever complains", "seed/agree/complaint.go",
		"if len(faults) > 0 {\n\t\treturn faults, nil", "if len(faults) > 0 {\n\t\treturn []Fault{{Member: complainant, Err: ErrUnfounded}}, nil"},
	{"a newcomer takes any seed", "protocol/session/newcomer.go",
		"if outcome.Check(m.ID, a.confirms[m.ID].Confirm) != nil {", "if outcome.Check(m.ID, a.confirms[m.ID].Confirm) != nil && outcome.Seed.IsZero() {"},
	{"nobody holds public row keys against the seed", "seed/agree/publish.go",
		"!slices.Equal(want, c.Published) {", "!slices.Equal(want, c.Published) && o.Seed.IsZero() {"},
	{"a release shows any public row key", "protocol/session/confirm.go",
		"if agree.PublishedHash(labels[i], key) != confirmed[i] {", "if agree.PublishedHash(labels[i], key) != confirmed[i] && i > 9 {"},
	{"a party signs before it has read the board", "protocol/session/advance.go",
		"if !p.live {", "if false {"},
	{"a newcomer with the seed forgets to say that it has joined", "protocol/session/advance.go",
		"return p.toJoined(a, out) //", "return nil //"},
	{"nobody looks at what newcomers prove", "protocol/session/advance.go",
		"p.checkNewcomers(a)", "if false {\n\t\tp.checkNewcomers(a)\n\t}"},
	{"a stop forgets who was missing", "protocol/session/culprit.go",
		"range v.stop.Missing {", "range v.stop.Missing[:0] {"},
	{"what is proved is called a claim", "protocol/session/culprit.go",
		"if r.Proved {", "if r.Proved && v.stop == nil {"},
	{"noise is drawn anew on retry", "protocol/protocoltest/job.go",
		"if p.Store.Release == nil || p.Store", "if len(p.Store.Own) > 0 || p.Store"},
	{"the ledger is debited at each try", "protocol/protocoltest/job.go",
		"if p.Store.Debited <= p.Store.released(job.Attempt) {", "if p.Store.Debited >= 0 {"},
	{"masks do not cancel", "protocol/release/masked.go", "word = -word", "word += 0"},
	{"secrets of a later attempt go with those of a void one", "protocol/session/void.go",
		"if p.seeded != nil { // it has not", "if p.seeded != nil || len(p.tries) > 0 { // it has not"},
	{"a party sends what has lost its turn", "protocol/session/party.go",
		"case p.view.turn(e) != nil && !p.answers(e):", "case p.view.turn(e) != nil && p.view.current() == nil && !p.answers(e):"},
	{"what has lost its turn is refused", "protocol/session/turns.go",
		`return fmt.Errorf("%w: %w", ErrPassed, v.because(e, phase))`, `return fmt.Errorf("%w: %w", ErrPremature, v.because(e, phase))`},
	{"messages leave before they are stored", "protocol/protocoltest/party.go",
		"\tfor _, record := range effects.Persist {", "\tif p.outbox = effects.Send; len(p.outbox) > 0 && p.sim.Aggregator.machine != nil {\n\t\tp.post()\n\t}\n\tfor _, record := range effects.Persist {"},
}

// Each mutant's place is there, once; and with COSKETCH_FULL=1 each is built and must
// be found by the simulations.
func TestMutantsAreFound(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join(root, filepath.FromSlash(m.file))
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), m.old); n != 1 {
				t.Fatalf("%s has the mutant's place %d times", m.file, n)
			}
			if os.Getenv("COSKETCH_FULL") != "1" {
				return
			}
			dir := t.TempDir()
			changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
			text, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
			if err != nil {
				t.Fatal(err)
			}
			for path, data := range map[string][]byte{changed: []byte(strings.Replace(string(source), m.old, m.new, 1)), overlay: text} {
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-failfast", "-run", "RandomSchedules|Scenarios|Boards|Stores|Newcomers", "./protocol/protocoltest")
			cmd.Dir, cmd.Env = root, append(os.Environ(), "COSKETCH_FULL=0")
			out, err := cmd.CombinedOutput()
			switch {
			case err == nil:
				t.Error("nobody has found it")
			case !strings.Contains(string(out), "--- FAIL"):
				t.Errorf("it does not build, or hangs: %s", out)
			}
		})
	}
}
