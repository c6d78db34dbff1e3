package bench

import "fmt"

// Workload is the shape of what is projected, on both sides of a comparison. Its
// JSON is the argument of the script.
type Workload struct {
	Repeat  int     `json:"repeat"` // times that each method runs; the best counts
	Records Records `json:"records"`
	Columns Columns `json:"columns"`
}

// Records is a records-side task, m × d to m × k, for each k.
type Records struct {
	M int   `json:"m"`
	D int   `json:"d"`
	K []int `json:"k"`
}

// Columns is a columns-side task, m × n to k × n, with one non-zero in each row of R.
type Columns struct {
	M int `json:"m"`
	N int `json:"n"`
	K int `json:"k"`
}

// MaxRows is the largest number of records on the records side, and what
// comparisons are quoted for: data and results then need less than 3 GB.
const MaxRows = 100_000

// NewWorkload returns the usual shapes with rows records on the records side and
// ten times as many on the columns side. It refuses rows outside 1 to MaxRows and
// a repeat that is not positive.
func NewWorkload(rows, repeat int) (Workload, error) {
	if rows < 1 || rows > MaxRows {
		return Workload{}, fmt.Errorf("%d rows: must be between 1 and %d", rows, MaxRows)
	}
	if repeat < 1 {
		return Workload{}, fmt.Errorf("repeating %d times: must be positive", repeat)
	}
	return Workload{
		Repeat:  repeat,
		Records: Records{M: rows, D: 1024, K: []int{256, 64}},
		Columns: Columns{M: 10 * rows, N: 50, K: 16384},
	}, nil
}

func (r Records) task(k int) string {
	return fmt.Sprintf("records %d × %d, k = %d", r.M, r.D, k)
}

func (c Columns) task() string {
	return fmt.Sprintf("columns %d × %d, k = %d", c.M, c.N, c.K)
}

// tasks names all tasks in the order of the report.
func (w Workload) tasks() []string {
	var out []string
	for _, k := range w.Records.K {
		out = append(out, w.Records.task(k))
	}
	return append(out, w.Columns.task())
}
