package bench

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
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
		{"side": "columns", "k": 16384, "method": "c", "threads": 1, "seconds": 3},
		{"side": "records", "k": 64, "method": "b", "threads": 2, "seconds": 2},
		{"side": "records", "k": 256, "method": "a", "threads": 2, "seconds": 1}]}`))
	if err != nil {
		t.Fatal(err)
	}
	own := []Time{{Task: w.Records.task(64), Method: "ours", Threads: 1, Seconds: 0.5}}
	c := compare(w, own, r)
	var got []string
	for _, line := range c.Times {
		got = append(got, line.Method)
	}
	if strings.Join(got, " ") != "a ours b c" {
		t.Errorf("order %v, want by task, ours first", got)
	}
	if c.Times[2].Relative != 4 || c.Times[1].Relative != 1 {
		t.Errorf("relative times %v", c.Times)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, printed := range []string{"", "{}", `{"times": []}`, "Traceback",
		`{"times": [{"side": "records", "k": 64, "method": "a", "seconds": 0}]}`,
		`{"times": [{"side": "rows", "k": 64, "method": "a", "seconds": 1}]}`} {
		if r, err := parse([]byte(printed)); err == nil {
			t.Errorf("%q: read as %+v", printed, r)
		}
	}
}

func TestAbsent(t *testing.T) {
	r, err := theirs(context.Background(), filepath.Join(t.TempDir(), "python3"), workload(t))
	if err != nil || r.Absent == "" {
		t.Errorf("no interpreter: %+v, %v, want that it is absent", r, err)
	}
	if r, err := parse([]byte(`{"absent": "No module named 'sklearn'"}`)); err != nil || r.Absent == "" {
		t.Errorf("no package: %+v, %v, want that it is absent", r, err)
	}
}

// Ours are all there, in every task, and are written in both forms.
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
	if err := JSON(&encoded, c); err != nil {
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
