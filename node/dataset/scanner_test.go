package dataset

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// scanned is the result of a scanner or of the standard library's reader: records with the line of
// each field, and the line of the error that ended them.
type scanned struct {
	Records [][]string
	Lines   [][]int64
	Error   int64
}

func scanOurs(data []byte, mark byte) scanned {
	s := scanner{data: data, line: 1, mark: mark, limit: 1 << 30}
	var out scanned
	for {
		fields, wrong := s.next()
		if wrong != nil {
			out.Error = wrong.line
			return out
		}
		if fields == 0 {
			return out
		}
		var record []string
		var lines []int64
		for _, c := range s.cells[:fields] {
			record, lines = append(record, string(c.text)), append(lines, c.line)
		}
		out.Records, out.Lines = append(out.Records, record), append(out.Lines, lines)
	}
}

func scanTheirs(data []byte, mark byte) scanned {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.FieldsPerRecord = rune(mark), -1
	var out scanned
	for {
		record, err := r.Read()
		if err == io.EOF {
			return out
		}
		if err != nil {
			var e *csv.ParseError
			errors.As(err, &e)
			out.Error = int64(e.StartLine)
			if errors.Is(e.Err, csv.ErrBareQuote) {
				out.Error = int64(e.Line)
			}
			return out
		}
		var lines []int64
		for i := range record {
			line, _ := r.FieldPos(i)
			lines = append(lines, int64(line))
		}
		out.Records, out.Lines = append(out.Records, record), append(out.Lines, lines)
	}
}

func checkScanner(t interface{ Fatalf(string, ...any) }, data []byte, mark byte) {
	if got, want := scanOurs(data, mark), scanTheirs(data, mark); !reflect.DeepEqual(got, want) {
		t.Fatalf("%q with %q:\ngot  %+v\nwant %+v", data, mark, got, want)
	}
}

// The scanner agrees with the standard library's reader on every text.
func TestScannerAgrees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			",", ";", "\t", `"`, `""`, "\n", "\r\n", "\r", "a", "12345678", "ü", "\xff", "\x8a", "\x0a\x0b",
		}), 0, 40).Draw(rt, "pieces")
		checkScanner(rt, []byte(strings.Join(pieces, "")), rapid.SampledFrom([]byte(",;\t|")).Draw(rt, "mark"))
	})
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte("a,\"b\r\n\"\"c\"\r\n\n\"d\",e\"\n"), byte(','))
	f.Add([]byte("\"x\r\n\r"), byte(';'))
	f.Fuzz(func(t *testing.T, data []byte, mark byte) {
		if strings.IndexByte(",;\t|", mark) >= 0 {
			checkScanner(t, data, mark)
		}
	})
}

// Cutting into chunks changes neither what is read nor where an error is.
func TestChunksDoNotMatter(t *testing.T) {
	schema := clinic(t)
	schema.Missing = "centre"
	schema.MaxRecords = 1 << 40
	row := rapid.Custom(func(rt *rapid.T) string {
		return rapid.SampledFrom([]string{
			"%d,,1,170,1,a\n", "%d,\"line\n\nbreak, \"\"quoted\"\"\",64.25,,0,b\n", "\n", "%d,\"\",,,,\"ü\"\r\n",
			"%d,x,1e1,\"170\",1,\"a\"\n", "%d,\"\r\n\",1,2,0,b\n",
		}).Draw(rt, "row")
	})
	bad := []string{"", "", "", "2,bare\",1,170,1,a\n", "2,,word,170,1,a\n", "2,\"open,1,170,1,a\n", "2,,1\n", "2,\"x\"y,1,170,1,a\n"}
	rapid.Check(t, func(rt *rapid.T) {
		var text strings.Builder
		text.WriteString(clinicHeader)
		rows := rapid.SliceOfN(row, 1, 30).Draw(rt, "rows")
		for i, r := range rows {
			if strings.Contains(r, "%d") {
				r = fmt.Sprintf(r, i)
			}
			text.WriteString(r)
			if i == len(rows)/2 {
				text.WriteString(rapid.SampledFrom(bad).Draw(rt, "bad"))
			}
		}
		path := write(t, text.String())
		want := parseInChunks(t, path, schema, 1<<20)
		if got := parseInChunks(t, path, schema, rapid.IntRange(1, 200).Draw(rt, "chunk")); got != want {
			rt.Fatalf("%q\ngot  %s\nwant %s", text.String(), got, want)
		}
	})
}

// parseInChunks returns everything read from a file with chunks of about that size.
func parseInChunks(t *testing.T, name string, schema Schema, size int) string {
	schema, err := schema.prepared()
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(name).files()
	if err != nil {
		t.Fatal(err)
	}
	in, err := openCSV(files[0], 0, newPlan(schema, Replacements{}, Options{}.withDefaults()), Dialect{Delimiter: Comma}, Options{}.withDefaults())
	if err != nil {
		return err.Error()
	}
	defer in.Close()
	in.(*csvFile).chunkBytes = size
	var out strings.Builder
	b := newBlock(in.(*csvFile).plan)
	var reuse rows
	for {
		if reuse, err = in.next(t.Context(), reuse); err != nil {
			return fmt.Sprint(out.String(), err)
		}
		b.reset()
		reuse.parse(b)
		start := 0
		for i, end := range b.ends {
			fmt.Fprintf(&out, "%d %q %v\n", b.seen[i].at, b.arena[start:end], b.values[i*b.plan.width:(i+1)*b.plan.width])
			start = end
		}
		if b.err != nil {
			return out.String() + b.err.Error()
		}
	}
}
