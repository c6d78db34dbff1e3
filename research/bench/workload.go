package bench

import "fmt"

// Workload is the shape of the data on both sides of a comparison. Its JSON is the argument of the
// script.
type Workload struct {
	Repeat  int       `json:"repeat"` // runs of each method; the best counts
	Records []Records `json:"records"`
	Columns Columns   `json:"columns"`
	Points  Points    `json:"points"`
}

// Records is a records-side task, m × d to m × k.
type Records struct {
	M int `json:"m"`
	D int `json:"d"`
	K int `json:"k"`
}

// Columns is a columns-side task, m × n to k × n, with one non-zero in each row of R.
type Columns struct {
	M int `json:"m"`
	N int `json:"n"`
	K int `json:"k"`
}

// MaxRows is the largest number of records of 1,024 columns, and the number that published
// comparisons use. Data and results then need less than 3 GB.
const MaxRows = 100_000

// NewWorkload returns the usual shapes with rows records of 1,024 columns. Shapes of 100 columns,
// and those of the columns side, have more records, and those of 10,000 columns fewer, so that each
// takes about as long. It returns an error if rows is outside 1 to MaxRows or repeat is not
// positive.
func NewWorkload(rows, repeat int) (Workload, error) {
	if rows < 1 || rows > MaxRows {
		return Workload{}, fmt.Errorf("%d rows: must be between 1 and %d", rows, MaxRows)
	}
	if repeat < 1 {
		return Workload{}, fmt.Errorf("repeating %d times: must be positive", repeat)
	}
	return Workload{
		Repeat: repeat,
		Records: []Records{
			{M: rows, D: 1024, K: 256},
			{M: rows, D: 1024, K: 64},
			{M: 5 * rows, D: 100, K: 64},
			{M: (rows + 1) / 2, D: 1000, K: 256},
			{M: (rows + 19) / 20, D: 10000, K: 256},
		},
		Columns: Columns{M: 10 * rows, N: 50, K: 16384},
		Points:  newPoints(rows),
	}, nil
}

func (r Records) task() string {
	return fmt.Sprintf("records %d × %d, k = %d", r.M, r.D, r.K)
}

func (c Columns) task() string {
	return fmt.Sprintf("columns %d × %d, k = %d", c.M, c.N, c.K)
}

// tasks returns the names of all tasks in the order of the report.
func (w Workload) tasks() []string {
	var out []string
	for _, r := range w.Records {
		out = append(out, r.task())
	}
	return append(out, w.Columns.task(), w.Points.neighbors(), w.Points.clusters())
}
