package dataset

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
)

// parts are the parts of a workbook with two sheets, as programs write them.
func parts(rows string) map[string]string {
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	return map[string]string{
		"_rels/.rels":                `<Relationships><Relationship Id="rId1" Type="` + office + `/officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            `<workbook xmlns:r="x"><workbookPr/><sheets><sheet name="Daten" sheetId="7" r:id="rId2"/><sheet name="Legende" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="` + office + `/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="` + office + `/worksheet" Target="worksheets/sheet2.xml"/><Relationship Id="rId3" Type="` + office + `/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId4" Type="` + office + `/styles" Target="styles.xml"/></Relationships>`,
		"xl/sharedStrings.xml":       `<sst><si><t>PatNr</t></si><si><t>Größe</t></si><si><r><t>gebo</t></r><r><t>ren</t></r><rPh><t>spoken</t></rPh></si><si><t xml:space="preserve"> k.A. </t></si><si><t/></si></sst>`,
		"xl/styles.xml":              `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="000000"/><numFmt numFmtId="165" formatCode="[Red]dd\.mm\.yyyy;@"/><numFmt numFmtId="166" formatCode="0.00&quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml":   `<worksheet><sheetData><row r="1"><c t="inlineStr"><is><t>id</t></is></c></row><row r="2"><c><v>1</v></c></row></sheetData></worksheet>`,
		"xl/worksheets/sheet2.xml":   `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	}
}

const sheetHeader = `<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="s"><v>2</v></c><c r="D2" t="str"><v>krank</v></c></row>`

func writeWorkbook(t testing.TB, parts map[string]string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "daten.XLSX")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for part, text := range parts {
		w, err := z.Create(part)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func sheetSchema(t testing.TB) Schema {
	return Schema{ID: []string{"PatNr"}, Bits: 12, MaxRecords: 100, Missing: study.MissingCentre, Fields: []Field{
		{Name: "Größe", Kind: study.Numeric, Scale: bounds(t, 0, 256)}, {Name: "geboren", Kind: study.Numeric, Scale: bounds(t, -40000, 40000)},
		{Name: "krank", Kind: study.Binary, Scale: bounds(t, 0, 1)},
	}}
}

// Numbers are read as stored, dates by their style, ids with the leading zeros that are displayed.
func TestWorkbook(t *testing.T) {
	rows := sheetHeader +
		`<row r="3"><c r="A3" s="2"><v>13</v></c><c r="B3" s="4"><v>171.5</v></c><c r="C3" s="1"><v>44196</v></c><c r="D3" t="b"><v>1</v></c><c r="F3"><v>7</v></c></row>` +
		`<row r="4"/><row r="5"><c r="A5" t="inlineStr"><is><t>x 1</t></is></c><c r="B5" t="s"><v>3</v></c><c r="C5" s="3"><f>A1</f><v>1</v></c><c r="D5" t="s"><v>4</v></c></row>` +
		`<row><c t="str"><v>9</v></c><c/><c t="d"><v>2020-12-31T00:00:00</v></c><c><v>0</v></c></row>`
	source := Files(writeWorkbook(t, parts(rows)))
	source.Words.Missing = []string{"k.A."}
	read, summary, err := readSource(source, sheetSchema(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	clean := Files(write(t, "PatNr,Größe,geboren,krank\n000013,171.5,2020-12-31,1\nx 1,,1900-01-01,\n9,,2020-12-31,0\n"))
	want, _, err := readSource(clean, sheetSchema(t), Options{})
	if err != nil || !reflect.DeepEqual(read, want) {
		t.Errorf("%v: got %v, want %v", err, read, want)
	}
	if got := summary.Origins[0].Format; got != `Excel, sheet "Daten"` || !summary.Complete || summary.Bytes == 0 {
		t.Errorf("%+v", summary)
	}
	d := describe(t, source, DescribeOptions{ID: []string{"PatNr"}})
	if got, want := brief(d), "PatNr: text 3+0 of 3\nGröße: numeric 1+2 of 1 171.5…171.5\ngeboren: date 3+0 of 3 -25567…18627\nkrank: binary 2+1 of 2 0=1 1=1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Another sheet, by name.
	other := source
	other.Sheet = "Legende"
	if d := describe(t, other, DescribeOptions{}); len(d.Columns) != 1 || d.Records != 1 {
		t.Errorf("%+v", d)
	}
	// Day numbers that start in 1904.
	later := parts(sheetHeader + `<row r="3"><c r="A3"><v>1</v></c><c r="C3" s="1"><v>366</v></c></row>`)
	later["xl/workbook.xml"] = strings.Replace(later["xl/workbook.xml"], "<workbookPr/>", `<workbookPr date1904="1"/>`, 1)
	if got := describe(t, Files(writeWorkbook(t, later)), DescribeOptions{}).Columns[2].Numbers.Least; got != -24107+366 { // 1904-01-01 is day -24107
		t.Errorf("day %v", got)
	}
}

// Workbooks written by other programs: testdata holds three made-up records written by openpyxl and
// by XlsxWriter.
func TestWorkbooksOfOthers(t *testing.T) {
	want, _, err := readSource(Files(write(t, "PatNr,Größe,geboren,krank\n000013,171.5,2020-12-31,1\n000007,,1950-02-01,0\n000100,180,1904-02-29,\n")), sheetSchema(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"openpyxl", "xlsxwriter"} {
		source := Files(filepath.Join("testdata", program+".xlsx"))
		source.Sheet = "Fälle"
		source.Words = Replacements{Missing: []string{"k.A."}, Values: map[string]map[string]string{"krank": {"ja": "1", "nein": "0"}}}
		if read, _, err := readSource(source, sheetSchema(t), Options{}); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("%s: %v: got %v, want %v", program, err, read, want)
		}
	}
}

// An error gives its row of the sheet, counting blank ones, and quotes no cell.
func TestWorkbookRefuses(t *testing.T) {
	row := func(cells string) map[string]string { return parts(sheetHeader + `<row r="9">` + cells + `</row>`) }
	without := func(part string) map[string]string {
		out := row(`<c r="A9"><v>1</v></c>`)
		delete(out, part)
		return out
	}
	with := func(part, text string) map[string]string {
		out := row(`<c r="A9"><v>1</v></c>`)
		out[part] = text
		return out
	}
	const damaged = "not a readable Excel workbook (.xlsx) (is it complete? write or copy it again)"
	for name, c := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"word":          {row(`<c r="A9"><v>1</v></c><c r="B9" t="str"><v>SECRET</v></c>`), `row 9: column "Größe": not a decimal number`},
		"error":         {row(`<c r="A9"><v>1</v></c><c r="B9" t="e"><v>#SECRET</v></c>`), `row 9: column "Größe": not a decimal number`},
		"time of day":   {row(`<c r="A9"><v>1</v></c><c r="C9" s="1"><v>44196.5</v></c>`), `row 9: column "geboren": holds times of day, not numbers`},
		"fraction id":   {row(`<c r="A9"><v>1.5</v></c>`), `row 9: column "PatNr": holds floating-point numbers, not text or integers`},
		"date id":       {row(`<c r="A9" s="1"><v>44196</v></c>`), `row 9: column "PatNr": holds times, not text or integers`},
		"no id":         {row(`<c r="B9"><v>44196</v></c>`), `row 9: column "PatNr": record id is empty`},
		"no column":     {parts(`<row r="1"><c r="A1" t="s"><v>0</v></c></row>`), `no column "Größe", "geboren", "krank"`},
		"empty":         {parts(``), `sheet "Daten" is empty`},
		"names alone":   {parts(sheetHeader), "no records"},
		"no workbook":   {without("xl/workbook.xml"), damaged},
		"no sheet":      {without("xl/worksheets/sheet2.xml"), damaged},
		"no texts":      {without("xl/sharedStrings.xml"), damaged},
		"cut":           {with("xl/worksheets/sheet2.xml", sheetHeader+`<row r="3"><c r="A3"><v>1`), damaged},
		"shared":        {row(`<c r="A9" t="s"><v>99</v></c>`), damaged},
		"a number":      {row(`<c r="A9"><v>SECRET</v></c>`), damaged},
		"far away":      {row(`<c r="ZZZZ9"><v>1</v></c>`), damaged},
		"a long text":   {row(`<c r="A9" t="str"><v>` + strings.Repeat("x", 17<<20) + `</v></c>`), damaged},
		"no such names": {map[string]string{}, damaged},
	} {
		_, _, err := readSource(Files(writeWorkbook(t, c.parts)), sheetSchema(t), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v", name, err)
		}
	}
	source := Files(writeWorkbook(t, parts(sheetHeader)))
	source.Sheet = "daten"
	if _, err := Describe(t.Context(), source, DescribeOptions{}); err == nil || !strings.Contains(err.Error(), `no sheet "daten" (the workbook has "Daten", "Legende")`) {
		t.Error(err)
	}
	if _, err := Describe(t.Context(), Files(writeAs(t, "PK\x03\x04", "x.xlsx")), DescribeOptions{}); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Error(err)
	}
}

// Problems of a sheet are listed like those of text.
func TestWorkbookProblems(t *testing.T) {
	rows := sheetHeader
	for i := 3; i < 30; i++ {
		rows += fmt.Sprintf(`<row r="%d"><c r="A%d"><v>%d</v></c><c r="B%d"><v>170</v></c></row>`, 2*i, 2*i, i, 2*i)
	}
	rows += `<row r="70"><c r="A70"><v>70</v></c><c r="B70" t="s"><v>3</v></c></row><row r="71"><c r="A71"><v>71</v></c><c r="B71" t="str"><v>1.234,5</v></c></row>`
	lines, mend := said(describe(t, Files(writeWorkbook(t, parts(rows))), DescribeOptions{}))
	if mend.CSV != (Dialect{Decimal: DecimalComma, Thousands: ThousandsPoint}) {
		t.Errorf("mend %+v", mend)
	}
	if want := []string{`"Größe": 1 number in another form, row 71`, `"Größe": 1 word for a missing value (k.A.), row 70`}; !reflect.DeepEqual(lines, want) || !reflect.DeepEqual(mend.Words.Missing, []string{"k.A."}) {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
}

// Numbers and dates stored as text are read as in a CSV file.
func TestWorkbookTexts(t *testing.T) {
	source := Files(writeWorkbook(t, parts(sheetHeader+`<row r="3"><c r="A3"><v>1</v></c><c r="B3" t="str"><v>171,5</v></c><c r="C3" t="str"><v>31.12.2020</v></c><c r="D3"><v>1</v></c></row>`)))
	if _, _, err := rowsOf(source, sheetSchema(t)); err == nil {
		t.Error("read without a word")
	}
	d := describe(t, source, DescribeOptions{Fields: sheetSchema(t).Fields, Bits: 12})
	source.CSV = Remedy(d.Problems).CSV
	_, got, err := rowsOf(source, sheetSchema(t))
	_, want, _ := rowsOf(Files(write(t, "PatNr,Größe,geboren,krank\n1,171.5,2020-12-31,1\n")), sheetSchema(t))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: %v, want %v", err, got, want)
	}
}

func TestDateCode(t *testing.T) {
	for code, want := range map[string]bool{
		"General": false, "0.00": false, `0" days"`: false, "[Red]0.0": false, `0\d`: false, "#,##0_d": false, "yyyy-mm-dd": true, "[$-407]d. mmm yyyy": true, "hh:mm": true, "0;d": false,
	} {
		if dateCode(code) != want {
			t.Errorf("%s: %v", code, !want)
		}
	}
}
