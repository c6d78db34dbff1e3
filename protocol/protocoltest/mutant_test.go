package protocoltest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/protocoltest/overlaytest"
)

// mutant is a plausible bug, as a change of one statement of production code. For a statement with
// a body, such as an if, old is the part before the body, and the body stays.
type mutant struct {
	name     string
	in       string // package, from the repository's root, and function with its receiver's type
	old, new string
}

// mutants break the invariants one by one. The simulations must find each.
var mutants = []mutant{
	{"confirmations are counted and not checked", "protocol/session.Party.certify",
		"if err := outcome.Check(m.ID, c.Confirm); err != nil", "if err := outcome.Check(m.ID, c.Confirm); err != nil && a == nil"},
	{"a second commit takes the place of the first", "protocol/session.view.admit",
		"return fault(e, ErrConflict)", "if e.Kind() != protocol.KindCommit {\n\t\t\treturn fault(e, ErrConflict)\n\t\t}"},
	{"who was struck stays on the roster", "protocol/session.attempt.survivors",
		"return a.removal(m.ID) != nil", "return a.removal(m.ID) != nil && a.number > 99"},
	{"a complaint convicts whoever complains", "seed/agree.Record.Examine",
		"return faults, nil", "return []Fault{{Member: complainant, Err: ErrUnfounded}}, nil"},
	{"a newcomer takes any seed", "protocol/session.Party.acceptable",
		"if c, _ := a.confirmed(m.ID); outcome.Check(m.ID, c.Confirm) != nil", "if c, _ := a.confirmed(m.ID); outcome.Check(m.ID, c.Confirm) != nil && outcome.Seed.IsZero()"},
	{"nobody holds public row keys against the seed", "seed/agree.Outcome.checkPublished",
		"if err == nil && !slices.Equal(want, c.Published)", "if err == nil && !slices.Equal(want, c.Published) && o.Seed.IsZero()"},
	{"a release shows any public row key", "protocol/session.view.checkPublished",
		"if agree.PublishedHash(labels[i], key) != confirmed[i]", "if agree.PublishedHash(labels[i], key) != confirmed[i] && i > 9"},
	{"a party signs before it has read the board", "protocol/session.Party.advance",
		"if !p.live", "if false"},
	{"a newcomer with the seed forgets to say that it has joined", "protocol/session.Party.seededSteps",
		"return p.toJoined(a, out)", "return nil"},
	{"nobody looks at what newcomers prove", "protocol/session.Party.seededSteps",
		"p.checkNewcomers(a)", "if false {\n\t\tp.checkNewcomers(a)\n\t}"},
	{"a stop forgets who was missing", "protocol/session.view.culprits",
		"for _, id := range v.stop.Missing", "for _, id := range v.stop.Missing[:0]"},
	{"what is proved is called a claim", "protocol/session.view.culprits",
		"if r.Proved", "if r.Proved && v.stop == nil"},
	{"noise is drawn anew on retry", "protocol/release/job.Run",
		"if stored == ours", "if stored == ours && spec.Study == nil"},
	{"the ledger is debited at each try", "protocol/release/job.Spec.Due",
		"if _, paid := ledger.Debited(entries, next); paid", "if _, paid := ledger.Debited(entries, next); paid && next.Sketch > 99"},
	{"a release after a void one is not paid for", "protocol/release/job.Study.entry",
		"e.Round = w.Round", "e.Round = 0 * w.Round"},
	{"a masked sketch leaves without its mask", "protocol/release/job.run.seal",
		"if err := r.spec.What.mask(plan, one); err != nil", "one.Masked = r.spec.What.(Study).Pairs.Members()\n\t\tif err := error(nil); err != nil && plan.Values < 0"},
	{"masks do not cancel", "protocol/release.addMask",
		"word = -word", "word += 0"},
	{"secrets of a later attempt go with those of a void one", "protocol/session.Party.leave",
		"p.seededIn, p.released, p.uploaded = 0, false, false", "p.seededIn, p.released, p.uploaded = 0, false, false\n\tif len(p.tries) > 0 {\n\t\tp.destroy(0, out)\n\t}"},
	{"a party sends what has lost its turn", "protocol/session.Party.unposted",
		"case p.view.turn(e) != nil && !p.answers(e)", "case p.view.turn(e) != nil && p.view.current() == nil && !p.answers(e)"},
	{"what has lost its turn is refused", "protocol/session.view.turn",
		`return fmt.Errorf("%w: %w", ErrPassed, v.because(e, phase))`, `return fmt.Errorf("%w: %w", ErrPremature, v.because(e, phase))`},
	{"messages leave that are not stored", "protocol/session/drive.Party.Step",
		"if err := p.store.Persist(record); err != nil", "if _, own := record.(session.SaveEnvelope); own {\n\t\t\tcontinue\n\t\t}\n\t\tif err := p.store.Persist(record); err != nil"},
	{"secrets are stored only sometimes", "protocol/session/drive.Party.Step",
		"for _, record := range effects.Persist", "for _, record := range effects.Persist[len(effects.Persist)/2:]"},
	{"a job that failed is forgotten", "protocol/session/drive.Party.Work",
		"event, err := jobs.Run(ctx, job)", "event, err := jobs.Run(ctx, job)\n\tif p.run = p.run[1:]; err != nil && p.broken == nil {\n\t\treturn nil\n\t}\n\tp.run = append([]session.Job{job}, p.run...)"},
}

// find returns the change; its statement must occur exactly once in the function, below root.
func (m mutant) find(root string) (overlaytest.Change, error) {
	slash := strings.LastIndex(m.in, "/")
	dot := slash + strings.Index(m.in[slash:], ".")
	folder, function := filepath.Join(root, filepath.FromSlash(m.in[:dot])), m.in[dot+1:]
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return overlaytest.Change{}, err
	}
	var found []overlaytest.Change
	functions := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return overlaytest.Change{}, err
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
		if err != nil {
			return overlaytest.Change{}, err
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || overlaytest.Name(fn) != function {
				continue
			}
			functions++
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if begin, end := statement(n); begin.IsValid() {
					from, to := set.Position(begin).Offset, set.Position(end).Offset
					if text := strings.TrimSpace(string(source[from:to])); text == m.old {
						found = append(found, overlaytest.Change{File: name, From: from, To: from + len(text), New: m.new})
					}
				}
				return true
			})
		}
	}
	if functions != 1 || len(found) != 1 {
		return overlaytest.Change{}, fmt.Errorf("%d functions %s, which have the statement %d times: %s", functions, m.in, len(found), m.old)
	}
	return found[0], nil
}

// statement returns the position of a statement without its body; invalid positions for other
// nodes.
func statement(n ast.Node) (from, to token.Pos) {
	switch n := n.(type) {
	case *ast.IfStmt:
		return n.Pos(), n.Body.Pos()
	case *ast.ForStmt:
		return n.Pos(), n.Body.Pos()
	case *ast.RangeStmt:
		return n.Pos(), n.Body.Pos()
	case *ast.CaseClause:
		return n.Pos(), n.Colon
	case *ast.BlockStmt:
		return token.NoPos, token.NoPos
	case ast.Stmt:
		return n.Pos(), n.End()
	}
	return token.NoPos, token.NoPos
}

// Each mutant's statement occurs exactly once. With COSKETCH_FULL=1 each mutant is built and must
// be found by the simulations.
func TestMutantsAreFound(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			change, err := m.find(root)
			if err != nil {
				t.Fatal(err)
			}
			if !full.Asked() {
				return
			}
			verdict, out, err := change.Test(t.Context(), root, 3*time.Minute, "-short", "-run", "RandomSchedules|Scenarios|Boards|Stores|Newcomers", "./protocol/protocoltest")
			switch {
			case err != nil:
				t.Fatal(err)
			case verdict == overlaytest.Passed:
				t.Error("nobody has found it")
			case verdict != overlaytest.Failed || !strings.Contains(out, "--- FAIL"):
				t.Errorf("it %s: %s", verdict, out)
			}
		})
	}
}
