package console

import (
	"github.com/cosketch/cosketch/node/figure"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Headings of columns of intervals: what those are for.
const (
	forRecords = ">" + analysis.ForRecords
	forPeople  = ">" + analysis.ForPeople
)

// heads are the headings of a table whose last column is of intervals for these records,
// and where there are others, one for people like these.
func heads(people bool, names ...string) []string {
	names = append(names, forRecords)
	if people {
		names = append(names, forPeople)
	}
	return names
}

// cells are those of a row of such a table, for a number of which the others are told.
func cells(people bool, n analysis.Number, others ...string) []string {
	if people {
		others = append(others, peopleText(n))
	}
	return others
}

// peopleText is the interval for people like these, as a cell of a table.
func peopleText(n analysis.Number) string {
	if n.Estimate == nil || n.PopulationLow == nil || n.PopulationHigh == nil {
		return ""
	}
	_, between := interval(*n.Estimate, *n.PopulationLow, *n.PopulationHigh)
	return between
}

// interval prints an estimate and its interval, both rounded to the interval's
// width.
func interval(estimate, low, high float64) (number, between string) {
	return figure.Interval(estimate, low, high)
}
