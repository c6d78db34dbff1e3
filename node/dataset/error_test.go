package dataset

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// secret marks values and ids that no error may show.
const secret = "s3cr3t"

func TestBadFiles(t *testing.T) {
	row := func(cells string) string { return clinicHeader + "1,,1,170,1,a\n" + cells + "\n" }
	const numberHint = " (write 1234.5 or 1.2345e3, with a decimal point" + hintMissing + ")"
	const encodingHint = " (save the file as UTF-8, or if it is windows-1252 say so: --encoding windows-1252, or csv: {encoding: windows-1252} in the site file)"
	const quoteHint = " (quote a value that holds a comma or a line break, or name another csv: {delimiter: …} in the site file)"
	for name, c := range map[string]struct{ text, want string }{
		"empty":                 {"", ": the file is empty"},
		"blank lines":           {"\n\n", ": no header: the file holds blank lines only"},
		"header only":           {clinicHeader, ": no records, only a header"},
		"header, no newline":    {strings.TrimSpace(clinicHeader), ": no records, only a header"},
		"two bytes":             {"a\n", `:1: no column "patient", "age", "Height (cm)", "smoker", "ward" (the first row must name the columns; none of its 1 fields is a name that is looked for; if no comma stands between values, name another csv: {delimiter: …} in the site file)`},
		"absent column":         {"patient,Age ,height (cm),smoker,ward\n", `:1: no column "age", "Height (cm)" (did you mean "Age"? the file has "patient", "Age", "height (cm)", "smoker", "ward")`},
		"no header":             {secret + "," + secret + ",1,170,1,a\n", `:1: no column "patient", "age", "Height (cm)", "smoker", "ward" (the first row must name the columns; none of its 6 fields is a name that is looked for)`},
		"repeated column":       {"patient,age,age,Height (cm),smoker,ward\n", `:1: column "age": the header has this name twice (rename one of the two columns)`},
		"latin-1 header":        {"patient,Gr\xf6\xdfe\n", `:1: header is not valid UTF-8` + encodingHint},
		"semicolons":            {"patient;age;smoker\n1;2;3\n", `:1: no column "Height (cm)", "ward" (the file has "patient", "age", "smoker")`},
		"tabs":                  {"patient\tage\tsmoker\n", `:1: no column "Height (cm)", "ward" (the file has "patient", "age", "smoker")`},
		"workbook":              {"PK\x03\x04....", `: a workbook or archive, not text (if it is a workbook let its name end in .xlsx)`},
		"gzip":                  {"\x1f\x8b\x08\x00", `: the gzip data end too early (the file is not complete: copy it again)`},
		"database":              {"SQLite format 3\x00....", `: an SQLite database, not text (name it with party data add NAME FILE --query 'SELECT …')`},
		"parquet":               {"PAR1....", `: a Parquet file, not text (let its name end in .parquet)`},
		"word":                  {row("2,," + secret + ",170,1,a"), `:3: column "age": not a decimal number` + numberHint},
		"column by header":      {row("2,,1," + secret + ",1,a"), `:3: column "Height (cm)": not a decimal number` + numberHint},
		"NA":                    {row("2,,NA,170,1,a"), `:3: column "age": not a decimal number` + numberHint},
		"decimal comma":         {row(`2,,"1,5",170,1,a`), `:3: column "age": not a decimal number` + numberHint},
		"hexadecimal":           {row("2,,0x1p4,170,1,a"), `:3: column "age": not a decimal number` + numberHint},
		"underscore":            {row("2,,1_000,170,1,a"), `:3: column "age": not a decimal number` + numberHint},
		"lone sign":             {row("2,,-,170,1,a"), `:3: column "age": not a decimal number` + numberHint},
		"two numbers":           {row("2,,1 2,170,1,a"), `:3: column "age": not a decimal number` + numberHint},
		"NaN":                   {row("2,,NaN,170,1,a"), `:3: column "age": not a finite number (` + notFinite.hint + ")"},
		"infinity":              {row("2,,-Inf,170,1,a"), `:3: column "age": not a finite number (` + notFinite.hint + ")"},
		"overflow":              {row("2,,1e999,170,1,a"), `:3: column "age": not a finite number (` + notFinite.hint + ")"},
		"binary":                {row("2,,1,170,true,a"), `:3: column "smoker": neither 0 nor 1 (` + notBinary.hint + ")"},
		"binary 1.0":            {row("2,,1,170,1.0,a"), `:3: column "smoker": neither 0 nor 1 (` + notBinary.hint + ")"},
		"category":              {row("2,,1,170,1," + secret), `:3: column "ward": not one of the column's values (` + notInList.hint + ")"},
		"category case":         {row("2,,1,170,1,A"), `:3: column "ward": not one of the column's values (` + notInList.hint + ")"},
		"category bytes":        {row("2,,1,170,1,\xff"), `:3: column "ward": not valid UTF-8` + encodingHint},
		"missing":               {row("2,, ,170,1,a"), `:3: column "age": value is missing (the study says missing: refuse)`},
		"empty id":              {row(" ,,1,170,1,a"), `:3: column "patient": record id is empty (every row needs an id that is not empty after normalisation)`},
		"id bytes":              {row("\xff,,1,170,1,a"), `:3: column "patient": not valid UTF-8` + encodingHint},
		"short row":             {row(secret + ",1"), `:3: 2 fields where the header has 6` + quoteHint},
		"long row":              {row(secret + ",,1,170,1,a,b"), `:3: 7 fields where the header has 6` + quoteHint},
		"bare quote":            {row(`2,5" ` + secret + `,1,170,1,a`), `:3: a quote within an unquoted value (quote the whole value and double the quotes in it)`},
		"open quote":            {row(`2,"` + secret), `:3: a quoted value is not closed, or a quote in it not doubled`},
		"open quote, later one": {row("2,\"" + secret + "\n3,,1,170,1,\"a\"\n"), `:3: a quoted value is not closed, noticed on line 4 (close it, and double the quotes in it)`},
		"open quote at end":     {clinicHeader + `2,"` + secret, `:2: a quoted value is not closed, or a quote in it not doubled`},
		"text after quote":      {row(`2,"a" ` + secret + `,1,170,1,a`), `:3: a quoted value is not closed, or a quote in it not doubled`},
		"after line breaks":     {row("2,\"one\n\ntwo\",1,170,1,a\n\n3,\"x\n\",oops,170,1,a"), `:8: column "age": not a decimal number` + numberHint},
		"duplicate":             {row("P1 ,,1,170,1,a\n\n\"p1\",,1,170,1,a"), `:5: record id repeated: lines 3 and 5 (a record may appear once: remove or merge the repeated rows)`},
		"duplicates":            {row(strings.Repeat("1,,1,170,1,a\n", 9)), `:3: record id repeated: lines 2 and 3, 2 and 4, 2 and 5, 2 and 6, 2 and 7, and 4 more (a record may appear once: remove or merge the repeated rows)`},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, c.text)
			_, summary, err := readAll(path, clinic(t), Options{})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want an *Error", err)
			}
			if want := "reading " + path + c.want; e.Error() != want {
				t.Errorf("got  %s\nwant %s", e, want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Error("the error shows a value")
			}
			if summary.Complete {
				t.Error("the file counts as complete")
			}
		})
	}
}

func TestTooManyRecords(t *testing.T) {
	schema := clinic(t)
	text := clinicHeader + "1,,1,170,1,a\n2,,1,170,1,a\n3,,1,170,1,a\n"
	schema.MaxRecords = 3
	if _, _, err := readAll(write(t, text), schema, Options{}); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	schema.MaxRecords = 2
	_, _, err := readAll(write(t, text), schema, Options{BatchRecords: 1})
	if err == nil || !strings.HasSuffix(err.Error(), "data.csv:4: more than 2 records, the limit (party study explain tells how many the study can take)") {
		t.Errorf("got %v", err)
	}
}

func TestNothingLeft(t *testing.T) {
	schema := clinic(t)
	schema.Missing = study.MissingSkip
	_, _, err := readAll(write(t, clinicHeader+"1,,,170,1,a\n"), schema, Options{})
	if err == nil || !strings.HasSuffix(err.Error(), "no record is left: a value is missing in each") {
		t.Errorf("got %v", err)
	}
}

func TestNotAFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.csv")
	_, err := Open(t.Context(), Files(missing), clinic(t), Options{})
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "reading "+missing+": no such file" {
		t.Errorf("missing: %v", err)
	}
	_, err = Open(t.Context(), Files(dir), clinic(t), Options{})
	if err == nil || err.Error() != "reading "+dir+": a directory (name the file in it, or a pattern that ends like /*.csv)" {
		t.Errorf("directory: %v", err)
	}
	_, err = Open(t.Context(), Files(os.DevNull), clinic(t), Options{})
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("device: %v", err)
	}
	if os.Geteuid() == 0 {
		return // root can read every file
	}
	locked := write(t, clinicHeader)
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), Files(locked), clinic(t), Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable: %v", err)
	}
}

func TestBadSchema(t *testing.T) {
	path := write(t, clinicHeader)
	for want, change := range map[string]func(*Schema){
		"no id column":                       func(s *Schema) { s.ID = nil },
		"id column 1 has no name":            func(s *Schema) { s.ID = []string{" "} },
		`unknown normalization "upper"`:      func(s *Schema) { s.Normalize = []study.Normalization{"upper"} },
		`unknown rule "sum" for duplicate`:   func(s *Schema) { s.Duplicates = "sum" },
		`unknown rule "zero" for missing`:    func(s *Schema) { s.Missing = "zero" },
		"99 bits":                            func(s *Schema) { s.Bits = 99 },
		"limit of 0 records":                 func(s *Schema) { s.MaxRecords = 0 },
		`column "" has no name`:              func(s *Schema) { s.Fields[0] = Field{Kind: study.Numeric} },
		`column "age" has no scale`:          func(s *Schema) { s.Fields[0].Scale = fixedpoint.Scale{} },
		`column "ward": unknown kind "text"`: func(s *Schema) { s.Fields[3].Kind = "text" },
		`column "ward" has no values`:        func(s *Schema) { s.Fields[3].Values = nil },
		`value "a" is empty or listed twice`: func(s *Schema) { s.Fields[3].Values = []string{"a", "a"} },
	} {
		schema := clinic(t)
		change(&schema)
		if _, err := Open(context.Background(), Files(path), schema, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{
		clinicHeader + "1,x,1,170,1,a\n2,\"\n\"\"\",2e1,1.5,0,b\n",
		clinicHeader + "1,,,,,\n",
		"\ufeff" + clinicHeader + "1,,1,1,1,a\r\n1,,1,1,1,a\r\n",
		strings.ReplaceAll(clinicHeader, ",", ";") + "1;;\"1,5\";170,25;1;a\r\n2;;2,5;171;0;b\r\n",
		clinicHeader + "\"", "\xff\xfe", ";", "",
	} {
		f.Add([]byte(text))
	}
	schema := clinic(f)
	schema.Missing = study.MissingCentre
	path := filepath.Join(f.TempDir(), "data.csv")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		all, summary, err := readAll(path, schema, Options{BatchRecords: 2, MaxRecordBytes: 1 << 10})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		if !summary.Complete || summary.Bytes != int64(len(data)) || summary.Records != int64(len(all.IDs)) {
			t.Errorf("summary %+v of %d records in %d bytes", summary, len(all.IDs), len(data))
		}
		for _, v := range all.Values {
			if v < -testBits.One() || v > testBits.One() {
				t.Errorf("value %d out of range", v)
			}
		}
	})
}
