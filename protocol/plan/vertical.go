package plan

import (
	"math"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// holdings returns what is known of the parties' columns in a sketch of the columns side.
func (c *cell) holdings() (out []forecast.PartyColumns) {
	for party := range c.Study.Parties {
		h := forecast.PartyColumns{Records: c.records(party)}
		last := -1
		for _, f := range c.Study.Features(party, c.index) {
			if f.Kind != study.Value && f.Kind != study.OneHot || f.Column == last {
				continue // one entry stands for all values of a category
			}
			last = f.Column
			column := c.Study.Columns[f.Column]
			rate, told := column.Scale.Rate()
			_, _, centred := column.Scale.CentreSpread()
			_, given := c.Spreads[column.Name]
			_, _, bounded := column.Scale.Bounds()
			switch {
			case column.Kind == study.Categorical:
				h.Columns = append(h.Columns, forecast.KnownCategory())
			case bounded && column.Kind == study.Numeric && c.sketch().Standardise:
				h.Columns = append(h.Columns, forecast.KnownSpread())
			case given:
				k := forecast.Known{Column: c.moved(f), Bit: column.Kind == study.Binary, Declared: true, MaxLength: 1}
				if !centred {
					k.MaxLength = math.Max(c.centre(f), 1-c.centre(f))
				}
				h.Columns = append(h.Columns, k)
			case told:
				h.Columns = append(h.Columns, forecast.KnownRate(rate))
			case column.Kind == study.Binary:
				h.Columns = append(h.Columns, forecast.KnownBit())
			case centred:
				h.Columns = append(h.Columns, forecast.KnownSpread())
			default:
				h.Columns = append(h.Columns, forecast.KnownBounds())
			}
		}
		out = append(out, h)
	}
	return out
}

// layout returns the sketch of columns with the smallest forecast error; false if none is chosen.
// It chooses only for whole records, with ones and under gaussian noise.
func (c *cell) layout() (study.Sketch, bool) {
	sk := c.sketch()
	if sk.Side != sketch.Columns || sk.Helpers.Ones == 0 || sk.Helpers.Squares || c.Study.Privacy.Unit != dp.Record || c.Study.Privacy.Mechanism != dp.Gaussian {
		return study.Sketch{}, false
	}
	part, err := c.Study.Part(c.index)
	if err != nil {
		return study.Sketch{}, false
	}
	mu := part.Values.Mu()
	if sk.Standardise {
		rows, _, _ := c.Study.OwnShare(0, c.index)
		mu *= dp.Mu(math.Sqrt(rows))
	}
	l := forecast.VerticalLayout(c.holdings(), mu)
	sk.Projection.K, sk.Clip, sk.Helpers.Ones = l.K, l.Clip, l.Ones
	if s := max(sk.Projection.S, 1); l.K%s != 0 {
		sk.Projection.K = (l.K/s + 1) * s
	}
	return sk, true
}

// laidOut reports whether k, clip and ones of a sketch of columns are close to what the rule gives
// for the known numbers. Such a sketch is best for correlations.
func (c *cell) laidOut() bool {
	best, ok := c.layout()
	own := c.sketch()
	near := func(a, b, share float64) bool { return math.Abs(a-b) <= share*math.Max(a, b) }
	return ok && near(float64(own.Projection.K), float64(best.Projection.K), 0.1) && near(own.Clip, best.Clip, 0.02) && near(own.Helpers.Ones, best.Helpers.Ones, 0.1)
}

// shorter returns the lines of a study file whose sketch of columns cuts few records.
func (c *cell) shorter() []string {
	sk, ok := c.layout()
	if !ok {
		return nil
	}
	at := c.taking(sk)
	return at.lines(Choice{Mechanism: c.Study.Privacy.Mechanism, Family: sk.Projection.Family, S: sk.Projection.S, K: sk.Projection.K, Delta: c.Study.Privacy.Delta})
}
