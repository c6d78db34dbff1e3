package measure_test

import (
	"testing"

	"github.com/cosketch/cosketch/protocol/measure"
)

// The texts are pinned to those in documents.
func TestUnitsAreWorded(t *testing.T) {
	for _, c := range []struct {
		unit                 measure.Unit
		text, name, sentence string
	}{
		{measure.Original, "original", "original", "In original units."},
		{measure.Encoded, "encoded: (value - origin) over the range of bounds or over 3 spreads", "encoded",
			"In encoded units: (value - origin) over the range of bounds or over 3 spreads."},
		{measure.NoOffset, "encoded: (value - origin) over the range of bounds or over 3 spreads, as the sketch has no column of ones", "encoded",
			"In encoded units: (value - origin) over the range of bounds or over 3 spreads, as the sketch has no column of ones."},
		{measure.Centred, "encoded: (value - centre) over the range of bounds or over 3 spreads, the centre of bounds being their middle", "encoded",
			"In encoded units: (value - centre) over the range of bounds or over 3 spreads, the centre of bounds being their middle."},
		{measure.Squared, "squared encoded: (value - origin) over the range of bounds or over 3 spreads", "squared encoded",
			"In squared encoded units: (value - origin) over the range of bounds or over 3 spreads."},
		{measure.Density, "plain: the density around the neighbours over that around the record", "plain",
			"In plain units: the density around the neighbours over that around the record."},
		{"new: of a later version", "new: of a later version", "new: of a later version", "In new: of a later version units."},
	} {
		if string(c.unit) != c.text || c.unit.Name() != c.name || c.unit.Sentence() != c.sentence {
			t.Errorf("%q is %q and says %q", c.unit, c.unit.Name(), c.unit.Sentence())
		}
	}
}
