package cost

import (
	"testing"
)

// Every cost that plans use is measured. The test does not judge how far forecasts are off.
func TestMeasure(t *testing.T) {
	rows, err := Measure(t.Context(), t.TempDir(), 2*batch)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) < len(shapes())+5 {
		t.Errorf("%d rows of %d shapes", len(rows), len(shapes()))
	}
	for _, r := range rows {
		if !(r.Planned > 0) || r.Measured < 0 {
			t.Errorf("%+v", r)
		}
	}
}

// The plans of large studies say which exceed the records that exact sums hold.
func TestPlan(t *testing.T) {
	planned, err := Plan(t.Context(), []int64{1e6, 1e11}, []int{10}, []int{2})
	if err != nil {
		t.Fatal(err)
	}
	beyond := 0
	for i := 0; i < len(planned); i += 2 {
		few, many := planned[i], planned[i+1]
		if many.Cost.PartySeconds < 9e4*few.Cost.PartySeconds {
			t.Errorf("of %s: %+v, then %+v", few.Sketch, few.Cost, many.Cost)
		}
		if many.Most < many.Records/2 {
			beyond++
		}
	}
	if len(planned) != 8 || beyond != 2 {
		t.Errorf("%d plans, of which %d are beyond exact sums", len(planned), beyond)
	}
}
