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
		r.Fail(path, "of columns belongs to vertical studies: sketches of a union add up, and each party's own columns would be another's no more").Hint = "remove the key"
	case s.Privacy.Unit != dp.Record || s.Privacy.Mechanism != dp.Gaussian:
		r.Fail(path, "of columns needs whole records to be protected by gaussian noise, whose budget it shares").Hint = "remove the key, or take unit: record and mechanism: gaussian"
	case sk.Helpers.Ones == 0 || sk.Helpers.Squares:
		r.Fail(path, "of columns needs a column of ones, which gives centres back, and has sums in place of squares").Hint = "take helpers: {ones: 0.7}, or remove the key"
	}
}
