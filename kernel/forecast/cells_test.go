package forecast

import (
	"math"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
)

// promised returns the μ of ε at δ = 1e-6.
func promised(t *testing.T, epsilon dp.Epsilon) dp.Mu {
	t.Helper()
	mu, err := dp.MuOf(dp.Budget{Epsilon: epsilon, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	return mu
}

func TestCellsAreChosen(t *testing.T) {
	mu := promised(t, 1)
	for _, c := range []struct {
		of   CellTerms
		want CellChoice
	}{
		{CellTerms{Columns: 20, Clusters: 5, Mu: mu, Parties: 3, Records: 30_000}, CellChoice{9, 4, 1, 3}},
		{CellTerms{Columns: 16, Clusters: 8, Mu: mu, Parties: 3, Records: 20_000}, CellChoice{8, 7, 1, 3}},
		{CellTerms{Columns: 16, Clusters: 8, Mu: mu, Parties: 3, Records: 20_000, Replaced: true}, CellChoice{8, 7, 1, 3}},
		{CellTerms{Columns: 16, Clusters: 8, Mu: mu, Parties: 3, Records: 16_000, Replaced: true}, CellChoice{7, 7, 1, 3}},
		{CellTerms{Columns: 6, Clusters: 4, Mu: mu, Parties: 3, Records: 32_000}, CellChoice{8, 3, 1, 3}}, // the most that 6 columns allow
		{CellTerms{Columns: 30, Clusters: 2, Mu: mu, Parties: 3, Records: 569}, CellChoice{3, 1, 1, 3}},
		{CellTerms{Columns: 30, Clusters: 2, Mu: mu, Parties: 3, Records: 20}, CellChoice{1, 1, 1, 3}},
		{CellTerms{Columns: 1, Clusters: 4, Mu: mu, Parties: 3, Records: 1e9}, CellChoice{1, 1, 1, 3}},
		{CellTerms{Columns: 3, Clusters: 9, Mu: mu, Parties: 2}, CellChoice{4, 3, 1, 3}},
		{CellTerms{Columns: 40, Clusters: 3, Mu: mu, Parties: 2}, CellChoice{5, 2, 1, 3}},
		{CellTerms{Columns: 1 << 15, Clusters: 3, Mu: mu, Parties: 2, Records: 1e12}, CellChoice{6, 2, 1, 3}}, // more entries than a sketch may have
	} {
		if got := c.of.Choose(); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.of, got, c.want)
		}
	}
}

// Forecasts in designs for which it is known how much k-means finds, relative to what it finds
// without noise.
func TestCellsAreForecast(t *testing.T) {
	design := func(columns, records, clusters, cells, q int, parties float64, epsilon dp.Epsilon) Cells {
		mu := float64(promised(t, epsilon))
		all := make([]Column, columns)
		for i := range all {
			all[i] = Normal(0, 1./3)
		}
		d := float64(columns)
		clip := 1.4 * math.Sqrt(d) / 3
		return Cells{
			Columns: all, Keep: Whole(), Records: float64(records), Cells: cells, Clusters: clusters, Subspace: q,
			Count: 2 * parties / (mu * mu * 0.75), Product: 34. / 49 * parties * math.Pow(clip, 4) / (mu * mu * 0.25),
		}
	}
	for _, c := range []struct {
		name   string
		of     Cells
		usable bool
	}{
		{"5 clusters", design(20, 30_000, 5, 512, 4, 3, 1), true},
		{"8 weak clusters, many cells", design(16, 20_000, 8, 2048, 7, 4, 1), true}, // no worse than with the cells that the rule chooses
		{"8 weak clusters, 8 cells", design(16, 20_000, 8, 8, 7, 4, 1), false},
		{"10 of 64 columns", design(64, 3823, 10, 64, 9, 4, 1), false}, // worse than one cluster
		{"10 of 64 columns, ε 4", design(64, 3823, 10, 64, 9, 4, 4), true},
		{"2 of 30 columns, few records", design(30, 100, 2, 8, 1, 3, 1), false},
	} {
		e := c.of.Size()
		if usable := e.Undefined == "" && e.HalfWidth <= 1; usable != c.usable {
			t.Errorf("%s: usable is %v: %+v", c.name, usable, e)
		}
	}
	// The errors of sizes are those of Cells.Group of package cluster.
	of := design(20, 30_000, 5, 500, 4, 3, 1)
	if got, want := of.Size().StandardError, math.Sqrt(of.Count*(100-20))/6000; math.Abs(got/want-1) > 1e-12 {
		t.Errorf("sizes err by %v, want %v", got, want)
	}
	of.Count, of.Product = 0, 0
	if e := of.Size(); e.StandardError != 0 || e.Undefined != "" {
		t.Errorf("without noise: %+v", e)
	}
}
