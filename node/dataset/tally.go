package dataset

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

const (
	// keptNumbers and keptValues bound, roughly, what the tallies of all columns hold; the other
	// constants bound it for one column.
	keptNumbers, leastNumbers, mostNumbers = 1 << 21, 256, 1 << 16
	keptValues, leastValues, mostValues    = 1 << 18, 128, 1000
	// longestValue is the largest size in bytes of a value that is counted separately; a column
	// with a longer one is text.
	longestValue = 256
	// mostCategories bounds the distinct values of a column that is taken to be categorical.
	mostCategories = 100
	// mostCommon is how many values a description lists.
	mostCommon = 20
	// mostBins bounds a histogram's bins. Small samples get fewer, down to about fewestBins.
	mostBins, fewestBins = 20, 8
)

// tally counts one column's values.
type tally struct {
	name    string
	nth     int    // of this name in its files
	written bool   // the name stands in a CSV file
	holds   string // what a column of unusable type holds
	date    bool   // the column's type is a date
	typed   bool   // from a database or Parquet: no dialect applies to its texts

	present, missing  int64
	numbers, dates    int64 // dates count as numbers too
	otherDates        int64
	binary            int64 // 0 or 1
	odd               position
	least, greatest   float64
	fraction          bool // some number is not whole
	sample            sample
	values            map[string]*int64
	more              bool // there are more distinct values
	mostValues        int
	absent            places // empty texts
	words             *replacements
	found             findings
	zeroLed           int64   // digit strings with a leading zero
	length            int     // common length of the texts that are numbers; -1 if it varies
	field             *column // what a study wants, or nil
	bits              fixedpoint.Bits
	entries           []int64
	below, above, not int64
	notAt             position
}

func newTally(name string, nth, columns int) *tally {
	share := func(all, least, most int) int { return max(least, min(most, all/columns)) }
	return &tally{
		name: name, nth: nth, found: findings{forms: allForms}, values: map[string]*int64{}, mostValues: share(keptValues, leastValues, mostValues),
		sample: newSample(share(keptNumbers, leastNumbers, mostNumbers)),
	}
}

// addText adds a trimmed text. Without a dialect, numbers have a decimal point and dates are in ISO
// form.
func (t *tally) addText(value []byte, record position, d *Dialect) {
	t.addRead(t.words.read(value), record, d)
}

// addRead adds a text after words were replaced.
func (t *tally) addRead(value []byte, record position, d *Dialect) {
	if len(value) == 0 {
		t.absent.add(record)
		return // missing, since it is not counted
	}
	if d == nil {
		d = &Dialect{Decimal: DecimalPoint, Date: DateISO}
	}
	t.count(value)
	x, wrong := d.number(value)
	switch {
	case wrong == nil:
		if _, isDate := parseDate(value, d.Date); isDate {
			t.dates++
		} else {
			t.found.read(value)
			t.ledByZero(value)
		}
		t.number(x, record)
	default:
		if t.field == nil || t.field.field.Kind == study.Numeric {
			t.found.unread(value, wrong, record)
		}
		if t.present-t.numbers == 1 {
			t.odd = record
		}
		if wrong == otherDate {
			t.otherDates++
		}
	}
	if t.field != nil {
		var f outcome
		t.entries, f, wrong = t.field.appendText(t.entries[:0], value, d, t.bits)
		if wrong != nil && t.field.field.Kind != study.Numeric {
			t.found.refused(value, t.field, record)
		}
		t.fits(x, f, wrong, record)
	}
}

// addNumber adds a value of a typed column.
func (t *tally) addNumber(x float64, record position) {
	if t.words != nil {
		if to, known := t.words.number(x); known {
			t.addRead(to, record, nil)
			return
		}
	}
	var text [32]byte
	t.count(strconv.AppendFloat(text[:0], x, 'g', -1, 64))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		if t.present-t.numbers == 1 {
			t.odd = record
		}
	} else {
		if t.date {
			t.dates++
		}
		t.number(x, record)
	}
	if t.field == nil {
		return
	}
	var f outcome
	var wrong *problem
	if t.field.field.Kind == study.Categorical {
		t.entries, wrong = t.field.appendCategory(t.entries[:0], strconv.AppendFloat(text[:0], x, 'f', -1, 64), t.bits)
	} else {
		t.entries, f, wrong = t.field.appendNumber(t.entries[:0], x, t.bits)
	}
	if wrong != nil {
		t.found.rest.add(record)
	}
	t.fits(x, f, wrong, record)
}

// ledByZero notes leading zeros and the length of numbers, to detect codes such as 00123.
func (t *tally) ledByZero(value []byte) {
	switch {
	case t.length == 0:
		t.length = len(value)
	case t.length != len(value):
		t.length = -1
	}
	if len(value) > 1 && value[0] == '0' && '0' <= value[1] && value[1] <= '9' {
		t.zeroLed++
	}
}

// leastNumber is the length from which equally long numbers with leading zeros are codes. Months
// have two digits.
const leastNumber = 3

// count counts a value, separately as long as distinct values are few and short.
func (t *tally) count(value []byte) {
	t.present++
	if t.more {
		return
	}
	if n, known := t.values[string(value)]; known {
		*n++
		return
	}
	if len(t.values) == t.mostValues || len(value) > longestValue {
		t.more = true
		return
	}
	t.values[string(value)] = new(int64(1))
}

func (t *tally) number(x float64, record position) {
	if t.numbers++; t.numbers == 1 {
		t.least, t.greatest = x, x
	}
	t.least, t.greatest = min(t.least, x), max(t.greatest, x)
	if x == 0 || x == 1 {
		t.binary++
	}
	t.fraction = t.fraction || x != math.Trunc(x)
	t.sample.add(x, uint64(record))
}

// fits counts values that the study's column would clip or refuse.
func (t *tally) fits(x float64, f outcome, wrong *problem, record position) {
	switch {
	case wrong != nil:
		if t.not++; t.not == 1 {
			t.notAt = record
		}
	case f == clamped && t.field.field.Scale.Transform().Apply(x) >= middle(t.field.field.Scale):
		t.above++
	case f != within:
		t.below++
	}
}

// middle returns a transformed number between a scale's clipping bounds.
func middle(s fixedpoint.Scale) float64 {
	if lo, hi, ok := s.Bounds(); ok {
		return lo/2 + hi/2
	}
	centre, _, _ := s.CentreSpread()
	return centre
}

// kind guesses the kind of the column. Up to a tenth of its values may be of another kind;
// recognised words for missing values are not counted at all. Numbers and dates in another form
// count as such.
func (t *tally) kind() Kind {
	f := &t.found
	values := t.present - f.missing.all().n
	most := func(n int64) bool { return n > 0 && 10*float64(n) >= 9*float64(values) }
	switch {
	case t.holds != "":
		return KindOther
	case t.present == 0:
		return KindEmpty
	case t.binary == t.present:
		return KindBinary
	case most(t.dates + t.otherDates + f.looksLikeDate()):
		return KindDate
	case most(t.numbers+f.numbers.n) && (t.zeroLed == 0 || t.length < leastNumber):
		return KindNumeric
	case !t.more && len(t.values) <= mostCategories && 3*int64(len(t.values)) <= 2*t.present:
		return KindCategorical
	}
	return KindText
}

// describe is called after all values.
func (t *tally) describe(where func(position) string) ColumnDescription {
	out := ColumnDescription{
		Name: t.name, Kind: t.kind(), Holds: t.holds, Present: t.present, Missing: t.missing,
		Distinct: len(t.values), More: t.more, Doubtful: t.written && t.doubtful(),
	}
	switch out.Kind {
	case KindNumeric, KindDate:
		if out.NotNumbers = t.present - t.numbers; out.NotNumbers > 0 {
			out.Odd, out.OtherDates = where(t.odd), t.otherDates
		}
		out.Numbers = t.distribution()
	case KindBinary, KindCategorical:
		out.Common = t.common()
		out.Truths = t.truths()
	}
	out.absent = t.absent.problem("", "", where).Where
	if t.field != nil {
		out.Against = &FitDescription{Below: t.below, Above: t.above, Refused: t.not}
		if t.not > 0 {
			out.Against.First = where(t.notAt)
		}
	}
	return out
}

// doubtful reports whether the column's name may be a value.
func (t *tally) doubtful() bool {
	_, isValue := t.values[t.name]
	_, wrong := parseNumber([]byte(t.name), '.', DateISO)
	_, comma := parseNumber([]byte(t.name), ',', DateISO)
	return t.name == "" || isValue || wrong == nil || wrong == otherDate || comma == nil || !utf8.ValidString(t.name)
}

// truths maps a column's values to 1, 0, or empty for missing, if all of them are words for yes, no
// or a missing value. It returns nil if one is not, or if none means yes or no.
func (t *tally) truths() map[string]string {
	out, any := map[string]string{}, false
	for value := range t.values {
		folded := strings.ToLower(value)
		switch {
		case truths[folded] != "":
			out[value], any = truths[folded], true
		case slices.Contains(missingWords, folded):
			out[value] = ""
		default:
			return nil
		}
	}
	if !any {
		return nil
	}
	return out
}

func (t *tally) common() []ValueCount {
	if t.more {
		return nil
	}
	var out []ValueCount
	for value, n := range t.values {
		out = append(out, ValueCount{value, *n})
	}
	slices.SortFunc(out, func(a, b ValueCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return out[:min(len(out), mostCommon)]
}

// distribution computes quantiles and histogram; nil if there are no numbers.
func (t *tally) distribution() *NumberDescription {
	if t.numbers == 0 {
		return nil
	}
	sorted := t.sample.sorted()
	n := &NumberDescription{Least: t.least, Greatest: t.greatest, Sampled: len(sorted), Count: t.numbers}
	for _, p := range QuantileLevels() {
		n.Quantiles = append(n.Quantiles, sorted[int(p*float64(len(sorted)-1)+0.5)])
	}
	n.bin(sorted, !t.fraction)
	return n
}

// bin fills the histogram. Bins have round edges; or, for few distinct whole numbers, one bin for
// each.
func (n *NumberDescription) bin(numbers []float64, whole bool) {
	most := min(mostBins, max(fewestBins, 2*math.Cbrt(float64(len(numbers))))) // Rice's rule
	place, bins := func(float64) float64 { return 0 }, 1.0
	step := roundStep(n.Greatest/(most-2) - n.Least/(most-2))
	first := math.Floor(n.Least / step)
	n.Low = n.Least
	switch {
	case n.Least == n.Greatest, step == 0, math.IsInf(step, 0), math.IsInf(first, 0), math.IsInf(first*step, 0): // or too close for a step
	case whole && n.Greatest-n.Least < mostBins:
		place, bins = func(x float64) float64 { return x - n.Least }, n.Greatest-n.Least+1
		n.Low, n.Width = n.Least-0.5, 1
	default:
		place = func(x float64) float64 { return math.Floor(x/step) - first }
		bins = place(n.Greatest) + 1
		n.Low, n.Width = first*step, step
	}
	n.Histogram = make([]int64, int(min(bins, mostBins)))
	for _, x := range numbers {
		n.Histogram[int(min(place(x), float64(len(n.Histogram)-1)))]++
	}
}

// roundStep returns the least of 1, 2 and 5 times powers of ten that is at least x; 0 for 0.
func roundStep(x float64) float64 {
	if x == 0 {
		return 0
	}
	power := math.Pow10(int(math.Floor(math.Log10(x))))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= x {
			return digit * power
		}
	}
	return 10 * power
}

// sample keeps a subset of the numbers: those whose record's hash is at most a threshold, which is
// halved when there are too many. The choice depends on the records' places only.
type sample struct {
	most  int
	below uint64
	kept  []sampled
}

type sampled struct {
	hash   uint64
	number float64
}

func newSample(most int) sample { return sample{most: most, below: math.MaxUint64} }

func (s *sample) add(x float64, record uint64) {
	h := scatter(record)
	if h > s.below {
		return
	}
	s.kept = append(s.kept, sampled{h, x})
	for len(s.kept) > s.most {
		s.below /= 2
		s.kept = slices.DeleteFunc(s.kept, func(one sampled) bool { return one.hash > s.below })
	}
}

func (s *sample) sorted() []float64 {
	out := make([]float64, len(s.kept))
	for i, one := range s.kept {
		out[i] = one.number
	}
	slices.Sort(out)
	return out
}

// scatter is the finalizer of SplitMix64: a bijection that maps nearby places far apart.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
