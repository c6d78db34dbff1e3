package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// Assumptions if nothing is declared.
const (
	DefaultRecords = 10_000
	DefaultOverlap = 0.9
)

// maxRecords is the largest record count that can be planned for.
const maxRecords = 1e12

// Options say what to plan, and the public numbers that are known.
type Options struct {
	Study   *study.Study       // required
	Party   int                // whose plan it is, or study.Everyone
	Records map[string]int64   // by party; "" stands for all parties not named. Default: what the study says, or DefaultRecords
	Overlap float64            // shared records of two parties over those of the smaller one. Default: DefaultOverlap
	Spreads map[string]float64 // standard deviations by column, of its values after their transform. Default: what the study declares

	end end
}

// check returns an error for impossible numbers, and for names unknown to the study.
func (o Options) check() error {
	for name, n := range o.Records {
		if _, ok := o.Study.PartyByName(name); name != "" && !ok {
			return fmt.Errorf("records of %q: the study has no such party (its parties: %s)", name, partyNames(o.Study))
		}
		if n < 2 || n > maxRecords {
			return fmt.Errorf("%d records: want 2 to %.0e", n, float64(maxRecords))
		}
	}
	if o.Overlap != 0 && !(o.Overlap > 0 && o.Overlap <= 1) {
		return fmt.Errorf("overlap %g: want a share above 0 and at most 1", o.Overlap)
	}
	for name, spread := range o.Spreads {
		at := slices.IndexFunc(o.Study.Columns, func(c study.Column) bool { return c.Name == name })
		if at < 0 {
			return fmt.Errorf("spread of %q: the study has no such column%s", name, o.columnsLike(name))
		}
		if err := checkSpread(o.Study.Columns[at], spread); err != nil {
			return fmt.Errorf("spread of %q: %w", name, err)
		}
	}
	return nil
}

// columnsLike suggests the column that was meant, or lists the columns that have a spread.
func (o Options) columnsLike(name string) string {
	var all []string
	for _, c := range o.Study.Columns {
		if c.Kind != study.Categorical {
			all = append(all, c.Name)
		}
	}
	if near := schema.Closest(name, all); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return fmt.Sprintf(" (it has %s)", strings.Join(all, ", "))
}

func checkSpread(c study.Column, spread float64) error {
	lo, hi, bounded := c.Scale.Bounds()
	switch {
	case !(spread > 0) || math.IsInf(spread, 0):
		return fmt.Errorf("%g is not above 0", spread)
	case c.Kind == study.Categorical:
		return fmt.Errorf("the column is categorical: its values are taken to be equally frequent")
	case bounded && spread > (hi-lo)/2:
		return fmt.Errorf("%g is more than values within %v to %v can have, half the distance", spread, lo, hi)
	}
	return nil
}

func partyNames(s *study.Study) string {
	out := ""
	for i, p := range s.Parties {
		if i > 0 {
			out += ", "
		}
		out += p.Name
	}
	return out
}

// records returns the planned record count of a party.
func (o Options) records(party int) int64 {
	if n, ok := o.Records[o.Study.Parties[party].Name]; ok {
		return n
	}
	if n, ok := o.Records[""]; ok {
		return n
	}
	if n := o.Study.Parties[party].Records; n > 0 {
		return n
	}
	return DefaultRecords
}

func (o Options) overlap() float64 {
	if o.Overlap == 0 {
		return DefaultOverlap
	}
	return o.Overlap
}

// scaled returns the options with all record counts multiplied by a factor.
func (o Options) scaled(factor float64) Options {
	records := map[string]int64{}
	for i, p := range o.Study.Parties {
		records[p.Name] = int64(math.Min(math.Ceil(float64(o.records(i))*factor), maxRecords))
	}
	o.Records = records
	return o
}

// encoded returns the expected distribution of a feature, in encoded units.
func (o Options) encoded(f study.Feature) forecast.Column {
	c := o.Study.Columns[f.Column]
	unit := unitOf(o.Study, c)
	spread, given := o.Spreads[c.Name]
	_, declared, centred := c.Scale.CentreSpread()
	switch {
	case f.Kind == study.OneHot:
		return forecast.Binary(1 / float64(len(c.Values)))
	case c.Kind == study.Binary && given:
		return forecast.Binary((1 - math.Sqrt(math.Max(0, 1-4*spread*spread))) / 2)
	case c.Kind == study.Binary:
		if rate, told := c.Scale.Rate(); told {
			return forecast.Binary(rate)
		}
		return forecast.Binary(o.rateOf(o.end))
	case centred && !given:
		return forecast.Column{Spread: declared / unit, Kurtosis: c.Kurtosis}
	case centred:
		return forecast.Column{Spread: spread / unit, Kurtosis: c.Kurtosis}
	case given:
		return forecast.Column{Mean: 0.5, Spread: spread / unit, Kurtosis: c.Kurtosis}
	}
	return forecast.Column{Mean: 0.5, Spread: ofRange[o.end], Kurtosis: c.Kurtosis}
}

// unitOf returns an encoded unit of a column in its original units.
func unitOf(s *study.Study, c study.Column) float64 {
	return c.Scale.Step(s.Bits) * float64(s.Bits.One())
}

// describe returns the expected distribution of every column.
func (o Options) describe() []Column {
	var out []Column
	for i, c := range o.Study.Columns {
		f := study.Feature{Column: i, Kind: study.Value}
		if c.Kind == study.Categorical {
			f.Kind = study.OneHot
		}
		e, unit := o.encoded(f), unitOf(o.Study, c)
		d := Column{Name: c.Title(), Mean: c.Scale.Origin() + e.Mean*unit, Spread: e.Spread * unit, From: "assumed"}
		if _, _, ok := c.Scale.CentreSpread(); ok {
			d.From = "declared"
		}
		if _, ok := c.Scale.Rate(); ok {
			d.From = "declared"
		}
		if _, ok := o.Spreads[c.Name]; ok {
			d.From = "given"
		}
		out = append(out, d)
	}
	return out
}

// assumptions lists the plan's assumptions in words.
func (o Options) assumptions() []string {
	s := o.Study
	var out []string
	_, all := o.Records[""]
	told, untold, alike := false, false, false
	for i, p := range s.Parties {
		_, named := o.Records[p.Name]
		told = told || !named && !all && p.Records > 0
		untold = untold || !named && !all && p.Records == 0
		alike = alike || !named && all && o.Party != study.Everyone && i != o.Party
	}
	if told {
		out = append(out, "parties have about as many records as the study file says (--records)")
	}
	if untold {
		out = append(out, fmt.Sprintf("each party whose number of records is not given has %d (--records)", DefaultRecords))
	}
	if alike {
		out = append(out, "every other party has as many records (--records NAME=N)")
	}
	if s.Partition == study.Vertical {
		text := fmt.Sprintf("two parties share %.4g %% of the smaller party's records, drawn at random", 100*o.overlap())
		if o.Overlap == 0 {
			text += " (--overlap)"
		}
		out = append(out, text)
	}
	for i := range s.Sketches {
		if s.Merge(i) == study.Join {
			out = append(out, "distances are between records that every party has")
			break
		}
	}
	tenth, halves, hot, centres := false, false, false, false
	for _, c := range s.Columns {
		_, given := o.Spreads[c.Name]
		_, _, bounded := c.Scale.Bounds()
		_, told := c.Scale.Rate()
		switch {
		case c.Kind == study.Categorical:
			hot = true
		case c.Kind == study.Binary:
			halves = halves || !given && !told
		case bounded:
			tenth = tenth || !given
		default:
			centres = true
		}
	}
	if tenth {
		out = append(out, "the spread of a column with bounds is a tenth of its range; at best a fifth, at worst a fortieth (--spread COLUMN=SD)")
	}
	own := slices.ContainsFunc(s.Sketches, func(sk study.Sketch) bool { return sk.OwnClip })
	switch {
	case centres && own:
		out = append(out, "declared centres and spreads are about right")
	case centres:
		out = append(out, "declared centres and spreads are about right: "+o.times())
	}
	_, looks := s.Look()
	switch {
	case own && looks && s.LooksAtValues():
	case own && looks:
		out = append(out, "the first round finds a longer clip for longer records: "+o.times())
	case own:
		out = append(out, "parties choose longer clips for longer records: "+o.times())
	}
	if halves {
		rare := o.rateOf(worst)
		text := fmt.Sprintf("half of a binary column's values are 1; at worst %g %% (--spread COLUMN=SD; %g %% of ones have a spread of %.2g", 100*rare, 100*rare, math.Sqrt(rare*(1-rare)))
		if s.Partition == study.Vertical {
			text += "; or the public share of ones as centre in the column list"
		}
		out = append(out, text+")")
	}
	if hot {
		out = append(out, "the categories of a column are equally frequent")
	}
	if s.Masked() {
		text := "at most one party colludes, as the study allows"
		if s.Colluding > 1 {
			text = fmt.Sprintf("at most %d parties collude, as the study allows", s.Colluding)
		}
		out = append(out, fmt.Sprintf("all %d parties take part to the end; if fewer do, each adds more noise", len(s.Parties)), text)
	}
	out = append(out, "columns are uncorrelated")
	for _, a := range s.Analyses {
		if at, ok := s.SketchFor(a); ok {
			if assumes := newCell(o, at).of(a.Kind).assumes; assumes != nil && !slices.Contains(out, assumes()) {
				out = append(out, assumes())
			}
		}
	}
	return out
}
