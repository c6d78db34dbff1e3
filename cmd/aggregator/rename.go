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

// takeNames gives columns of parties the names that the study has for them; names are by PARTY:COLUMN. A party's own data keep
// theirs: its site file maps the study's names.
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

// renames are the names by which the lists of parties would have the columns of the first one, as far as columns seem to be the
// same, and why each does.
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

// without are the columns that have no namesake among others.
func without(columns, others []file.DraftColumn) []file.DraftColumn {
	return slices.DeleteFunc(slices.Clone(columns), func(c file.DraftColumn) bool {
		return slices.ContainsFunc(others, func(o file.DraftColumn) bool { return o.Name == c.Name })
	})
}

// renameFlags are names as flags.
func renameFlags(names map[string]string) string {
	var out []string
	for _, of := range slices.Sorted(maps.Keys(names)) {
		out = append(out, "--rename "+console.Word(of+"="+names[of]))
	}
	return strings.Join(out, " ")
}
