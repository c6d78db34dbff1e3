package file

import (
	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// validateOwn checks that columns may be standardised by a party's own values.
func (r *reader) validateOwn(s *study.Study, sk study.Sketch, path string) {
	switch path += ".standardise"; {
	case !sk.Standardise:
	case sk.Side != sketch.Columns: // refused when it is read
	case s.Partition != study.Vertical:
		r.Fail(path, "of columns is for vertical studies: in a horizontal one sketches are summed, and the parties would scale the same column differently").Hint = "remove the key"
	case s.Privacy.Unit != dp.Record || s.Privacy.Mechanism != dp.Gaussian:
		r.Fail(path, "of columns shares the budget of gaussian noise that protects whole records").Hint = "remove the key, or take unit: record and mechanism: gaussian"
	case sk.Helpers.Ones == 0 || sk.Helpers.Squares:
		r.Fail(path, "of columns needs a column of ones, to restore centres, and no squares, since it releases sums in their place").Hint = "take helpers: {ones: 0.7}, or remove the key"
	}
}
