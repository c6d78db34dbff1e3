package console

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/parquet-go/parquet-go"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

// filler gives every number and text in a structure a distinct value.
type filler struct{ count, pairs int }

func (f *filler) fill(v reflect.Value) {
	f.count++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("word%d", f.count))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(1000 + f.count))
	case reflect.Uint32:
		v.SetUint(uint64(1000 + f.count))
	case reflect.Float64:
		v.SetFloat(float64(f.count) + 0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.fill(v.Field(i))
			}
		}
		if p, ok := v.Addr().Interface().(*analysis.Pair); ok { // of two features
			p.I, p.J = 0, f.pairs%2
			f.pairs++
		}
	default:
		panic(v.Kind())
	}
}

// filled is a result with every field of the document, and an analysis for each section.
func filled() analysis.Result {
	var f filler
	var out analysis.Result
	f.fill(reflect.ValueOf(&out).Elem())
	out.Analyses = nil
	for i, field := range reflect.VisibleFields(reflect.TypeFor[analysis.Analysis]()) {
		if field.Anonymous || field.Type == reflect.TypeFor[*analysis.Dense]() {
			continue // their fields are visible; the files are beside the document
		}
		var a analysis.Analysis
		v := reflect.ValueOf(&a).Elem()
		f.fill(reflect.ValueOf(&a.Kind).Elem())
		a.Kind += study.AnalysisKind(fmt.Sprint(i))
		f.fill(reflect.ValueOf(&a.Features).Elem())
		f.fill(v.FieldByIndex(field.Index))
		out.Analyses = append(out.Analyses, a)
	}
	return out
}

// npyValues reads an array of float64 or of records.
func npyValues(t *testing.T, name string, data []byte, add func(any)) {
	t.Helper()
	size := int(binary.LittleEndian.Uint16(data[8:]))
	header, body := string(data[10:10+size]), data[10+size:]
	types := regexp.MustCompile(`'([<|][fibU]\d+)'`).FindAllStringSubmatch(header, -1)
	if len(types) == 0 {
		t.Fatalf("%s: header %q", name, header)
	}
	for at := 0; len(body) > 0; at++ {
		kind, width := types[at%len(types)][1][1], 8
		if n, err := strconv.Atoi(types[at%len(types)][1][2:]); err != nil {
			t.Fatal(err)
		} else if width = n; kind == 'U' {
			width = 4 * n
		}
		value := body[:width]
		body = body[width:]
		switch kind {
		case 'f':
			add(math.Float64frombits(binary.LittleEndian.Uint64(value)))
		case 'i':
			add(float64(int64(binary.LittleEndian.Uint64(value))))
		case 'U':
			var text strings.Builder
			for ; len(value) > 0 && binary.LittleEndian.Uint32(value) != 0; value = value[4:] {
				text.WriteRune(rune(binary.LittleEndian.Uint32(value)))
			}
			add(text.String())
		}
	}
}

// content is what the file would hold.
func (f file) content(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := f.write(&out); err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	return out.Bytes()
}

// Everything in the document is in the files of each format, numbers and texts alike. A new field
// or section is tested automatically.
func TestFilesLeaveNothingOut(t *testing.T) {
	r := filled()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	want, reasons := map[any]bool{}, map[any]bool{} // for pairs: matrices have none
	var walk func(list, key string, v any)
	walk = func(list, key string, v any) {
		switch x := v.(type) {
		case float64, string:
			want[x], reasons[x] = true, key == "undefined" && (list == "pairs" || list == "shifts")
		case []any:
			for _, item := range x {
				walk(key, key, item)
			}
		case map[string]any:
			for name, item := range x {
				if name == "dates" && (list == "pairs" || list == "shifts") {
					continue // no number of a pair is a date
				}
				walk(list, name, item)
			}
		}
	}
	walk("", "", document)
	if len(want) < 500 {
		t.Fatalf("only %d values in a full document", len(want))
	}
	for _, format := range []Format{CSV, Parquet, NPY} {
		files := Document{Result: r, Raw: raw}.render(&Console{Files: format})
		have := map[any]bool{}
		text := func(s string) {
			have[s] = true
			// A feature's name contains its parts.
			for _, part := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
				have[part] = true
			}
			if x, err := strconv.ParseFloat(s, 64); err == nil {
				have[x] = true
			}
		}
		add := func(v any) {
			if s, ok := v.(string); ok {
				text(s)
			}
			have[v] = true
		}
		for _, f := range files {
			data := f.content(t)
			switch {
			case strings.HasSuffix(f.name, ".csv"):
				rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
				if err != nil {
					t.Fatalf("%s: %v", f.name, err)
				}
				for _, row := range rows[1:] {
					for _, field := range row {
						text(field)
					}
				}
			case strings.HasSuffix(f.name, ".parquet"):
				from := parquet.NewReader(bytes.NewReader(data))
				rows := make([]parquet.Row, 1000)
				n, _ := from.ReadRows(rows)
				for _, row := range rows[:n] {
					for _, value := range row {
						switch value.Kind() {
						case parquet.Double:
							add(value.Double())
						case parquet.Int64:
							add(float64(value.Int64()))
						case parquet.ByteArray:
							add(string(value.ByteArray()))
						}
					}
				}
				from.Close()
			case strings.HasSuffix(f.name, ".npy"):
				npyValues(t, f.name, data, add)
			case strings.HasSuffix(f.name, ".txt"):
				for line := range strings.Lines(string(data)) {
					text(strings.TrimSuffix(line, "\n"))
				}
			default:
				t.Errorf("a file %s", f.name)
			}
		}
		for value := range want {
			if !have[value] && !(format == NPY && reasons[value]) {
				t.Errorf("%s: %v is in the document, and in no file", format, value)
			}
		}
	}
}

// A backup is a new file readable only by its owner, whatever exists in a directory that others
// use.
func TestBackupsAreNewFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "backup.tar")
	if err := os.WriteFile(path+".part", []byte("theirs"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := createAtomic(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "the identity")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path + ".part"); err != nil || string(raw) != "theirs" {
		t.Errorf("another's file holds %q (%v)", raw, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v (%v)", info, err)
	}
	if err := createAtomic(path, func(io.Writer) error { return nil }); fail.Find(err).Exit != fail.Usage || !strings.Contains(err.Error(), "it exists and stays as it is") {
		t.Errorf("a second time: %v", err)
	}
	if err := createAtomic(filepath.Join(dir, "none", "x"), func(io.Writer) error { return nil }); fail.Find(err).Exit != fail.Usage {
		t.Errorf("no such directory: %v", err)
	}
}

// A device or pipe is not replaced, although root could, and the error says so.
func TestWriteFileWholeLeavesDevices(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file of a device")
	}
	dir := t.TempDir()
	device, output := filepath.Join(dir, "null"), filepath.Join(dir, "stdout")
	must(t, os.Symlink(os.DevNull, device))
	redirected, err := os.Create(filepath.Join(dir, "redirected"))
	must(t, err)
	defer redirected.Close()
	must(t, os.Symlink(redirected.Name(), output))
	defer func(old *os.File) { os.Stdout = old }(os.Stdout)
	os.Stdout = redirected
	for _, link := range []string{device, output} {
		err := WriteFileAtomic(link, func(io.Writer) error { t.Error("it was written"); return nil })
		if fail.Find(err).Exit != fail.Usage || !strings.Contains(err.Error(), "it is a device, a pipe or standard output") {
			t.Errorf("%s: %v", link, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s was replaced: %v, %v", link, info, err)
		}
	}
}
