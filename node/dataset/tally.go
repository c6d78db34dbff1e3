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
	// keptNumbers and keptValues bound what the tallies of all columns hold, roughly.
	keptNumbers, leastNumbers, mostNumbers = 1 << 21, 256, 1 << 16
	keptValues, leastValues, mostValues    = 1 << 18, 128, 1000
	// longestValue is the most bytes of a value that is counted by itself; a column with
	// a longer one is text.
	longestValue = 256
	// mostCategories is how many different values a column that is taken to be
	// categorical has at most.
	mostCategories = 100
	// mostCommon is how many of them a description lists.
	mostCommon = 20
	// mostBins is how many bins a histogram has at most; with a few numbers it has fewer.
	mostBins, fewestBins = 20, 8
)

// tally counts one column's values.
type tally struct {
	name    string
	nth     int    // of this name in its files
	written bool   // the name is a CSV file's
	holds   string // a type that no study can use
	date    bool   // numbers are dates, as the type says
	typed   bool   // of a database or Parquet: no dialect reads its texts

	present, missing  int64
	numbers, dates    int64 // dates are numbers, too
	otherDates        int64
	binary            int64 // 0 or 1
	odd               position
	least, greatest   float64
	fraction          bool // a number is not whole
	sample            sample
	values            map[string]*int64
	more              bool // there are more different values
	mostValues        int
	absent            places // empty texts
	words             *standIns
	found             findings
	zeroLed           int64   // texts of digits that begin with 0
	length            int     // of the texts that are numbers; -1 where it differs
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

// addText adds a value of text, trimmed; of a CSV file where a dialect is given.
func (t *tally) addText(value []byte, record position, d *Dialect) {
	t.addRead(t.words.read(value), record, d)
}

// addRead adds a value of text in whose place words were read.
func (t *tally) addRead(value []byte, record position, d *Dialect) {
	if len(value) == 0 {
		t.absent.add(record)
		return // missing, as what is not added
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
		var f fate
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
	var f fate
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

// ledByZero notes whether numbers are written as numbers of cards and places are: 00123.
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

// leastNumber is how long a number is at least whose zeros in front say that it counts nothing: months have two.
const leastNumber = 3

// count counts a value among the different ones, as long as they are few and short.
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

// fits counts what a study's column would not take as it is.
func (t *tally) fits(x float64, f fate, wrong *problem, record position) {
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

// middle is a transformed number between the ends at which a scale clips.
func middle(s fixedpoint.Scale) float64 {
	if lo, hi, ok := s.Bounds(); ok {
		return lo/2 + hi/2
	}
	centre, _, _ := s.CentreSpread()
	return centre
}

// kind guesses what the column is. A tenth of its values may be of another kind, as
// words for missing values are; of those that are known, more. Numbers and dates in another form count as such.
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

// doubtful reports a name that may be a value.
func (t *tally) doubtful() bool {
	_, isValue := t.values[t.name]
	_, wrong := parseNumber([]byte(t.name), '.', DateISO)
	_, comma := parseNumber([]byte(t.name), ',', DateISO)
	return t.name == "" || isValue || wrong == nil || wrong == otherDate || comma == nil || !utf8.ValidString(t.name)
}

// truths are what a column's values mean if all of them are words for yes or no, or for a missing value, which is empty;
// none where no word says yes or no.
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

// distribution computes quantiles and histogram; nil without numbers.
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

// bin counts numbers in bins whose edges are round, or around each whole number where
// those are few.
func (n *NumberDescription) bin(numbers []float64, whole bool) {
	most := min(mostBins, max(fewestBins, 2*math.Cbrt(float64(len(numbers))))) // Rice's rule
	place, bins := func(float64) float64 { return 0 }, 1.0
	step := roundStep(n.Greatest/(most-2) - n.Least/(most-2))
	first := math.Floor(n.Least / step)
	n.Low = n.Least
	switch {
	case n.Least == n.Greatest, step == 0, math.IsInf(step, 0), math.IsInf(first, 0), math.IsInf(first*step, 0): // or a step cannot tell them apart
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

// roundStep returns the least of 1, 2 and 5 times powers of ten that is not below x; 0 for 0.
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

// sample holds some of many numbers: those whose record's hash is below a threshold that
// is halved when there are too many. Which they are depends on the records' places alone.
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

// scatter is the finalizer of SplitMix64: a bijection in which nearby places are far apart.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
