package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// Time is one line of a comparison.
type Time struct {
	Task      string             `json:"task"`
	Method    string             `json:"method"`
	Threads   int                `json:"threads"`
	Seconds   float64            `json:"seconds"`               // best of Repeat
	Ours      bool               `json:"ours"`                  // else something to compare with
	Additions int64              `json:"additions,omitempty"`   // of ours: what projecting one record takes
	Faster    map[string]float64 `json:"faster_than,omitempty"` // of ours, by the other's method: its seconds over these
}

// Comparison is what one run measured.
type Comparison struct {
	Software []string `json:"software"`         // names and versions of what was measured
	Absent   string   `json:"absent,omitempty"` // why there are only times of ours
	Load     float64  `json:"load"`             // load average of the minute before; 0 if unknown
	Threads  int      `json:"threads"`          // that may run at once
	Repeat   int      `json:"repeat"`
	Times    []Time   `json:"times"` // by task, ours first
}

// Run measures the others, if they are there, then ours, and never both at a
// time. It says on log what it does, and ends with ctx.
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

// compare orders times by task and relates ours to the others'.
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

// relate fills in how much faster ours are than the others on as many threads, or, if
// these were measured on other numbers only, on the best of them.
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

// busy reports whether the machine had work of others when the run began.
func (c Comparison) busy() bool { return busy(c.Load, c.Threads) }
