// Package papers recomputes the tables and figures of the project's sources, each beside the
// published value and the theory. It uses the project's own projections, noise and analyses, called
// in this process where a table takes hundreds of repetitions.
//
// A published number that depends on one drawn matrix is not a target. It is compared with the
// distribution over matrices.
package papers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/testnet/corpus"
)

// Table is one table or figure of a source.
type Table struct {
	Name     string   `json:"name"`   // name on the command line
	Source   string   `json:"source"` // paper, and its table or figure
	Question string   `json:"question"`
	Setting  string   `json:"setting"`
	Columns  []string `json:"columns"`
	Lines    []Line   `json:"lines"`
	Notes    []string `json:"notes"`
	Played   []Played `json:"played,omitempty"`  // studies on running nodes
	Beyond   *Beyond  `json:"beyond,omitempty"`  // comparison with other mechanisms and a lower bound
	Missing  string   `json:"missing,omitempty"` // why there are no lines
	charts   []figure.Chart
}

// Line is one row of a table: cells as text, and whether our result is within its tolerance.
type Line struct {
	Cells   []string `json:"cells"` // one per column
	Holds   bool     `json:"holds"`
	Because string   `json:"because"` // the condition that was checked
}

// Holds reports whether all lines and studies hold.
func (t Table) Holds() bool {
	for _, p := range t.Played {
		if slices.ContainsFunc(p.Lines, func(l PlayedLine) bool { return !l.Holds }) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Lines, func(l Line) bool { return !l.Holds })
}

// Options of a run.
type Options struct {
	Corpus  *corpus.Corpus // nil: tables that need data have Missing set
	Repeats int            // number of random draws; default: each table's own
	Workers int            // goroutines; default 1. They affect only the speed
	Player  Player         // nil: no studies are played

	// Drawn holds the results of studies, by name. A study in it is not played again; others are
	// added. Tables share studies through it.
	Drawn map[string][]Drawn
}

// maker makes one table.
type maker struct {
	name    string
	about   string
	data    bool // needs a corpus
	repeats int  // default
	make    func(ctx context.Context, o Options) (Table, error)
}

func makers() []maker {
	return []maker{
		{"liu-1", "Liu et al. 2006, table I: inner products, Adult", true, 60, func(ctx context.Context, o Options) (Table, error) { return liuErrors(ctx, o, tableOne) }},
		{"liu-2", "Liu et al. 2006, table II: squared distances, Adult", true, 60, func(ctx context.Context, o Options) (Table, error) { return liuErrors(ctx, o, tableTwo) }},
		{"liu-3", "Liu et al. 2006, table III: k-means, control charts", true, 30, liuClusters},
		{"liu-4", "Liu et al. 2006, table IV: voted perceptron, Iris", true, 60, liuIris},
		{"liu-6", "Liu et al. 2006, figure 6: errors of inner products", false, 6, liuProducts},
		{"liu-sections", "Liu et al. 2006, sections III and IV: rotations, and what independent components recover", false, 20, liuComponents},
		{"kenthapadi-1", "Kenthapadi et al. 2012, figure 1: ε against δ and σ", false, 1, kenthapadiTradeoff},
		{"kenthapadi-2", "Kenthapadi et al. 2012, theorem 2: the variance of a distance, four projections", false, 4_000, kenthapadiVariance},
		{"kenthapadi-3", "Kenthapadi et al. 2012, section 3.3: the best k", false, 4_000, kenthapadiBest},
		{"kenthapadi-4", "Kenthapadi et al. 2012, section 4: noise on distances, randomised response", false, 1, kenthapadiRivals},
		{"kenthapadi-5", "Kenthapadi et al. 2012, algorithms 1 to 6, simulated", false, 4_000, kenthapadiAlgorithms},
		{"dppro-2", "Xu et al. 2017, figure 2: errors of distances by ε, Retail", true, 20, dpproPrivacy},
		{"dppro-3", "Xu et al. 2017, figure 3 and lemma 5: errors of distances by k, Retail", true, 20, dpproErrors},
		{"dppro-5", "Xu et al. 2017, figure 5: SVM, Adult", true, 2, dpproClassifier},
		{"dhaliwal-1", "Dhaliwal et al. 2019, table 1: k-means under noise", false, 60, dhaliwalClusters},
		{"dhaliwal-3", "Dhaliwal et al. 2019, figure 3: recovered distances", false, 200, dhaliwalDistances},
		{"dhaliwal-4", "Dhaliwal et al. 2019, figure 4: spread of the released data", false, 400, dhaliwalSpread},
	}
}

// About returns the name of each table with a description.
func About() (out [][2]string) {
	for _, m := range makers() {
		out = append(out, [2]string{m.name, m.about})
	}
	return out
}

// Make computes one table. If data are missing, Missing says so.
func Make(ctx context.Context, name string, o Options) (Table, error) {
	at := slices.IndexFunc(makers(), func(m maker) bool { return m.name == name })
	if at < 0 {
		var names []string
		for _, m := range makers() {
			names = append(names, m.name)
		}
		return Table{}, fmt.Errorf("no table %q; there are %s", name, strings.Join(names, ", "))
	}
	m := makers()[at]
	if o.Repeats == 0 {
		o.Repeats = m.repeats
	}
	o.Workers = max(o.Workers, 1)
	if m.data && o.Corpus == nil {
		return Table{Name: m.name, Source: m.about, Missing: corpus.ErrNone.Error()}, nil
	}
	t, err := m.make(ctx, o)
	if err != nil {
		return Table{}, fmt.Errorf("making %s: %w", m.name, err)
	}
	t.Name, t.Source = m.name, m.about
	return t, nil
}

// each calls f for 0 to n-1 on the workers and returns the results in order.
func each[T any](ctx context.Context, o Options, n int, f func(i int) (T, error)) ([]T, error) {
	out, errs := make([]T, n), make([]error, o.Workers)
	done := make(chan struct{})
	for w := range o.Workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := w; i < n && ctx.Err() == nil && errs[w] == nil; i += o.Workers {
				out[i], errs[w] = f(i)
			}
		}()
	}
	for range o.Workers {
		<-done
	}
	return out, errors.Join(append(errs, ctx.Err())...)
}
