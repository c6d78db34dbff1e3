package bench

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/network"
)

// readTable reads a generated file like the party does.
func readTable(t *testing.T, file string, columns int) (ids []string, values []int64) {
	t.Helper()
	scale, err := fixedpoint.Bounds(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{ID: []string{"id"}, Bits: 14, MaxRecords: 1 << 40}
	for j := range columns {
		schema.Fields = append(schema.Fields, dataset.Field{Name: columnName(j), Kind: study.Numeric, Scale: scale})
	}
	r, err := dataset.Open(t.Context(), dataset.Files(file), schema, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return ids, values
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range b.IDs {
			ids = append(ids, string(id))
		}
		values = append(values, b.Values...)
	}
}

// A table is the same in both formats, in whole and in partial stretches.
func TestTableInBothFormats(t *testing.T) {
	const columns = 3
	for _, records := range []int{1, stretch, 2*stretch + 5} {
		var ids [2][]string
		var values [2][]int64
		for i, name := range []string{"t.csv", "t.parquet"} {
			file := filepath.Join(t.TempDir(), name)
			if err := WriteTable(file, records, columns); err != nil {
				t.Fatal(err)
			}
			ids[i], values[i] = readTable(t, file, columns)
		}
		if len(ids[0]) != records || len(ids[0][0]) != 16 || len(values[0]) != records*columns {
			t.Fatalf("%d records: read %d ids and %d values", records, len(ids[0]), len(values[0]))
		}
		if !reflect.DeepEqual(ids[0], ids[1]) || !reflect.DeepEqual(values[0], values[1]) {
			t.Errorf("%d records: the formats hold other data", records)
		}
	}
}

// The line is the least-squares fit, and the deviation is the largest residual.
func TestFit(t *testing.T) {
	g := Growth{Points: make([]Point, 3)}
	for i, seconds := range []float64{3, 5, 9} { // 1 + 2·millions
		g.Points[i].Records, g.Points[i].DryRun.Seconds = 1_000_000<<i, seconds
	}
	if g.fit(); g.Deviation > 1e-12 || math.Abs(g.Fixed-1) > 1e-12 || math.Abs(g.PerMillion-2) > 1e-12 {
		t.Errorf("a straight line is read as %+v", g)
	}
	g.Points[1].DryRun.Seconds = 6
	if g.fit(); g.Deviation < 0.05 {
		t.Errorf("a bent line deviates by %v only", g.Deviation)
	}
}

// Each time is the least of all runs, memory the largest. The shares that projecting adds exclude
// the time, or the processor time, of noise.
func TestCompare(t *testing.T) {
	var r Reading
	r.Check.keep(Process{Seconds: 2, CPU: 3, Memory: 5}, 0)
	r.Check.keep(Process{Seconds: 1, CPU: 4, Memory: 4}, 1)
	if r.Check != (Process{Seconds: 1, CPU: 3, Memory: 5}) {
		t.Errorf("kept %+v", r.Check)
	}
	r.DryRun.keep(DryRun{Process: Process{Seconds: 1.75, CPU: 4.5}, Noise: 0.25, Encode: 0.5, Sketch: 7}, 0)
	r.DryRun.keep(DryRun{Process: Process{Seconds: 2, CPU: 4}, Noise: 0.5, Encode: 0.25, Sketch: 7}, 1)
	r.NoiseCPU = 0.625
	if r.compare(); r.Added != 0.25 || r.AddedCPU != 0.125 || r.DryRun.Sketch != 7 {
		t.Errorf("compared %+v", r)
	}
}

func TestFilesText(t *testing.T) {
	f := Files{Software: "go", Repeat: 2, Reading: []Reading{{Format: "csv", Records: 10, Columns: 50, Added: 0.3, AddedCPU: 0.1}}, Load: 2.5, Threads: 2, Growth: &Growth{Columns: 20, Points: []Point{{Records: 7, Beside: MaxMemory + 1}}}}
	var text, encoded strings.Builder
	if err := FilesText(&text, f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"csv, 10 × 50", "+30 % of its time (at most 20 %: NOT HELD)", "+10 % of its processor time (at most 20 %: held)", "256 MiB: NOT HELD", "5 %: held", "Best of 2 on go, each figure by itself, with 2 processors at a load average of 2.5.", "busy"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if err := json.NewEncoder(&encoded).Encode(f); err != nil {
		t.Fatal(err)
	}
	var back Files
	if err := json.Unmarshal([]byte(encoded.String()), &back); err != nil || !reflect.DeepEqual(back, f) {
		t.Errorf("JSON reads back as %+v, %v", back, err)
	}
}

// The whole measurement runs on few records. It builds the programs.
func TestRunFiles(t *testing.T) {
	full.Only(t, "builds the programs")
	write := func(_ context.Context, file string, records, columns int) error {
		return WriteTable(file, records, columns)
	}
	f, err := RunFiles(t.Context(), FilesOptions{Records: 1000, Large: true, Repeat: 1, Build: network.Build, Write: write}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Reading) != 4 || len(f.Growth.Points) != 3 || f.Growth.Points[2].Records != 10_000 || f.Reading[0].DryRun.Noise <= 0 {
		t.Errorf("measured %+v", f)
	}
}

func TestRunFilesRefuses(t *testing.T) {
	for _, o := range []FilesOptions{{Records: 0, Repeat: 1}, {Records: 1, Repeat: 0}} {
		if _, err := RunFiles(t.Context(), o, io.Discard); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}
