package forecast

import (
	"math"
	"strings"
	"testing"
)

func TestRoundsAreChosen(t *testing.T) {
	mu := promised(t, 1)
	for _, c := range []struct {
		of   CellTerms
		want RoundsChoice
	}{
		{CellTerms{Columns: 20, Clusters: 5, Mu: mu, Parties: 3, Records: 30_000}, RoundsChoice{4, 100, 3, 7}},
		{CellTerms{Columns: 16, Clusters: 8, Mu: mu, Parties: 3, Records: 5_000}, RoundsChoice{7, 80, 3, 7}},
		{CellTerms{Columns: 16, Clusters: 8, Mu: mu, Parties: 3, Records: 5_000, Replaced: true}, RoundsChoice{7, 57, 3, 7}},
		{CellTerms{Columns: 30, Clusters: 2, Mu: mu, Parties: 3, Records: 569}, RoundsChoice{1, 9, 3, 7}},
		{CellTerms{Columns: 4, Clusters: 9, Mu: mu, Parties: 2, Records: 100}, RoundsChoice{4, 18, 3, 7}},
		{CellTerms{Columns: 4, Clusters: 9, Mu: mu, Parties: 2}, RoundsChoice{4, 18, 3, 7}},
		{CellTerms{Columns: 1, Clusters: 2, Mu: mu, Parties: 2, Records: 1e9}, RoundsChoice{1, 100, 3, 7}},
	} {
		if got := c.of.ChooseRounds(); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.of, got, c.want)
		}
	}
}

// Forecasts in designs for which it is known what two rounds find.
func TestCodesAreForecast(t *testing.T) {
	for _, c := range []struct {
		name                       string
		columns, records, clusters int
		epsilon                    float64
		undefined                  string
	}{
		{"five clusters", 20, 30_000, 5, 1, ""},
		{"eight of many records", 8, 100_000, 8, 1, ""},
		{"few records", 30, 569, 2, 4, ""},
		{"few records and a small ε", 30, 569, 5, 1, "can have counts well above the noise"},
		{"hidden axes", 30, 569, 2, 1, "would hide the directions"},
	} {
		terms := CellTerms{Columns: c.columns, Clusters: c.clusters, Mu: promised(t, 1), Parties: 3, Records: float64(c.records)}
		if c.epsilon == 4 {
			terms.Mu = promised(t, 4)
		}
		all := make([]Column, c.columns)
		for i := range all {
			all[i] = Normal(0, 1./3)
		}
		clip := 1.4 * math.Sqrt(float64(c.columns)) / 3
		codes := Codes{
			Columns: all, Keep: Whole(), Records: float64(c.records), Clusters: c.clusters,
			Count: terms.SecondCount() * terms.SecondCount(), Product: 34. / 49 * 3 * math.Pow(clip, 4) / float64(terms.Mu*terms.Mu) / .3,
		}
		got := codes.Size()
		if c.undefined == "" && (got.Undefined != "" || got.HalfWidth <= 0 || got.HalfWidth > .5) || !strings.Contains(got.Undefined, c.undefined) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// The gain of a second round names the round in which clusters can be told apart.
func TestSecondGain(t *testing.T) {
	known, hidden := Error{HalfWidth: .25}, Error{Undefined: "too few cells"}
	for _, c := range []struct {
		one, two Error
		want     string
	}{
		{hidden, hidden, "Clusters cannot be told apart, neither in one round nor in two: too few cells."},
		{known, hidden, "With two rounds, clusters cannot be told apart: too few cells. With one, the number of records of a cluster is known to ± 25 %, if clusters are equally large."},
		{hidden, known, "With two, the number of records of a cluster is known to ± 25 %, if clusters are equally large. With one, clusters cannot be told apart."},
		{known, known, Excess() + ". The number of records of a cluster is known to ± 25 %, if clusters are equally large; with one round, to ± 25 %."},
	} {
		if got := SecondGain(c.one, c.two); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
