// Package figures counts what decides how easily the code is changed: its lines, what packages
// export, files that lean on each other, the functions that one study runs, and the places on
// which privacy rests.
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

// Section is one figure, counted for each folder, package or file.
type Section struct {
	Title  string
	Total  bool // the counts add up, and stand in the order of their names; else the greatest come first
	Counts map[string]int
}

// Of counts the code that lies in a folder. With study it runs one study of the tests, too.
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

// Tell prints the figures of one state of the code, or of several side by side: of packages
// and files those with the greatest counts, as many as rows says.
func Tell(w io.Writer, names []string, states [][]Section, rows int) {
	for i, section := range states[0] {
		head := []string{section.Title}
		keys := map[string]int{} // the greatest count of each
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

// row is a row of a table: its name, and one count of each state.
func row(name string, states [][]Section, count func([]Section) int) []string {
	out := []string{name}
	for _, state := range states {
		out = append(out, strconv.Itoa(count(state)))
	}
	return out
}
