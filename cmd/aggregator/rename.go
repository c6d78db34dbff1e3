package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/joining"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// takeNames renames parties' columns to the study's names; the keys of names are PARTY:COLUMN. The
// parties' data keep their own names, which the site files map.
func takeNames(parties []file.DraftParty, names map[string]string) error {
	var all []string
	done := map[string]bool{}
	for i, p := range parties {
		columns := slices.Clone(p.Columns)
		for j, c := range columns {
			of := p.Name + ":" + c.Name
			all = append(all, of)
			if name, found := names[of]; found {
				columns[j].Name, done[of] = name, true
			}
		}
		parties[i].Columns = columns
	}
	for _, of := range slices.Sorted(maps.Keys(names)) {
		if done[of] {
			continue
		}
		if near := schema.Closest(of, all); near != "" {
			return fmt.Errorf("--rename: no column list has %q (did you mean %q?)", of, near)
		}
		return fmt.Errorf("--rename: no column list has %q, written PARTY:COLUMN", of)
	}
	return nil
}

// renames proposes renaming columns of the other lists to those of the first that seem to be the
// same, with the reason for each.
func renames(parties []file.DraftParty) (names map[string]string, why []string) {
	names = map[string]string{}
	if len(parties) == 0 {
		return names, nil
	}
	first := parties[0]
	for _, p := range parties[1:] {
		var wanted []joining.Wanted
		for _, c := range without(first.Columns, p.Columns) {
			wanted = append(wanted, joining.Wanted{Name: c.Name, Kind: c.Kind})
		}
		var held []joining.Held
		for _, c := range without(p.Columns, first.Columns) {
			held = append(held, joining.Held{Name: c.Name, Kind: dataset.Kind(c.Kind)})
		}
		for i, m := range joining.Proposal(wanted, held, nil) {
			if m.Header != "" {
				names[p.Name+":"+m.Header] = wanted[i].Name
				why = append(why, fmt.Sprintf("%q of %s seems to be %q of %s: %s", m.Header, p.Name, wanted[i].Name, first.Name, m.Why))
			}
		}
	}
	return names, why
}

// without returns the columns whose names are not among others.
func without(columns, others []file.DraftColumn) []file.DraftColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c file.DraftColumn) bool {
		return slices.ContainsFunc(others, func(o file.DraftColumn) bool { return o.Name == c.Name })
	})
}

// renameFlags writes the names as flags.
func renameFlags(names map[string]string) string {
	var out []string
	for _, of := range slices.Sorted(maps.Keys(names)) {
		out = append(out, "--rename "+console.Word(of+"="+names[of]))
	}
	return strings.Join(out, " ")
}
