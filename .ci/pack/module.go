package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// module is a module linked into the programs, or Go's own packages.
type module struct {
	path, version string
	users         []string // programs that link it
	licences      []string // SPDX ids of the recognised texts; may be empty
	texts         [][]byte
}

// std is the name of Go's own packages in SBOMs.
const std = "std"

// modules returns the modules linked into the programs, with their licences.
func (m *maker) modules(infos map[string]*debug.BuildInfo) ([]module, error) {
	places, err := m.moduleDirs()
	if err != nil {
		return nil, err
	}
	found := map[string]*module{}
	for _, program := range programs {
		info := infos[program]
		add := func(path, version string) {
			if found[path] == nil {
				found[path] = &module{path: path, version: version}
			}
			found[path].users = append(found[path].users, program)
		}
		add(std, strings.TrimPrefix(info.GoVersion, "go"))
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				return nil, fmt.Errorf("module %s is replaced by %s: a release is built from published modules", dep.Path, dep.Replace.Path)
			}
			add(dep.Path, dep.Version)
		}
	}
	var out []module
	for path, mod := range found {
		dir, known := places[path]
		if !known {
			return nil, fmt.Errorf("module %s is linked, but go list does not know where it is", path)
		}
		if mod.texts, err = licenceFiles(dir); err != nil {
			return nil, err
		}
		for _, text := range mod.texts {
			mod.licences = append(mod.licences, licencesIn(text)...)
		}
		slices.Sort(mod.licences)
		mod.licences = slices.Compact(mod.licences)
		out = append(out, *mod)
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// moduleDirs returns the source directory of each module in the module cache. A build has fetched
// what it links.
func (m *maker) moduleDirs() (map[string]string, error) {
	list := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = m.source, append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off")
		return said(cmd)
	}
	root, err := list("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	all, err := list("list", "-m", "-f", "{{.Path}}\t{{.Dir}}", "all")
	if err != nil {
		return nil, err
	}
	places := map[string]string{std: root}
	for line := range strings.Lines(all) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if dir != "" {
			places[path] = dir
		}
	}
	return places, nil
}

var licenceName = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents)([.-].*)?$`)

// licenceFiles returns the licence texts at the root of a module, in order of file name.
func licenceFiles(dir string) (texts [][]byte, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.IsDir() || !licenceName.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// phrases identify licences: a text that contains says, and not without, has the licence id (SPDX).
var phrases = []struct{ id, says, without string }{
	{"Apache-2.0", "apache license version 2.0, january 2004", ""},
	{"Apache-2.0", "licensed under the apache license, version 2.0", ""},
	{"Apache-2.0", "apache-2.0 software license: https://www.apache.org/licenses/license-2.0", ""},
	{"MPL-2.0", "mozilla public license version 2.0", ""},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files", ""},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted", ""},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted", ""},
	{"BSD-3-Clause", "neither the name of", ""},
	{"BSD-2-Clause", "redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met", "neither the name of"},
	{"Unlicense", "this is free and unencumbered software released into the public domain", ""},
}

// licencesIn returns the licences recognised in a text.
func licencesIn(text []byte) (ids []string) {
	words := strings.ToLower(string(bytes.Join(bytes.Fields(text), []byte(" "))))
	for _, p := range phrases {
		if strings.Contains(words, p.says) && (p.without == "" || !strings.Contains(words, p.without)) {
			ids = append(ids, p.id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// licenceTexts returns the file that the licences require: each module with its licence texts.
func licenceTexts(modules []module) []byte {
	var out bytes.Buffer
	for _, mod := range modules {
		fmt.Fprintf(&out, "%s\n%s %s\n%[1]s\n\n", strings.Repeat("=", 79), mod.path, mod.version)
		for _, text := range mod.texts {
			out.Write(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))))
			out.WriteString("\n\n")
		}
	}
	return out.Bytes()
}
