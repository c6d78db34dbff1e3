// Package defaults measures the answers of drafted studies: whether they are as accurate as their
// labels say, and how close they are to the best that the budget can buy. Each study is written by
// the draft, only from what people would know of the columns. It is played many times with the real
// code within one process; each time data are dealt out, described and noised anew. Answers are
// compared with the raw records, not with the records as the study's terms transform them.
//
// A row of the table is one kind of answer in one setting. It fails if a test rejects its coverage
// at the level Rejection, if its errors are larger than a reference allows, if its numbers are
// undefined, or if the plan forecast a usable answer and it is not. Type coverage documents how the
// test allows for correlated intervals of one study.
package defaults

import (
	"context"
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/testnet/corpus"
)

// Measure measures the whole table. It needs the data sets of the folder.
func Measure(ctx context.Context, folder *corpus.Corpus, o Options) ([]Row, error) {
	if folder == nil {
		return nil, fmt.Errorf("measuring the defaults: %w", corpus.ErrNone)
	}
	sets, err := load(folder)
	if err != nil {
		return nil, fmt.Errorf("measuring the defaults: %w", err)
	}
	high, err := rich(*folder)
	if err != nil {
		return nil, fmt.Errorf("measuring the defaults: %w", err)
	}
	if len(high) != len(sets.adult.rows) {
		return nil, errors.New("measuring the defaults: as many incomes as people")
	}
	out, err := measureAll(ctx, long(sets, high), o)
	if err != nil {
		return nil, fmt.Errorf("measuring the defaults: %w", err)
	}
	return out, nil
}

// malignant is the label column of the breast cancer data.
const malignant = "malignant"

// long returns the whole table.
func long(sets real, high []bool) (out []measured) {
	horizontal := []*data{sets.adult, sets.diabetes, sets.heart, sets.retail, sets.cancer}
	for _, g := range generated() {
		horizontal = append(horizontal, g.fixed())
	}
	for _, d := range horizontal {
		for _, epsilon := range []float64{1, 4} {
			for _, masked := range []bool{false, true} {
				out = append(out, moments(d, epsilon, masked, bySpread))
			}
		}
	}
	for _, d := range []*data{sets.adult, sets.diabetes, normal(15_000, 0.3).fixed(), constant(15_000).fixed()} {
		out = append(out, moments(d, 1, false, byBounds), moments(d, 4, false, byBounds))
	}
	out = append(out, labels(sets, high)...)
	out = append(out, verticals(sets)...)
	out = append(out,
		clustered(mixture("5 clusters", 30_000, 20, 5, 1).fixed(), 5, 1.10),
		clustered(mixture("8 weak clusters", 20_000, 16, 8, 0.4).fixed(), 8, 1.20),
		clustered(skewed(20_000, 0.8, 0).fixed(), 4, 1.20),
		clustered(sets.adult, 4, 1.10),
		clustered(sets.diabetes, 5, 1.10),
		population(15_000, 4, 0), population(15_000, 4, 0.5), population(15_000, 4, 1), population(100_000, 1, 1),
	)
	return append(out, studies()...)
}

// generated returns the generators of horizontal data.
func generated() []generator {
	return []generator{
		normal(15_000, 0.3), normal(15_000, 0.95), skewed(15_000, 1, 0), skewed(60_000, 1, 0.95), pareto(20_000), oneSided(40_000),
		rare(20_000), letters(20_000), constant(15_000), lacking(15_000),
	}
}

func labels(sets real, high []bool) (out []measured) {
	patients := labelled(sets.cancer, malignant, func(row int) bool { return sets.malignant[row] })
	three := classes(15_000).fixed()
	for _, epsilon := range []float64{1, 4} {
		out = append(out, told(three, epsilon, false), told(three, epsilon, true))
		if sets.adult != nil {
			out = append(out, told(labelled(sets.adult, "rich", func(row int) bool { return high[row] }), epsilon, false))
			out = append(out, explained(sets.diabetes, epsilon, false, "time_in_hospital"), explained(sets.adult, epsilon, false, "hours-per-week"))
		}
		out = append(out, explained(normal(15_000, 0.95).fixed(), epsilon, false, "x0"))
	}
	return append(out, told(patients, 4, false), explained(sets.cancer, 4, false, `"mean radius"`))
}

func verticals(sets real) []measured {
	none := limits{low: 0.93}
	out := []measured{
		vertical(answers("answers, rates .2–.8", 40_000, 0.2, 0.8).fixed(), 4, 0.85, bySpread, limits{low: 0.90, rmse: 0.06, none: true}, limits{low: 0.93, rmse: 0.04, none: true}),
		vertical(answers("answers, rates .01–.5", 40_000, 0.01, 0.5).fixed(), 4, 0.85, bySpread, limits{low: 0.90, rmse: 0.12, none: true}, limits{low: 0.93, rmse: 0.03, none: true}),
		vertical(answers("answers, rates .2–.8", 40_000, 0.2, 0.8).fixed(), 1, 0.85, bySpread, none, limits{low: 0.93, rmse: 0.166, none: true}),
	}
	for _, rates := range []struct {
		name      string
		low, high float64
	}{{"answers, rates .2–.8", 0.2, 0.8}, {"answers, rates .01–.5", 0.01, 0.5}, {"answers, rates .05", 0.05, 0.05}, {"answers, rates .004–.03", 0.004, 0.03}} {
		out = append(out, vertical(answers(rates.name, 40_000, rates.low, rates.high).fixed(), 4, 0.85, byRates, limits{low: 0.90}, limits{low: 0.93}))
	}
	if sets.baskets != nil {
		out = append(out, vertical(sets.baskets, 4, 0.85, bySpread, limits{low: 0.90, rmse: 0.12, none: true}, limits{low: 0.93, rmse: 0.03, none: true}))
		out = append(out, vertical(sets.baskets, 4, 0.85, byRates, limits{low: 0.90}, limits{low: 0.93}))
	}
	return out
}

// studies returns three studies that users drafted and that went wrong.
func studies() []measured {
	amounts := moments(credit().fixed(), 1, false, byBounds)
	sugar := diabetics().fixed()
	sugar.parties = make([][]int, 3)
	for r := range sugar.rows {
		sugar.parties[r%3] = append(sugar.parties[r%3], r)
	}
	few := vertical(clinic().fixed(), 1, 0.9, byBounds, limits{low: 0.93}, limits{low: 0.93})
	return []measured{amounts, moments(sugar, 1, false, byBounds), few}
}

// short returns a part of the table that needs no folder.
func short(sets real) []measured {
	weak := limits{low: 0.93}
	return []measured{
		moments(normal(15_000, 0.3).fixed(), 1, false, bySpread),
		moments(normal(15_000, 0.3).fixed(), 1, true, bySpread),
		moments(normal(15_000, 0.3).fixed(), 1, false, byBounds),
		moments(normal(15_000, 0.95).fixed(), 4, false, bySpread),
		moments(skewed(15_000, 1, 0).fixed(), 4, false, bySpread),
		moments(pareto(10_000).fixed(), 1, false, bySpread),
		moments(oneSided(10_000).fixed(), 1, false, bySpread),
		moments(rare(10_000).fixed(), 1, false, bySpread),
		moments(letters(10_000).fixed(), 1, false, bySpread),
		moments(constant(10_000).fixed(), 1, false, bySpread),
		moments(lacking(10_000).fixed(), 1, false, bySpread),
		moments(sets.cancer, 4, false, bySpread),
		told(classes(9_000).fixed(), 4, false),
		explained(sets.cancer, 4, false, `"mean radius"`),
		vertical(answers("answers, rates .2–.8", 10_000, 0.2, 0.8).fixed(), 4, 0.85, bySpread, weak, weak),
		vertical(answers("answers, rates .02–.5", 10_000, 0.02, 0.5).fixed(), 4, 0.85, byRates, weak, weak),
		clustered(mixture("5 clusters", 15_000, 20, 5, 1).fixed(), 5, 1.10),
		population(6_000, 4, 0.5),
		moments(credit().fixed(), 1, false, byBounds),
	}
}
