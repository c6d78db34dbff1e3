package local

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"

	"github.com/cosketch/cosketch/protocol/study"
)

// MockOptions configures Mock.
type MockOptions struct {
	Study   *study.Study
	Party   int        // index into Parties, for the columns; in a horizontal study also study.Everyone
	Records int        // at least 1
	Rand    *rand.Rand // the same source gives the same rows
}

// mockAbsent is the fraction of missing values if a study allows them.
const mockAbsent = 0.02

// Mock writes a synthetic CSV file in the form that a study asks of a party. It draws only from the
// declarations of the columns and reads no data. Numbers are normal after their transform, with the
// declared centre and spread, or else around the middle of the bounds with a sixth of their range.
// Bits are 1 with their declared rate, or else with probability 1/2. Categories are equally likely,
// and columns are independent. In a vertical study each party gets the same ids.
func Mock(w io.Writer, o MockOptions) error {
	s := o.Study
	own := s.OwnColumns(o.Party)
	header := append([]string{}, s.Records.ID...)
	for _, c := range own {
		header = append(header, s.Columns[c].Name)
	}
	prefix := "mock"
	if s.Partition == study.Horizontal && o.Party != study.Everyone {
		prefix += "-" + s.Parties[o.Party].Name
	}
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return fmt.Errorf("writing mock data: %w", err)
	}
	row := make([]string, len(header))
	for i := range o.Records {
		for j := range s.Records.ID {
			row[j] = fmt.Sprintf("%s-%d", prefix, i+1)
		}
		for j, c := range own {
			row[len(s.Records.ID)+j] = o.value(s.Columns[c])
		}
		if err := out.Write(row); err != nil {
			return fmt.Errorf("writing mock data: %w", err)
		}
	}
	if out.Flush(); out.Error() != nil {
		return fmt.Errorf("writing mock data: %w", out.Error())
	}
	return nil
}

// value draws a value of a column.
func (o MockOptions) value(c study.Column) string {
	if o.Study.Records.Missing != study.MissingRefuse && o.Rand.Float64() < mockAbsent {
		return ""
	}
	switch c.Kind {
	case study.Categorical:
		return c.Values[o.Rand.IntN(len(c.Values))]
	case study.Binary:
		rate, ok := c.Scale.Rate()
		if !ok {
			rate = 0.5
		}
		if o.Rand.Float64() < rate {
			return "1"
		}
		return "0"
	}
	least, greatest := c.Scale.Ends()
	for {
		x := (least+greatest)/2 + o.Rand.NormFloat64()*(greatest-least)/6
		if x >= least && x <= greatest {
			return strconv.FormatFloat(c.Scale.Transform().Invert(x), 'g', 6, 64)
		}
	}
}
