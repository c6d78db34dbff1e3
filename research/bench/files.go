package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cosketch/cosketch/kernel/dp"
)

// FilesOptions says which files to measure.
type FilesOptions struct {
	Records int  // required: records of the CSV and the Parquet file of 50 columns
	Large   bool // also measure 2.5, 5 and 10 times Records × 20, for memory and slope
	Repeat  int  // required: runs of each command; the best counts

	// Build puts the programs party and aggregator into a directory. Required.
	Build func(ctx context.Context, dir string) error
	// Write does what WriteTable does, but in a separate process: the peak memory reported for a
	// process starts at that of its parent. Required.
	Write func(ctx context.Context, file string, records, columns int) error
}

// MaxAdded is the share by which projecting may lengthen reading.
const MaxAdded = 0.2

// MaxMemory bounds the memory besides the sketch itself, for any number of records.
const MaxMemory = 256 << 20

// MaxDeviation is how far a time may be from a straight line in the records, relative to the time.
const MaxDeviation = 0.05

// dimension is k of the measured sketches.
const dimension = 16384

// Files is the result of one run on files, with processes of the party program.
type Files struct {
	Software string    `json:"software"`
	Repeat   int       `json:"repeat"`
	Load     float64   `json:"load"`    // load average over the last minute at the start; 0 if unknown
	Threads  int       `json:"threads"` // GOMAXPROCS
	Reading  []Reading `json:"reading"`
	Growth   *Growth   `json:"growth,omitempty"`
}

// Reading compares reading a file with reading and projecting it.
type Reading struct {
	Format  string  `json:"format"`
	Records int     `json:"records"`
	Columns int     `json:"columns"`
	Unit    dp.Unit `json:"unit"`  // with record, contributions are clipped before projection
	Bytes   int64   `json:"bytes"` // file size
	Check   Process `json:"check"`
	DryRun  DryRun  `json:"dry_run"`
	// Added is the share by which reading and projecting take longer than reading alone, without
	// drawing the noise and encoding.
	Added float64 `json:"added"`
	// AddedCPU is Added for processor time, which a busy machine disturbs less. NoiseCPU is the
	// processor time of drawing the noise and encoding.
	AddedCPU float64 `json:"added_cpu"`
	NoiseCPU float64 `json:"noise_cpu"`
}

// Process is the cost of a process over several runs: the least of each time, and the largest
// memory.
type Process struct {
	Seconds float64 `json:"seconds"`          // from its start to its end
	CPU     float64 `json:"cpu"`              // seconds, summed over processors
	Memory  int64   `json:"memory,omitempty"` // peak resident bytes; 0 where the system does not say
}

// DryRun is a rehearsal of a release.
type DryRun struct {
	Process
	Noise  float64 `json:"noise"` // seconds, least of all runs; so is Encode
	Encode float64 `json:"encode"`
	Sketch int64   `json:"sketch"` // bytes of the exact sketch and of each worker's partial sum
}

// Growth is how time and memory depend on the records.
type Growth struct {
	Columns int     `json:"columns"`
	Points  []Point `json:"points"`
	// The fitted line is seconds = Fixed + PerMillion·records/10⁶.
	Fixed      float64 `json:"fixed"`
	PerMillion float64 `json:"per_million"`
	Deviation  float64 `json:"deviation"` // largest residual, relative to the time
}

// Point is the measurement at one number of records.
type Point struct {
	Records int    `json:"records"`
	DryRun  DryRun `json:"dry_run"`
	Beside  int64  `json:"beside"` // memory besides the sketch itself
}

// RunFiles measures the party program on files that it generates in a temporary directory. It
// reports progress on log and stops when ctx ends.
func RunFiles(ctx context.Context, o FilesOptions, log io.Writer) (_ Files, err error) {
	if o.Records < 1 || o.Repeat < 1 {
		return Files{}, fmt.Errorf("%d records, repeated %d times: both must be positive", o.Records, o.Repeat)
	}
	dir, err := os.MkdirTemp("", "cosketch-bench-")
	if err != nil {
		return Files{}, fmt.Errorf("making a directory: %w", err)
	}
	defer os.RemoveAll(dir)
	load := loadAverage()
	fmt.Fprintln(log, "building party and aggregator")
	if err := o.Build(ctx, dir); err != nil {
		return Files{}, err
	}
	out := Files{Software: runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH, Repeat: o.Repeat, Load: load, Threads: runtime.GOMAXPROCS(0)}
	if out.Reading, err = measureReading(ctx, dir, o, log); err != nil || !o.Large {
		return out, err
	}
	out.Growth, err = measureGrowth(ctx, dir, o, log)
	return out, err
}

// measureReading times both commands on both formats, alternating.
func measureReading(ctx context.Context, dir string, o FilesOptions, log io.Writer) ([]Reading, error) {
	const columns = 50
	var out []Reading
	var homes []*home
	for _, format := range []string{"parquet", "csv"} {
		fmt.Fprintf(log, "writing a %s file of %d × %d\n", format, o.Records, columns)
		t := table{records: o.Records, columns: columns}
		file := filepath.Join(dir, "data."+format)
		size, err := o.write(ctx, file, t)
		if err != nil {
			return nil, err
		}
		for _, unit := range []dp.Unit{dp.Attribute, dp.Record} {
			h, err := newHome(ctx, dir, format+"-"+string(unit), file, t, unit)
			if err != nil {
				return nil, err
			}
			homes = append(homes, h)
			out = append(out, Reading{Format: format, Records: o.Records, Columns: columns, Unit: unit, Bytes: size})
		}
	}
	for round := range o.Repeat {
		fmt.Fprintf(log, "reading, then reading and projecting: %d of %d\n", round+1, o.Repeat)
		for i, h := range homes {
			if err := out[i].measure(ctx, h, round); err != nil {
				return nil, err
			}
		}
	}
	for i := range out {
		out[i].compare()
	}
	return out, nil
}

// measure runs both commands once.
func (r *Reading) measure(ctx context.Context, h *home, round int) error {
	check, err := h.check(ctx)
	if err != nil {
		return err
	}
	run, err := h.dryRun(ctx, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	// On one processor, the time that noise takes is processor time.
	alone, err := h.dryRun(ctx, 1)
	if err != nil {
		return err
	}
	r.Check.keep(check, round)
	r.DryRun.keep(run, round)
	if cpu := alone.Noise + alone.Encode; round == 0 || cpu < r.NoiseCPU {
		r.NoiseCPU = cpu
	}
	return nil
}

// compare computes the share that projecting adds. Noise and encoding come after the reading, so
// their times can be subtracted.
func (r *Reading) compare() {
	r.Added = (r.DryRun.Seconds-r.DryRun.Noise-r.DryRun.Encode)/r.Check.Seconds - 1
	r.AddedCPU = (r.DryRun.CPU-r.NoiseCPU)/r.Check.CPU - 1
}

// write writes a table and returns the file's size.
func (o FilesOptions) write(ctx context.Context, file string, t table) (int64, error) {
	if err := o.Write(ctx, file, t.records, t.columns); err != nil {
		return 0, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return 0, fmt.Errorf("writing a data file: %w", err)
	}
	return info.Size(), nil
}

// keep merges a run: the least of each time, the largest memory.
func (p *Process) keep(next Process, round int) {
	if round == 0 {
		*p = next
		return
	}
	p.Seconds, p.CPU, p.Memory = min(p.Seconds, next.Seconds), min(p.CPU, next.CPU), max(p.Memory, next.Memory)
}

func (d *DryRun) keep(next DryRun, round int) {
	d.Process.keep(next.Process, round)
	if round == 0 {
		d.Noise, d.Encode, d.Sketch = next.Noise, next.Encode, next.Sketch
		return
	}
	d.Noise, d.Encode = min(d.Noise, next.Noise), min(d.Encode, next.Encode)
}

// measureGrowth runs dry runs on three numbers of records, alternating.
func measureGrowth(ctx context.Context, dir string, o FilesOptions, log io.Writer) (*Growth, error) {
	g := &Growth{Columns: 20}
	var homes []*home
	for _, quarters := range []int{10, 20, 40} {
		t := table{records: quarters * o.Records / 4, columns: g.Columns}
		fmt.Fprintf(log, "writing a csv file of %d × %d\n", t.records, t.columns)
		name := fmt.Sprintf("growth-%d", quarters)
		file := filepath.Join(dir, name+".csv")
		if _, err := o.write(ctx, file, t); err != nil {
			return nil, err
		}
		h, err := newHome(ctx, dir, name, file, t, dp.Record)
		if err != nil {
			return nil, err
		}
		homes = append(homes, h)
		g.Points = append(g.Points, Point{Records: t.records})
	}
	for round := range o.Repeat {
		fmt.Fprintf(log, "reading and projecting: %d of %d\n", round+1, o.Repeat)
		for i, h := range homes {
			run, err := h.dryRun(ctx, runtime.GOMAXPROCS(0))
			if err != nil {
				return nil, err
			}
			p := &g.Points[i]
			p.DryRun.keep(run, round)
			p.Beside = max(p.Beside, run.Memory-run.Sketch)
		}
	}
	g.fit()
	return g, nil
}

// fit fits a least-squares line to the times. Noise and encoding do not depend on the records and
// are part of Fixed.
func (g *Growth) fit() {
	var n, x, y, xx, xy float64
	for _, p := range g.Points {
		m := float64(p.Records) / 1e6
		n, x, y, xx, xy = n+1, x+m, y+p.DryRun.Seconds, xx+m*m, xy+m*p.DryRun.Seconds
	}
	g.PerMillion = (n*xy - x*y) / (n*xx - x*x)
	g.Fixed = (y - g.PerMillion*x) / n
	g.Deviation = 0
	for _, p := range g.Points {
		line := g.Fixed + g.PerMillion*float64(p.Records)/1e6
		g.Deviation = max(g.Deviation, abs(p.DryRun.Seconds-line)/p.DryRun.Seconds)
	}
}

func abs(x float64) float64 { return max(x, -x) }
