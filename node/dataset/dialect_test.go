package dataset

import (
	"bytes"
	"compress/gzip"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/cosketch/cosketch/protocol/study"
)

// detected returns the detected format of a file.
func detected(path string, fixed Dialect) (fileFormat, error) {
	files, err := Files(path).files()
	if err != nil {
		return fileFormat{}, err
	}
	text, err := openText(files[0])
	if err != nil {
		return fileFormat{}, err
	}
	defer text.Close()
	f, _, err := text.format(fixed)
	return f, err
}

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"comma":              {"id,x\n1,2\n", "CSV, comma, decimal point, utf-8"},
		"one column":         {"id\n1\n", "CSV, comma, decimal point, utf-8"},
		"hospital":           {"\xef\xbb\xbfid;x\r\n1;2,5\r\n", "CSV, semicolon, decimal comma, utf-8, byte order mark, CRLF"},
		"tabs":               {"id\tx, y\n1\t2.5\n", "CSV, tab, decimal point, utf-8"},
		"bars":               {"id|x\n1|,5\n", "CSV, bar, decimal comma, utf-8"},
		"latin":              {"id;Gr\xf6\xdfe\n1;2\n", "CSV, semicolon, decimal point, utf-8"}, // never assumed
		"thousands":          {"id;x\n1;1,234\n2;12,345\n", "CSV, semicolon, decimal point, utf-8"},
		"surely decimal":     {"id;x\n1;1,234\n2;0,345\n", "CSV, semicolon, decimal comma, utf-8"},
		"both marks":         {"id;x;y\n1;1,5;1.5\n", "CSV, semicolon, decimal point, utf-8"},
		"more commas":        {"id;note\n1;a, b, c, d\n2;x\n", "CSV, semicolon, decimal point, utf-8"},
		"in quotes":          {"id,note\n1,\"a;b;c;d\n;\"\n", "CSV, comma, decimal point, utf-8"},
		"a bad row":          {"id,x,y\n1,2\n", "CSV, comma, decimal point, utf-8"},
		"consistent is best": {"a,b;c;d\n1,2;3\n", "CSV, comma, decimal point, utf-8"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := detected(write(t, c.text), Dialect{})
			if err != nil || got.String() != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	fixed := Dialect{Delimiter: Bar, Decimal: DecimalComma, Encoding: Windows1252, Date: DateDots}
	got, err := detected(write(t, "id,x\n1,2.5\n"), fixed)
	if err != nil || got.Dialect != fixed || got.String() != "CSV, bar, decimal comma, windows-1252, dates DD.MM.YYYY" {
		t.Errorf("got %v, %v", got, err)
	}
}

// german is a CSV file as a German hospital exports it; germanTable is its content.
const german = "PATIENT;Gr\xf6\xdfe;Aufnahme;Station\r\n\"M\xfcller;1\";1,5;1970-01-02;a\r\nP2;\"3,25\";03.01.1970;\x80\r\n"

func germanSchema(t testing.TB) Schema {
	return Schema{
		ID: []string{"patient"}, Bits: testBits, MaxRecords: 10, Normalize: []study.Normalization{study.NormalizeCasefold},
		Fields: []Field{
			{Name: "day", Header: "Aufnahme", Kind: study.Numeric, Scale: bounds(t, 0, 256)},
			{Name: "size", Header: "Größe", Kind: study.Numeric, Scale: bounds(t, 0, 256)},
			{Name: "ward", Header: "Station", Kind: study.Categorical, Values: []string{"a", "€"}},
		},
	}
}

var germanTable = table{IDs: []string{"müller;1", "p2"}, Values: []int64{1, 2, 256, 0, 2, 3, 0, 256}}

func TestDialects(t *testing.T) {
	schema := germanSchema(t)
	schema.ID = []string{"PATIENT"}
	utf8 := "\ufeff" + strings.NewReplacer("\xf6", "ö", "\xdf", "ß", "\xfc", "ü", "\x80", "€").Replace(german)
	for name, c := range map[string]struct {
		text string
		d    Dialect
	}{
		"windows-1252": {german, Dialect{Encoding: Windows1252, Date: DateDots}},
		"utf-8":        {utf8, Dialect{Date: DateDots}},
		"all fixed":    {german, Dialect{Delimiter: Semicolon, Decimal: DecimalComma, Encoding: Windows1252, Date: DateDots}},
	} {
		source := Files(write(t, c.text))
		source.CSV = c.d
		got, _, err := readSource(source, schema, Options{})
		if err != nil || !reflect.DeepEqual(got, germanTable) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	const nothing = hintMissing + ")"
	for _, c := range []struct {
		d    Dialect
		want string
	}{
		{Dialect{}, ":1: header is not valid UTF-8 (" + hintEncoding + ")"},
		{Dialect{Delimiter: Tab, Encoding: Windows1252}, `:1: no column "PATIENT", "Aufnahme", "Größe", "Station" (the first row must name the columns; none of its 1 fields is a name that is looked for; if no tab stands between values, name another csv: {delimiter: …} in the site file)`},
		{Dialect{Decimal: DecimalPoint, Encoding: Windows1252}, `:2: column "Größe": not a decimal number (write 1234.5 or 1.2345e3, with a decimal point, or say csv: {decimal: comma} in the site file` + nothing},
		{Dialect{Encoding: Windows1252}, `:3: column "Aufnahme": a date in another form (` + otherDate.hint + ")"},
		{Dialect{Encoding: Windows1252, Date: DateSlashes}, `:3: column "Aufnahme": a date in another form (` + otherDate.hint + ")"},
	} {
		path := write(t, german)
		source := Files(path)
		source.CSV = c.d
		_, _, err := readSource(source, schema, Options{})
		if want := "reading " + path + c.want; err == nil || err.Error() != want {
			t.Errorf("%+v:\ngot  %v\nwant %s", c.d, err, want)
		}
	}
}

func gzipped(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.Bytes()
}

func zstded(t testing.TB, text string) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll([]byte(text), nil)
}

func writeBytes(t testing.TB, data []byte) string { return write(t, string(data)) }

func TestCompression(t *testing.T) {
	var text strings.Builder
	text.WriteString(clinicHeader)
	for i := range 900 {
		text.WriteString(strings.Replace("P#,some text,64,170,1,a\n", "#", strings.Repeat("x", i+1), 1))
	}
	want, _, err := readAll(write(t, text.String()), clinic(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	half := len(text.String()) / 2
	for name, data := range map[string][]byte{
		"gzip":             gzipped(t, text.String()),
		"gzip, two pieces": append(gzipped(t, text.String()[:half]), gzipped(t, text.String()[half:])...),
		"zstd":             zstded(t, text.String()),
		"zstd, two pieces": append(zstded(t, text.String()[:half]), zstded(t, text.String()[half:])...),
	} {
		path := writeBytes(t, data)
		got, summary, err := readAll(path, clinic(t), Options{})
		if err != nil || !reflect.DeepEqual(got, want) || summary.Bytes != int64(len(data)) {
			t.Errorf("%s: %v, %d records, %d of %d bytes", name, err, len(got.IDs), summary.Bytes, len(data))
		}
		if f, err := detected(path, Dialect{}); err != nil || !strings.HasPrefix(f.String(), "CSV, "+name[:4]+", comma") {
			t.Errorf("%s: detected %v, %v", name, f, err)
		}
	}
}

func TestDamagedCompression(t *testing.T) {
	text := clinicHeader + "1,,1,170,1,a\n"
	for i := range 500 {
		text += strings.Replace("P#,,1,170,1,a\n", "#", strings.Repeat("yz", i), 1)
	}
	flip := func(data []byte, at int) []byte { data[at] ^= 0x55; return data }
	z, zs := gzipped(t, text), zstded(t, text)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"gzip, no trailer":  {z[:len(z)-4], ": the gzip data end too early (the file is not complete: copy it again)"},
		"gzip, half":        {z[:len(z)/2], ": the gzip data end too early (the file is not complete: copy it again)"},
		"gzip, header only": {z[:6], ": the gzip data end too early (the file is not complete: copy it again)"},
		"gzip, checksum":    {flip(bytes.Clone(z), len(z)-6), ": the gzip data are damaged (copy the file again)"},
		"gzip, trailing":    {append(bytes.Clone(z), "something else"...), ": the gzip data are damaged (copy the file again)"},
		"gzip, empty":       {gzipped(t, ""), ": the file is empty"},
		"gzip, twice":       {gzipped(t, string(z)), ": compressed with gzip twice (decompress it once)"},
		"zstd, half":        {zs[:len(zs)/2], ": the zstd data end too early (the file is not complete: copy it again)"},
		"zstd, checksum":    {flip(bytes.Clone(zs), len(zs)-1), ": the zstd data are damaged (copy the file again)"},
	} {
		path := writeBytes(t, c.data)
		_, summary, err := readAll(path, clinic(t), Options{})
		if want := "reading " + path + c.want; err == nil || err.Error() != want || summary.Complete {
			t.Errorf("%s:\ngot  %v\nwant %s", name, err, want)
		}
	}
}

func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := dir + "/" + name
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	schema := Schema{ID: []string{"id"}, Bits: testBits, MaxRecords: 5, Fields: []Field{{Name: "x", Kind: study.Numeric, Scale: bounds(t, 0, 256)}}}
	b := put("b.csv", "x;id\n3;three\n4;four\n")
	a := put("a.csv.gz", string(gzipped(t, "id,x\none,1\ntwo,2\n")))
	got, summary, err := readSource(Files(dir+"/[ab].csv*"), schema, Options{})
	want := table{[]string{"one", "two", "three", "four"}, []int64{1, 2, 3, 4}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if len(summary.Origins) != 2 || summary.Origins[0].Name != a || summary.Origins[0].Format != "CSV, gzip, comma, decimal point, utf-8" ||
		summary.Origins[1].Digest == summary.Digest || summary.Bytes != summary.Size {
		t.Errorf("summary %+v", summary)
	}

	c := put("c.csv", "id,x\nfive,5\ntwo,2\n")
	d := put("d.csv", "id,x\nsix,oops\n")
	e := put("e.csv", "id,y\nsix,6\n")
	none := dir + "/*.tsv"
	literal := put("[x].csv", "id,x\nseven,7\n")
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{a, b, c}, c + ":3: more than 5 records, the limit (party study explain tells how many the study can take)"},
		{[]string{a, c}, c + ":3: record id repeated: " + a + ":3 and " + c + ":3 (a record may appear once: remove or merge the repeated rows)"},
		{[]string{a, d}, d + `:2: column "x": not a decimal number (write 1234.5 or 1.2345e3, with a decimal point` + hintMissing + ")"},
		{[]string{a, e}, e + `:1: no column "x" (did you mean "y"? the file has "id", "y")`},
		{[]string{a, none}, none + ": no file matches the pattern"},
		{[]string{a, dir + "/a*"}, a + ": the file is named twice (the source's paths and patterns overlap)"},
	} {
		if _, _, err := readSource(Files(c.files...), schema, Options{}); err == nil || err.Error() != "reading "+c.want {
			t.Errorf("got  %v\nwant reading %s", err, c.want)
		}
	}
	if got, _, err := readSource(Files(literal), schema, Options{}); err != nil || len(got.IDs) != 1 {
		t.Errorf("a path with brackets: %v, %v", got, err)
	}
}
