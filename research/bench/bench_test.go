package bench

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cosketch/cosketch/node/present"
)

func workload(t *testing.T) Workload {
	t.Helper()
	w, err := NewWorkload(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWorkloadLimits(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {MaxRows + 1, 1}, {1, 0}} {
		if _, err := NewWorkload(c[0], c[1]); err == nil {
			t.Errorf("%d rows, repeated %d times: no error", c[0], c[1])
		}
	}
}

func TestParse(t *testing.T) {
	w := workload(t)
	r, err := parse([]byte(`{"software": ["Python 3"], "times": [
		{"side": "columns", "task": 0, "method": "c", "threads": 1, "seconds": 3},
		{"side": "records", "task": 1, "method": "b", "threads": 1, "seconds": 5},
		{"side": "records", "task": 1, "method": "b", "threads": 2, "seconds": 2},
		{"side": "records", "task": 0, "method": "a", "threads": 2, "seconds": 1}]}`), w)
	if err != nil {
		t.Fatal(err)
	}
	task := w.Records[1].task()
	c := compare(w, []Time{{Task: task, Method: "ours", Threads: 1, Seconds: 0.5, Ours: true}}, r)
	var got []string
	for _, line := range c.Times {
		got = append(got, line.Method)
	}
	if strings.Join(got, " ") != "a ours b b c" {
		t.Errorf("order %v, want by task, ours first", got)
	}
	if f := c.Times[1].Faster; len(f) != 1 || f["b"] != 10 {
		t.Errorf("ours is faster by %v, want by 10 than b on one thread", f)
	}
	var text strings.Builder
	if err := Text(&text, c); err != nil || !strings.Contains(text.String(), "10.00") {
		t.Errorf("%v, no ratio in\n%s", err, text.String())
	}
}

// Ratios compare equal numbers of threads, or else the best time.
func TestRelate(t *testing.T) {
	times := []Time{
		{Method: "ours", Threads: 2, Seconds: 1, Ours: true},
		{Method: "ours", Threads: 1, Seconds: 2, Ours: true},
		{Method: "both", Threads: 1, Seconds: 1},
		{Method: "both", Threads: 2, Seconds: 4},
		{Method: "many", Threads: 4, Seconds: 6},
		{Method: "many", Threads: 8, Seconds: 5},
	}
	relate(times)
	for i, want := range []map[string]float64{{"both": 4, "many": 5}, {"both": 0.5, "many": 2.5}, nil} {
		if !maps.Equal(times[i].Faster, want) {
			t.Errorf("line %d: %v, want %v", i, times[i].Faster, want)
		}
	}
}

func TestBusy(t *testing.T) {
	for load, want := range map[float64]bool{0: false, 1.4: false, 1.6: true} {
		c := Comparison{Load: load, Threads: 2, Repeat: 1}
		var text strings.Builder
		if err := Text(&text, c); err != nil || c.busy() != want || strings.Contains(text.String(), "busy") != want {
			t.Errorf("load %v: busy %v, %v, %q", load, c.busy(), err, text.String())
		}
	}
}

// No line is wider than a terminal.
func TestTextWidth(t *testing.T) {
	w := workload(t)
	own, err := ours(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	r := reference{Software: []string{"Python 3.11.2", "scikit-learn 1.2.1", "numpy 1.24.2", "scipy 1.10.1", "openblas 0.3.21"}}
	if err := json.Unmarshal([]byte(`[
		{"side": "records", "method": "sklearn GaussianRandomProjection", "threads": 2, "seconds": 0.5},
		{"side": "records", "method": "sklearn SparseRandomProjection", "threads": 1, "seconds": 0.5},
		{"side": "records", "method": "numpy float64 product", "threads": 1, "seconds": 0.5}]`), &r.Times); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := Text(&text, compare(w, own, r)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > present.Width {
			t.Errorf("%d wide: %s", n, line)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, printed := range []string{"", "{}", `{"times": []}`, "Traceback",
		`{"times": [{"side": "records", "task": 1, "method": "a", "seconds": 0}]}`,
		`{"times": [{"side": "records", "task": 9, "method": "a", "seconds": 1}]}`,
		`{"times": [{"side": "rows", "task": 1, "method": "a", "seconds": 1}]}`} {
		if r, err := parse([]byte(printed), workload(t)); err == nil {
			t.Errorf("%q: read as %+v", printed, r)
		}
	}
}

func TestAbsent(t *testing.T) {
	r, err := theirs(context.Background(), filepath.Join(t.TempDir(), "python3"), workload(t))
	if err != nil || r.Absent == "" {
		t.Errorf("no interpreter: %+v, %v, want that it is absent", r, err)
	}
	broken, has := filepath.Join(t.TempDir(), "broken"), filepath.Join(t.TempDir(), "python3")
	for path, script := range map[string]string{
		broken: "#!/bin/sh\nexit 3\n",
		has:    "#!/bin/sh\necho '{\"times\": [{\"side\": \"records\", \"method\": \"a\", \"threads\": 1, \"seconds\": 1}]}'\n",
	} {
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := installed(t.Context(), []string{"/nowhere/python3", broken, has, broken}, workload(t)); err != nil || len(r.Times) != 1 {
		t.Errorf("the third of four interpreters: %+v, %v", r, err)
	}
	if _, err := installed(t.Context(), []string{broken}, workload(t)); err == nil {
		t.Error("a broken interpreter is no error")
	}
	if r, err := parse([]byte(`{"absent": "No module named 'sklearn'"}`), workload(t)); err != nil || r.Absent == "" {
		t.Errorf("no package: %+v, %v, want that it is absent", r, err)
	}
}

// Our times are present in every task, and are written in both forms.
func TestOursAlone(t *testing.T) {
	w := workload(t)
	own, err := ours(context.Background(), w)
	if err != nil {
		t.Fatal(err)
	}
	c := compare(w, own, reference{Absent: "no module"})
	if len(c.Times) != len(own) {
		t.Errorf("%d of %d times belong to a task", len(c.Times), len(own))
	}
	var text, encoded strings.Builder
	if err := Text(&text, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range append(w.tasks(), "cosketch hadamard", "cosketch rademacher", "cosketch sparse", "absent (no module)") {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if err := json.NewEncoder(&encoded).Encode(c); err != nil {
		t.Fatal(err)
	}
	var back Comparison
	if err := json.Unmarshal([]byte(encoded.String()), &back); err != nil || len(back.Times) != len(c.Times) {
		t.Errorf("JSON reads back as %d times, %v", len(back.Times), err)
	}
}

func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ours(ctx, workload(t)); err == nil {
		t.Error("measured although the context had ended")
	}
}

// What is timed with a given R is a correct sketch: the sum of signed records at their places.
func TestGiven(t *testing.T) {
	c := Columns{M: 300, N: 7, K: 16}
	x, rows := entries(c.M*c.N), places(c.M, c.K)
	want := make([]int64, c.K*c.N)
	for i, p := range rows {
		for j, v := range x[i*c.N:][:c.N] {
			want[int(p>>1)*c.N+j] += v * (1 - 2*int64(p&1))
		}
	}
	for workers := 1; workers < 4; workers++ {
		if !slices.Equal(given(c, rows, x, workers), want) {
			t.Errorf("%d workers: another sketch", workers)
		}
	}
}
