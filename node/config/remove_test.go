package config

import (
	"os"
	"slices"
	"strings"
	"testing"
)

const twoDatasets = `# of the clinic
datasets:
  # the first
  visits:
    source: /data/visits.csv
    caps: {record: {epsilon: 2, delta: 1e-6}} # agreed

  # the second
  staff: {source: /data/staff.csv}
studies:
  0000000000000000000000000000000000000000000000000000000000000001: {dataset: visits}
  0000000000000000000000000000000000000000000000000000000000000002:
    dataset: staff
    columns: {x: y}
  0000000000000000000000000000000000000000000000000000000000000003: {dataset: visits}
log: {level: warn}
`

// A dataset is removed with the studies that it answers; everything else stays.
func TestRemoveDataset(t *testing.T) {
	for name, gone := range map[string][]int{"visits": {4, 5, 6, 11, 15}, "staff": {9, 12, 13, 14}} {
		path, want := write(t, twoDatasets), ""
		for i, line := range strings.SplitAfter(twoDatasets, "\n") {
			if !slices.Contains(gone, i+1) {
				want += line
			}
		}
		if err := RemoveDataset(path, name); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, want)
		}
	}
	path := write(t, twoDatasets)
	for _, name := range []string{"visits", "staff"} {
		if err := RemoveDataset(path, name); err != nil {
			t.Error(err)
		}
	}
	if p, err := LoadParty(path); err != nil || len(p.Datasets)+len(p.Studies) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// What an edit does not support is left to a person.
func TestRemoveDatasetRefuses(t *testing.T) {
	for says, text := range map[string]string{
		`did you mean "visits"`:        twoDatasets,
		"take the entries out by hand": "datasets: {visit: {source: /a.csv}, other: {source: /b.csv}}\n",
	} {
		path := write(t, text)
		if err := RemoveDataset(path, "visit"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("the file changed: %q, %v", after, err)
		}
	}
}
