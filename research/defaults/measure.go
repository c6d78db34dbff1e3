package defaults

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/cosketch/cosketch/protocol/study"
)

// measured is a setting with the rows that it fills.
type measured struct {
	setting
	rows  []asked
	seeds int
}

// records returns the number of records of all parties together.
func (s setting) records() int {
	n := len(s.data.rows)
	if s.fresh != nil {
		n = s.fresh.n
	}
	return n
}

// references is the number of seeds for which a reference is computed.
const references = 3

// mostSeeds bounds the seeds played, as a multiple of those planned. More are played if intervals
// of a seed are too correlated to judge the coverage.
const mostSeeds = 3

// short reports whether some row has too few intervals to detect a wrong coverage.
func (m measured) short(tallies []*tally, enough int) bool {
	if enough == 0 {
		return false
	}
	for i, a := range m.rows {
		judged := &tallies[i].all
		if a.limits.excused {
			judged = &tallies[i].unmarked
		}
		n, _ := judged.total()
		if a.limits.low > 0 && n > enough/2 && (n < enough || judged.power(a.limits.low, wrongCoverage, Rejection) < leastPower) {
			return true
		}
	}
	return false
}

// run plays a setting and judges its rows. If seeds is positive it replaces the setting's number,
// and rows need not have enough intervals.
func (m measured) run(ctx context.Context, seeds int) ([]Row, error) {
	enough := leastIntervals
	if seeds == 0 {
		seeds = m.seeds
	} else {
		enough = 0
	}
	tallies := make([]*tally, len(m.rows))
	for i := range tallies {
		tallies[i] = &tally{}
	}
	played := 0
	for seed := 0; seed < seeds || seed < mostSeeds*seeds && m.short(tallies, enough); seed++ {
		p, err := m.play(ctx, uint64(seed))
		if err != nil {
			return nil, fmt.Errorf("%s, seed %d: %w", m.name(), seed, err)
		}
		played++
		for i, a := range m.rows {
			t := tallies[i]
			if err := a.numbers(p, t); err != nil {
				return nil, fmt.Errorf("%s, seed %d: %s: %w", m.name(), seed, a.what, err)
			}
			t.close()
			if seed < planned && a.kind != "" {
				if f, ok := foretold(p.forecast, a.kind); ok {
					t.forecasts = append(t.forecasts, f)
				}
			}
			if seed < references && a.reference != nil {
				x, err := a.reference(p)
				if err != nil {
					return nil, fmt.Errorf("%s: the reference of %s: %w", m.name(), a.what, err)
				}
				t.references = append(t.references, x)
			}
		}
	}
	var out []Row
	for i, a := range m.rows {
		out = append(out, tallies[i].row(m.setting, a, played, enough))
	}
	return out, nil
}

// Options says what is measured.
type Options struct {
	Only    string                                // measure only settings whose name contains it, and report summaries without limits; empty: all
	Seeds   int                                   // per setting; 0: as many as the tests need. Fewer reduce the power of tests
	Workers int                                   // settings measured at once; default 1
	Tell    func(name string, took time.Duration) // called after each setting; may be nil
}

// measureAll runs settings and returns their rows in order.
func measureAll(ctx context.Context, all []measured, o Options) ([]Row, error) {
	var chosen []measured
	for _, m := range all {
		if strings.Contains(m.name(), o.Only) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no setting is called %q", o.Only)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows := make([][]Row, len(chosen))
	next := make(chan int)
	var wait sync.WaitGroup
	var telling sync.Mutex
	for range max(o.Workers, 1) {
		wait.Go(func() {
			for i := range next {
				began := time.Now()
				var err error
				if rows[i], err = chosen[i].run(ctx, o.Seeds); err != nil {
					cancel(err)
				} else if o.Tell != nil {
					telling.Lock()
					o.Tell(chosen[i].name(), time.Since(began))
					telling.Unlock()
				}
			}
		})
	}
	for i := range chosen {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var out []Row
	for _, r := range rows {
		out = append(out, r...)
	}
	return append(out, together(out, len(chosen) == len(all))...), nil
}

// together returns the rows about all others: how many forecasts come true. Their limit holds for
// the whole table; for a part, which may be the hardest, the share is only reported.
func together(rows []Row, whole bool) []Row {
	good, all, inside, bounded := 0, 0, 0, 0
	for _, r := range rows {
		f := r.Forecast
		if f == nil || f.Realised == nil {
			continue
		}
		if r.By == string(byBounds) && r.Partition == study.Horizontal {
			bounded++
			if *r.RMSE >= f.Best && (f.Worst == 0 || *r.RMSE <= f.Worst) { // Worst 0: in the worst case there is no answer
				inside++
			}
			continue
		}
		all++
		if *f.Realised >= 0.5 && *f.Realised <= 2 {
			good++
		}
	}
	share := func(what, limit string, good, all int, least float64) Row {
		r := Row{Data: "all rows", What: what, Limit: limit, Intervals: all, Coverage: number(float64(good) / math.Max(1, float64(all))), Outcome: Pass}
		switch {
		case !whole:
			r.Data, r.Limit, r.Outcome = "these rows", "", Reported
		case float64(good) < least*float64(all):
			r.Outcome, r.Why = Fail, []string{fmt.Sprintf("%d of %d", good, all)}
		}
		return r
	}
	return []Row{
		share("realised ÷ forecast within .5 and 2", "≥ 90 %", good, all, 0.9),
		share("realised within the stated range, from bounds", "≥ 90 %", inside, bounded, 0.9),
	}
}
