package dataset

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// table returns a CSV file with an id column and a value column.
func texts(mark string, values ...string) string {
	text := "id" + mark + "x\n"
	for i, v := range values {
		text += fmt.Sprintf("r%d%s%s\n", i, mark, v)
	}
	return text
}

// rowsOf reads a source with Open, which is strict.
func rowsOf(source Source, s Schema) ([]string, []int64, error) {
	read, _, err := readSource(source, s, Options{})
	return read.IDs, read.Values, err
}

func latin1(text string) string {
	var out []byte
	for _, r := range text {
		out = append(out, byte(r)) // the tests' files are valid in both
	}
	return string(out)
}

// said returns problems as text, and the reading that mends them.
func said(d Description) (lines []string, mend Reading) {
	for _, p := range d.Problems {
		lines = append(lines, p.String())
	}
	return lines, Remedy(d.Problems)
}

// Each problem is reported with count and places and without quotes; with the proposed reading the
// file can be read.
func TestProblems(t *testing.T) {
	words := func(missing ...string) Reading { return Reading{Words: Replacements{Missing: missing}} }
	maps := func(of map[string]string) Reading {
		return Reading{Words: Replacements{Values: map[string]map[string]string{"x": of}}}
	}
	number, binary := Field{Name: "x", Kind: study.Numeric, Scale: bounds(t, -1e6, 1e6)}, Field{Name: "x", Kind: study.Binary, Scale: bounds(t, 0, 1)}
	ward := Field{Name: "x", Kind: study.Categorical, Values: []string{"North", "South"}}
	for name, c := range map[string]struct {
		text  string
		field *Field // of the study; empty if no study asks
		want  []string
		mend  Reading
	}{
		"nothing":      {texts(",", "1", "2.5", "", "1e3"), nil, nil, Reading{}},
		"known words":  {texts(",", "1", "NA", "2", "3", "k.A.", "NA", "NA"), nil, []string{`"x": 4 words for a missing value (NA, k.A.), line 3, line 6, line 7, …`}, words("NA", "k.A.")},
		"NaN":          {texts(",", "1", "NaN", "2"), nil, []string{`"x": 1 word for a missing value (NaN), line 3`}, words("NaN")},
		"other words":  {texts(",", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "SECRET"), nil, []string{`"x": 1 value is not a number, line 12 (correct it, or if it is a word for a missing value name it: --missing WORD)`}, Reading{}},
		"a text":       {texts(",", "SECRET", "another", "third"), nil, nil, Reading{}},
		"points":       {texts(";", "1.234,50", "12,5", "7"), nil, []string{`"x": 1 number in another form, line 2`}, Reading{CSV: Dialect{Decimal: DecimalComma, Thousands: ThousandsPoint}}},
		"commas":       {texts(";", "1,234.50", "12.5", "7"), nil, []string{`"x": 1 number in another form, line 2`}, Reading{CSV: Dialect{Decimal: DecimalPoint, Thousands: ThousandsComma}}},
		"spaces":       {texts(";", "1 234,50", "1\u00a0234,50", "1\u202f234\u202f567,5", "12,5"), nil, []string{`"x": 3 numbers in another form, line 2, line 3, line 4`}, Reading{CSV: Dialect{Decimal: DecimalComma, Thousands: ThousandsSpace}}},
		"apostrophes":  {texts(";", "1'234.50", "7.5"), nil, []string{`"x": 1 number in another form, line 2`}, Reading{CSV: Dialect{Decimal: DecimalPoint, Thousands: ThousandsApostrophe}}},
		"either":       {texts(";", "1,234", "7", "8.5"), nil, []string{`"x": 1 number in another form, line 2`}, Reading{CSV: Dialect{Decimal: DecimalPoint, Thousands: ThousandsComma}}},
		"no telling":   {texts(",", `"1,234"`, "7", `"5,678"`), nil, []string{`"x": 2 numbers in another form, line 2, line 4 (is the comma a decimal mark or between thousands? Say --decimal comma, or --thousands comma)`}, Reading{}},
		"both marks":   {texts(";", "1,2", "1.2", "3,4"), nil, []string{`"x": 2 numbers in another form, line 2, line 4 (no decimal mark and no mark of thousands reads all of them: write them in one form)`}, Reading{}},
		"dots":         {texts(",", "31.12.2020", "1.2.1990", "05.06.2001"), nil, []string{`"x": 3 dates in another form, line 2, line 3, line 4`}, Reading{CSV: Dialect{Date: DateDots}}},
		"slashes":      {texts(",", "31/12/2020", "05/06/2001"), nil, []string{`"x": 2 dates in another form, line 2, line 3`}, Reading{CSV: Dialect{Date: DateSlashes}}},
		"American":     {texts(",", "12/31/2020", "05/06/2001"), nil, []string{`"x": 2 dates in another form, line 2, line 3`}, Reading{CSV: Dialect{Date: DateUS}}},
		"which day":    {texts(",", "01/02/2020", "05/06/2001"), nil, []string{`"x": 2 dates in another form, line 2, line 3 (no day is above 12, so that day and month cannot be told apart: say --date DD/MM/YYYY, or --date MM/DD/YYYY)`}, Reading{}},
		"mixed dates":  {texts(",", "31/12/2020", "12/31/2020"), nil, []string{`"x": 2 dates in another form, line 2, line 3 (they are in several forms, and one can be named: write all of them in one)`}, Reading{}},
		"no such day":  {texts(",", "2020-12-31", "2020-02-31"), nil, []string{`"x": 1 value: no day of the calendar, line 3 (` + notADay.hint + `)`}, Reading{}},
		"short years":  {texts(",", "31.12.20", "01.02.21"), nil, []string{`"x": 2 values: a date with a year of two digits, line 2, line 3 (write years with four digits)`}, Reading{}},
		"times":        {texts(",", "2020-12-31 00:00:00", "2020-12-31T08:15:00"), nil, []string{`"x": 1 value: a date with a time of day, line 3 (` + timeOfDay.hint + `)`}, Reading{}},
		"windows-1252": {texts(",", "1", "2\xe4"), &ward, []string{`1 value is not UTF-8, line 3 (they seem to be windows-1252)`, `"x": 2 values are not among the values that the study lists, line 2, line 3 (say which of the study's values it is: --values 'x=VALUE:STUDYS')`}, Reading{CSV: Dialect{Encoding: Windows1252}}},
		"late":         {texts(",", strings.Repeat("a", sampleBytes), "2\xe4"), nil, []string{`1 value is not UTF-8, line 3 (they seem to be windows-1252)`}, Reading{CSV: Dialect{Encoding: Windows1252}}},
		"a name":       {"id,Gr\xf6\xdfe\nr1,1\n", nil, []string{`names of columns are not UTF-8 (they seem to be windows-1252)`}, Reading{CSV: Dialect{Encoding: Windows1252}}},
		"code page":    {texts(",", "M\x81ller"), nil, []string{`1 value is not UTF-8, line 2 (and not windows-1252 either; save the file as UTF-8)`}, Reading{}},
		"two at once":  {texts(",", "\xe4", "ä"), nil, []string{`1 value is not UTF-8, line 2 (other values are UTF-8: the file mixes two encodings; save it as UTF-8)`}, Reading{}},
		"ragged":       {texts(",", "1", "2,3", "4", "5,6"), nil, []string{`2 rows have another number of fields than the 2 of the header, line 3, line 5 (quote a value that holds a comma or a line break, or name another csv: {delimiter: …} in the site file)`}, Reading{}},
		"quote":        {texts(",", "1", `"2`, "NA"), nil, []string{`a quoted value is not closed, noticed on line 4, line 3 (close it, and double the quotes in it; what follows was not looked at)`}, Reading{}},
		"all at once": {texts(";", "1.234,5", "k.A.", "7", "8;9", "\xe4\xe4\xe4"), &number, []string{
			`1 value is not UTF-8, line 6 (they seem to be windows-1252)`,
			`1 row has another number of fields than the 2 of the header, line 5 (quote a value that holds a semicolon or a line break, or name another csv: {delimiter: …} in the site file)`,
			`"x": 1 number in another form, line 2`,
			`"x": 1 word for a missing value (k.A.), line 3`,
			`"x": 1 value is not a number, line 6 (correct it, or if it is a word for a missing value name it: --missing WORD)`,
		}, Reading{Dialect{Decimal: DecimalComma, Thousands: ThousandsPoint, Encoding: Windows1252}, Replacements{Missing: []string{"k.A."}}}},
		"yes and no": {texts(",", "ja", "Nein", "1", "NA", "2"), &binary, []string{
			`"x": 2 words for yes or no (Nein, ja), line 2, line 3`, `"x": 1 word for a missing value (NA), line 5`, `"x": 1 value is neither 0 nor 1, line 6 (say which value is 1: --values 'x=VALUE:1,OTHER:0')`,
		}, Reading{Words: Replacements{Missing: []string{"NA"}, Values: map[string]map[string]string{"x": {"ja": "1", "Nein": "0"}}}}},
		"another case": {texts(",", "north", "South", "SOUTH", "east"), &ward, []string{
			`"x": 2 values of the study's list in another case, line 2, line 4`, `"x": 1 value is not among the values that the study lists, line 5 (say which of the study's values it is: --values 'x=VALUE:STUDYS')`,
		}, maps(map[string]string{"north": "North", "SOUTH": "South"})},
	} {
		var o DescribeOptions
		if c.field != nil {
			o = DescribeOptions{Fields: []Field{*c.field}, Bits: 12}
		}
		source := Files(write(t, c.text))
		d := describe(t, source, o)
		lines, mend := said(d)
		if !reflect.DeepEqual(lines, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(lines, "\n"), strings.Join(c.want, "\n"))
		}
		if strings.Contains(strings.Join(lines, ""), "SECRET") {
			t.Errorf("%s: a value is quoted", name)
		}
		if !reflect.DeepEqual(mend, c.mend) {
			t.Errorf("%s: mend %+v, want %+v", name, mend, c.mend)
		}
		// With the mend applied, only problems without a mend are left.
		source.CSV, source.Words = mend.CSV, mend.Words
		left := describe(t, source, o)
		unmended := 0
		for _, p := range d.Problems {
			if p.Remedy.IsZero() {
				unmended++
			}
		}
		if len(left.Problems) != unmended {
			t.Errorf("%s: after mending %v", name, left.Problems)
		}
	}
}

// With the proposed reading the strict reader accepts the file; without it, it refuses.
func TestMended(t *testing.T) {
	text := "PatNr;Größe (cm);Kosten;Aufnahme;Raucher;Bereich\r\n" +
		"000013;171,5;1.234,50;31.12.2020;ja;Süd\r\n" +
		"000007;k.A.;12.345,00;1.2.2021;nein;nord\r\n" +
		"000100;\"180\";-7,25;05.06.2021;NA;Nord\r\n"
	raw := write(t, latin1(text))
	schema := Schema{ID: []string{"PatNr"}, Bits: 12, MaxRecords: 10, Missing: study.MissingCentre, Fields: []Field{
		{Name: "Größe (cm)", Kind: study.Numeric, Scale: bounds(t, 0, 250)}, {Name: "Kosten", Kind: study.Numeric, Scale: bounds(t, -100, 20000)},
		{Name: "Aufnahme", Kind: study.Numeric, Scale: bounds(t, 0, 20000)}, {Name: "Raucher", Kind: study.Binary, Scale: bounds(t, 0, 1)},
		{Name: "Bereich", Kind: study.Categorical, Values: []string{"Nord", "Süd"}},
	}}
	if _, _, err := rowsOf(Files(raw), schema); err == nil {
		t.Fatal("read without a word")
	}
	d := describe(t, Files(raw), DescribeOptions{ID: schema.ID, Fields: schema.Fields, Bits: schema.Bits})
	mend := Remedy(d.Problems)
	if d.IDs.LedBy0 != 3 || mend.IsZero() {
		t.Errorf("%+v", d)
	}
	ids, values, err := rowsOf(Source{Files: []string{raw}, CSV: mend.CSV, Words: mend.Words}, schema)
	if err != nil {
		t.Fatal(err)
	}
	// The values equal those of a clean file.
	clean := "PatNr,Größe (cm),Kosten,Aufnahme,Raucher,Bereich\n" +
		"000013,171.5,1234.5,2020-12-31,1,Süd\n000007,,12345,2021-02-01,0,Nord\n000100,180,-7.25,2021-06-05,,Nord\n"
	wantIDs, want, err := rowsOf(Files(write(t, clean)), schema)
	if err != nil || !reflect.DeepEqual(values, want) || !reflect.DeepEqual(ids, wantIDs) {
		t.Errorf("%v: got %v %v, want %v %v", err, ids, values, wantIDs, want)
	}
}

// Words apply to values only: ids stay.
func TestWordsLeaveIDs(t *testing.T) {
	schema := Schema{ID: []string{"id"}, Bits: 12, MaxRecords: 10, Missing: study.MissingCentre, Fields: []Field{{Name: "id", Kind: study.Numeric, Scale: bounds(t, 0, 1000)}}}
	source := Files(write(t, "id\n007\nNA\n999\n"))
	source.Words = Replacements{Missing: []string{"NA", "999"}, Values: map[string]map[string]string{"id": {"007": "9"}}}
	ids, values, err := rowsOf(source, schema)
	centre := schema.Fields[0].Scale.Missing(12)
	nine, _ := schema.Fields[0].Scale.Encode(9, 12)
	if err != nil || !reflect.DeepEqual(ids, []string{"007", "NA", "999"}) || !reflect.DeepEqual(values, []int64{nine, centre, centre}) {
		t.Errorf("%v %v %v", ids, values, err)
	}
}

// Equally long numbers with leading zeros are codes, not quantities; month numbers are quantities.
func TestLeadingZeros(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Kind
	}{
		"places":     {texts(",", "01067", "01069", "10115", "01067"), KindText},
		"wards":      {texts(",", "001", "002", "001", "002", "001", "002"), KindCategorical},
		"months":     {texts(",", "01", "02", "12", "11"), KindNumeric},
		"quantities": {texts(",", "100", "200", "0", "300"), KindNumeric},
		"fractions":  {texts(",", "0.5", "0.7", "1.5"), KindNumeric},
	} {
		if d := describe(t, Files(write(t, c.text)), DescribeOptions{}); d.Columns[1].Kind != c.want {
			t.Errorf("%s: %s, want %s", name, d.Columns[1].Kind, c.want)
		}
	}
}

func TestThousands(t *testing.T) {
	for text, want := range map[string]float64{"1.234,5": 1234.5, "1.234.567": 1234567, "-1.234": -1234, "+12.345,6e1": 123456, "12": 12, "12,5": 12.5, "1234,5": 1234.5, "1.23": -1, "1.2345": -1, ".123": -1, "1..234": -1, "1234.567": -1, "1.234,567.8": -1, "1.234.": -1} {
		x, wrong := (&Dialect{Decimal: DecimalComma, Thousands: ThousandsPoint}).number([]byte(text))
		if bad := want == -1; bad != (wrong != nil) || !bad && x != want {
			t.Errorf("%s: %v, %v", text, x, wrong)
		}
	}
	// Without the option, possible thousands separators are reported.
	for text, want := range map[string]*problem{"1.234,5": grouped, "1 234": grouped, "1'234": grouped, "1,234": notNumber, "31.02.1990": notADay, "1.2.90": shortYear, "2020-01-02 10:00": timeOfDay, "A1": notNumber} {
		if _, wrong := (&Dialect{Decimal: DecimalPoint, Date: DateDots}).number([]byte(text)); wrong != want {
			t.Errorf("%s: %v, want %v", text, wrong, want)
		}
	}
}

// Words for yes and no are proposed together with those for a missing value; a column with only the
// latter proposes neither.
func TestYesAndNoBesideMissingWords(t *testing.T) {
	one := func() *int64 { n := int64(1); return &n }
	for name, want := range map[string]map[string]string{
		"ja nein k.A.": {"ja": "1", "nein": "0", "k.A.": ""},
		"k.A. NA":      nil,
		"ja blau":      nil,
	} {
		column := tally{values: map[string]*int64{}}
		for _, word := range strings.Fields(name) {
			column.values[word] = one()
		}
		if got := column.truths(); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
