package mutate

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/cosketch/cosketch/protocol/protocoltest/overlaytest"
)

// Options say which mutants are drawn.
type Options struct {
	Root     string // of the repository
	Seed     uint64
	Count    int      // of mutants
	Packages []string // paths from Packages; empty: all
}

// Packages returns the paths of the packages that can be mutated.
func Packages() []string {
	var out []string
	for _, s := range subjects {
		out = append(out, s.path)
	}
	return out
}

// Score counts drawn mutants and those that tests detected.
type Score struct{ Drawn, Killed int }

// Enough reports whether at least nine of ten were detected.
func (s Score) Enough() bool { return 10*s.Killed >= 9*s.Drawn }

// Run draws mutants, tests them one after another, and prints the verdict of each, then the scores.
// It returns the total score.
func Run(ctx context.Context, opts Options, out io.Writer) (Score, error) {
	known, err := equivalents(equivalentText)
	if err != nil {
		return Score{}, err
	}
	chosen := subjects
	if len(opts.Packages) > 0 {
		chosen = slices.DeleteFunc(slices.Clone(subjects), func(s subject) bool { return !slices.Contains(opts.Packages, s.path) })
	}
	return run(ctx, opts, chosen, known, out)
}

func run(ctx context.Context, opts Options, of []subject, known []equivalent, out io.Writer) (total Score, err error) {
	drawn, err := draw(ctx, opts, of, known)
	if err != nil {
		return Score{}, err
	}
	fmt.Fprintf(out, "%d mutants, seed %d\n", len(drawn), opts.Seed)
	limits, scores := limits{root: opts.Root}, map[string]Score{}
	for _, m := range drawn {
		verdict, failed := limits.judge(ctx, m)
		if failed != nil {
			err = fmt.Errorf("%s: %w", m.place(), failed)
			break // still print the scores so far
		}
		score := scores[m.subject.path]
		score.Drawn++
		if verdict == overlaytest.Passed {
			fmt.Fprintf(out, "survived %s\n\t%s\n\t- %s\n\t+ %s\n", m.place(), m.in, m.old, m.new)
		} else {
			fmt.Fprintf(out, "noticed  %s\n", m.place())
			score.Killed++
		}
		scores[m.subject.path] = score
	}
	fmt.Fprintln(out)
	for _, s := range of {
		score := scores[s.path]
		total.Drawn, total.Killed = total.Drawn+score.Drawn, total.Killed+score.Killed
		fmt.Fprintf(out, "%-22s %3d of %3d noticed\n", s.path, score.Killed, score.Drawn)
	}
	fmt.Fprintf(out, "%-22s %3d of %3d noticed\n", "all", total.Killed, total.Drawn)
	return total, err
}

// draw returns mutants that compile and are not known to be equivalent. For the same code, equal
// seeds draw equal mutants.
func draw(ctx context.Context, opts Options, of []subject, known []equivalent) ([]mutant, error) {
	c, err := load(ctx, opts.Root, of)
	if err != nil {
		return nil, err
	}
	var all, out []mutant
	for _, s := range of {
		found, err := mutants(s, c.packages[s.path], c.source)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	random := rand.New(rand.NewPCG(opts.Seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, m := range all {
		if len(out) == opts.Count {
			break
		}
		if slices.ContainsFunc(known, func(e equivalent) bool { return e.of(m) }) {
			continue
		}
		ok, err := c.compiles(m)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, m)
		}
	}
	return out, nil
}

// limits holds timeouts of tests, measured on the unchanged code.
type limits struct {
	root string
	of   map[suite]time.Duration
}

// judge runs the tests until one detects the mutant, which must compile.
func (l *limits) judge(ctx context.Context, m mutant) (overlaytest.Verdict, error) {
	for _, t := range m.subject.tests() {
		limit, err := l.limit(ctx, t)
		if err != nil {
			return "", err
		}
		verdict, _, err := m.change.Test(ctx, l.root, limit, t.args()...)
		if err != nil || verdict != overlaytest.Passed { // not built: tests that compile only with the unchanged code
			return verdict, err
		}
	}
	return overlaytest.Passed, nil
}

func (t suite) args() []string {
	args := []string{"-short"}
	if t.run != "" {
		args = append(args, "-run", t.run)
	}
	return append(args, "./"+t.path)
}

// limit returns ten times what the tests take without a change, but at least 30 seconds, because
// the machine may be busy.
func (l *limits) limit(ctx context.Context, t suite) (time.Duration, error) {
	if limit, ok := l.of[t]; ok {
		return limit, nil
	}
	began := time.Now()
	verdict, said, err := overlaytest.Run(ctx, l.root, 10*time.Minute, append([]string{"-count=1"}, t.args()...)...)
	if err == nil && verdict != overlaytest.Passed {
		err = fmt.Errorf("its tests do not pass as they are: %s", strings.TrimSpace(said))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", t.path, err)
	}
	if l.of == nil {
		l.of = map[suite]time.Duration{}
	}
	l.of[t] = max(30*time.Second, 10*time.Since(began))
	return l.of[t], nil
}
