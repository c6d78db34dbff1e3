package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// Time is the time of one method on one task.
type Time struct {
	Task      string             `json:"task"`
	Method    string             `json:"method"`
	Threads   int                `json:"threads"`
	Seconds   float64            `json:"seconds"`               // best of Repeat
	Ours      bool               `json:"ours"`                  // false: the method is another's
	Additions int64              `json:"additions,omitempty"`   // ours only: additions to project one record
	Faster    map[string]float64 `json:"faster_than,omitempty"` // ours only, keyed by the other method: its seconds divided by ours
}

// Comparison is the result of one run.
type Comparison struct {
	Software []string `json:"software"`         // names and versions of the software measured
	Absent   string   `json:"absent,omitempty"` // why the others were not measured
	Load     float64  `json:"load"`             // load average over the last minute at the start; 0 if unknown
	Threads  int      `json:"threads"`          // GOMAXPROCS
	Repeat   int      `json:"repeat"`
	Times    []Time   `json:"times"` // by task, ours first
}

// Run measures the other libraries, if installed, and then ours, never both at once. It reports
// progress on log and stops when ctx ends.
func Run(ctx context.Context, w Workload, log io.Writer) (Comparison, error) {
	load := loadAverage()
	fmt.Fprintln(log, "measuring scikit-learn, numpy and scipy")
	others, err := installed(ctx, interpreters, w)
	if err != nil {
		return Comparison{}, err
	}
	fmt.Fprintln(log, "measuring cosketch")
	own, err := ours(ctx, w)
	if err != nil {
		return Comparison{}, err
	}
	c := compare(w, own, others)
	c.Load = load
	return c, nil
}

// compare orders times by task and computes the ratios to the others.
func compare(w Workload, own []Time, others reference) Comparison {
	c := Comparison{Absent: others.Absent, Threads: runtime.GOMAXPROCS(0), Repeat: w.Repeat}
	c.Software = append([]string{runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH}, others.Software...)
	all := append(own, others.times(w)...)
	for _, task := range w.tasks() {
		from := len(c.Times)
		for _, t := range all {
			if t.Task == task {
				c.Times = append(c.Times, t)
			}
		}
		relate(c.Times[from:])
	}
	return c
}

// relate sets Faster of our lines. It compares with the other method on as many threads, or, if
// that was not measured, with its best time.
func relate(task []Time) {
	for i, own := range task {
		if !own.Ours {
			continue
		}
		seconds, same := map[string]float64{}, map[string]bool{}
		for _, t := range task {
			equal := t.Threads == own.Threads
			if t.Ours || same[t.Method] && !equal {
				continue
			}
			if best, ok := seconds[t.Method]; !ok || equal && !same[t.Method] || t.Seconds < best {
				seconds[t.Method] = t.Seconds
			}
			same[t.Method] = same[t.Method] || equal
		}
		if len(seconds) == 0 {
			continue
		}
		task[i].Faster = map[string]float64{}
		for method, s := range seconds {
			task[i].Faster[method] = s / own.Seconds
		}
	}
}

// busy reports whether the machine was busy with other work when the run began.
func (c Comparison) busy() bool { return busy(c.Load, c.Threads) }
