// Package figures measures how easily the code can be changed: its lines, exported names, files
// that depend on each other, the functions that one study runs, and the calls that privacy depends
// on.
package figures

import (
	"context"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/testnet/tree"
)

// Section is one figure, with a count for each folder, package or file.
type Section struct {
	Title  string
	Total  bool // print all counts, by name, and their sum; otherwise the largest first
	Counts map[string]int
}

// Of counts the code in a folder. With study it also runs the test that plays one study.
func Of(ctx context.Context, root string, study bool) ([]Section, error) {
	out, err := sources(root)
	if err != nil {
		return nil, err
	}
	loaded, err := load(ctx, root)
	if err != nil {
		return nil, err
	}
	out = append(out, exported(loaded), pairs(loaded))
	if study {
		ran, err := ranInStudy(ctx, root, loaded)
		if err != nil {
			return nil, err
		}
		out = append(out, ran)
	}
	return append(out, callers(loaded, "calls that debit a ledger", debits), callers(loaded, "calls that draw noise", draws)), nil
}

// OfCommit counts the code of another commit of a repository.
func OfCommit(ctx context.Context, root, commit string, study bool) (out []Section, err error) {
	err = tree.At(ctx, root, commit, func(dir string) error {
		out, err = Of(ctx, dir, study)
		return err
	})
	return out, err
}

// Tell prints the figures of one or several states of the code side by side. Of packages and files
// it prints the rows with the largest counts.
func Tell(w io.Writer, names []string, states [][]Section, rows int) {
	for i, section := range states[0] {
		head := []string{section.Title}
		keys := map[string]int{} // largest count over all states
		for s, state := range states {
			head = append(head, ">"+names[s])
			for key, n := range state[i].Counts {
				keys[key] = max(keys[key], n)
			}
		}
		t := present.NewTable(head...)
		order := slices.Sorted(maps.Keys(keys))
		if !section.Total {
			slices.SortStableFunc(order, func(a, b string) int { return keys[b] - keys[a] })
			order = order[:min(rows, len(order))]
		}
		for _, key := range order {
			t.Add(row(key, states, func(s []Section) int { return s[i].Counts[key] })...)
		}
		if section.Total {
			t.Add(row("together", states, func(s []Section) (n int) {
				for _, c := range s[i].Counts {
					n += c
				}
				return n
			})...)
		}
		t.Write(w)
		io.WriteString(w, "\n")
	}
}

// row returns a row of a table: its name, and one count per state.
func row(name string, states [][]Section, count func([]Section) int) []string {
	out := []string{name}
	for _, state := range states {
		out = append(out, strconv.Itoa(count(state)))
	}
	return out
}
