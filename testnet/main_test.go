package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/testnet/scenario"
)

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{{"--study", "nosuch"}, {"--format", "yaml"}, {"--nosuch"}, {"nosuch"},
		{"run", "--study", "nosuch"}, {"bench", "--rows", "0"}, {"bench", "--large"}, {"bench", "--study", "laboratories"},
		{"network", "nosuch"}, {"network", "cancer", "--data", "nosuch"}, {"up", "nosuch"}, {"up", "cancer"}, {"up", "--pace", "-1s"},
		{"kill", "--dir", "nosuch", "north"}, {"status", "--dir", "nosuch"}, {"down", "--dir", "nosuch"}, {"study", "--dir", "nosuch"}, {"kill"},
		{"chaos", "--rounds", "0"}, {"scale", "--parties", "1"},
		{"mechanisms", "--k", "0"}, {"mechanisms", "--epsilon", "0"}, {"mechanisms", "--simulate", "--trials", "5"}} {
		var out, talk strings.Builder
		if code := run(args, &out, &talk); code != exitUsage {
			t.Errorf("%v: exit code %d, want %d", args, code, exitUsage)
		}
		if out.Len() > 0 || !strings.HasPrefix(talk.String(), "testnet: ") {
			t.Errorf("%v: stdout %q, stderr %q", args, out.String(), talk.String())
		}
	}
}

func TestChoose(t *testing.T) {
	chosen, err := choose(options{Seed: 1, Study: []string{"hospitals-sparse", "laboratories"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(chosen) != 2 || chosen[0].Name != "laboratories" {
		t.Errorf("chose %d studies, want laboratories before hospitals-sparse", len(chosen))
	}
	if _, err := choose(options{Study: []string{"x"}}); !errors.Is(err, errUsage) || !strings.Contains(err.Error(), scenario.Names()[0]) {
		t.Errorf("error %v, want the names that there are", err)
	}
}

func TestReadLabels(t *testing.T) {
	if labels, err := readLabels(t.TempDir() + "/labels.csv"); labels != nil || err != nil {
		t.Errorf("no file: %v, %v, want neither labels nor an error", labels, err)
	}
}

// The simulation counts, and the tables of states have an owner for every wait.
func TestSimulate(t *testing.T) {
	var out, talk strings.Builder
	if code := run([]string{"simulate", "--schedules", "4", "--seed", "7"}, &out, &talk); code != exitOK || talk.Len() > 0 {
		t.Errorf("exit code %d, stderr %q", code, talk.String())
	}
	if !strings.HasPrefix(out.String(), "schedules            4,") || !strings.Contains(out.String(), "faults proved") {
		t.Errorf("counted\n%s", out.String())
	}
	out.Reset()
	if code := run([]string{"simulate", "--states"}, &out, &talk); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if waits := strings.Count(out.String(), "waits for"); waits < 10 || waits != strings.Count(out.String(), "from   ") || waits != strings.Count(out.String(), "until  ") {
		t.Errorf("the tables are\n%s", out.String())
	}
}
