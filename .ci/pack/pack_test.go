package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func sample() map[string]entry {
	return map[string]entry{
		"b/two": {text: []byte("2"), mode: 0o644}, "a": {text: []byte("1"), mode: 0o755}, "b/c/three": {text: []byte("3"), mode: 0o600, owner: 7},
		"tmp": {mode: 0o1777, dir: true}, "d": {text: []byte("4"), mode: 0o644}, "e": {text: []byte("5"), mode: 0o644},
	}
}

// Equal files give equal bytes, in any order; another time or mode gives other bytes.
func TestArchivesAreReproducible(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	for name, form := range map[string]func(io.Writer, map[string]entry, time.Time) error{"tar": tarred, "zip": zipped} {
		made := func(files map[string]entry, at time.Time) string {
			var out bytes.Buffer
			if err := form(&out, files, at); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		want := made(sample(), at)
		for range 20 {
			if made(sample(), at) != want {
				t.Fatalf("%s: the order of a map shows", name)
			}
		}
		changed := sample()
		changed["a"] = entry{text: []byte("1"), mode: 0o644}
		if made(changed, at) == want || made(sample(), at.Add(time.Hour)) == want {
			t.Errorf("%s: a mode or the time is not in it", name)
		}
	}
	var out bytes.Buffer
	if err := tarred(&out, sample(), at); err != nil {
		t.Fatal(err)
	}
	if m := untar(t, out.Bytes())["b/c/three"]; m.uid != 7 || m.mode != 0o600 || string(m.text) != "3" {
		t.Errorf("read back as %+v", m)
	}
	if !untar(t, out.Bytes())["b/c"].mode.IsDir() {
		t.Error("a directory is missing")
	}
}

// Package managers sort a release after the commits before it, and later commits after earlier
// ones.
func TestPackageVersions(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	older := (&maker{version: "ffffffffffff", time: at}).packageVersion()
	if older != "0~20260102030405.ffffffffffff" {
		t.Errorf("a commit without a tag is %q", older)
	}
	newer := (&maker{version: "000000000000", time: at.Add(time.Second)}).packageVersion()
	for _, pair := range [][2]string{{older, newer}, {newer, (&maker{version: "0.1.0-rc.1"}).packageVersion()}, {(&maker{version: "0.1.0-rc.1"}).packageVersion(), "0.1.0"}, {"0.9.0", (&maker{version: "0.10.0"}).packageVersion()}} {
		dpkg, err := exec.LookPath("dpkg")
		if err != nil {
			t.Skip("needs dpkg, which compares")
		}
		if err := exec.Command(dpkg, "--compare-versions", pair[0], "lt", pair[1]).Run(); err != nil {
			t.Errorf("%s is not before %s: %v", pair[0], pair[1], err)
		}
	}
}

// If a unit of the documents changes so that it cannot be adapted, that is an error.
func TestInstalledUnit(t *testing.T) {
	for _, program := range programs {
		unit, err := os.ReadFile("../../docs/operations/systemd/cosketch-" + program + ".service")
		if err != nil {
			t.Fatal(err)
		}
		got, err := installedUnit(unit, program)
		if err != nil || bytes.Contains(got, []byte("useradd")) || bytes.Contains(got, []byte("/usr/local")) || !bytes.Contains(got, []byte("ExecStart=/usr/bin/"+program)) {
			t.Errorf("%s: %v\n%s", program, err, got)
		}
		if _, err := installedUnit(bytes.Replace(unit, []byte("/usr/local/bin"), []byte("/opt"), 1), program); err == nil {
			t.Errorf("%s: a unit for a program elsewhere is taken", program)
		}
	}
}

func TestLicencesAreKnownByTheirWords(t *testing.T) {
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	const bsd = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted provided that the following conditions are met:\n"
	for text, want := range map[string]string{
		string(apache): "Apache-2.0", bsd: "BSD-2-Clause", bsd + "3. Neither the name of": "BSD-3-Clause", "All rights reserved.": "",
		"Permission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files": "MIT",
	} {
		if got := strings.Join(licencesIn([]byte(text)), " "); got != want {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
}

// A signature is valid only for these sums and for a release.
func TestSignature(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("needs ssh-keygen")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	signers := sign(t, dir)
	verify := func(namespace string) error {
		cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", signers, "-I", "release", "-n", namespace, "-s", filepath.Join(dir, "SHA256SUMS.sig"))
		cmd.Stdin = bytes.NewReader(read(t, filepath.Join(dir, "SHA256SUMS")))
		return cmd.Run()
	}
	if err := verify(namespace); err != nil {
		t.Errorf("a good signature: %v", err)
	}
	if err := verify("file"); err == nil {
		t.Error("a signature for something else passes")
	}
	sums := read(t, filepath.Join(dir, "SHA256SUMS"))
	if !regexp.MustCompile(`^982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1  file\n$`).Match(sums) {
		t.Errorf("the sums are %q", sums)
	}
	if err := os.WriteFile(filepath.Join(dir, "SHA256SUMS"), append(sums, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := verify(namespace); err == nil {
		t.Error("changed sums pass")
	}
	if err := sum(dir, filepath.Join(dir, "no-key")); err == nil {
		t.Error("a release that was to be signed is not, without a word")
	}
}

// sign signs the sums of a directory with a new key, and returns the allowed signers file.
func sign(t *testing.T, dir string) (signers string) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("making a key: %v\n%s", err, out)
	}
	if err := sum(dir, key); err != nil {
		t.Fatal(err)
	}
	signers = key + ".signers"
	if err := os.WriteFile(signers, append([]byte("release "), read(t, key+".pub")...), 0o644); err != nil {
		t.Fatal(err)
	}
	return signers
}
