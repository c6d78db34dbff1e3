package file

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// TestMeaningChangesWithEveryField walks a study by reflection and changes one leaf after another.
// It fails if a field was added and is not encoded.
func TestMeaningChangesWithEveryField(t *testing.T) {
	for name, least := range map[string]int{"registry": 90, "hospitals": 60, "clinics": 60, "wards": 60, "infirmaries": 60, "practices": 60} {
		t.Run(name, func(t *testing.T) { meaningChanges(t, parsed(t, name), least) })
	}
	all, err := Parse([]byte(strings.Replace(source(t, "registry"), "{kind: intersection}",
		"{kind: pca}, {kind: regression, target: age, on: [income], ridge: 0.1}, {kind: clustering}, {kind: sums}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("options", func(t *testing.T) { meaningChanges(t, all, 100) })
}

func meaningChanges(t *testing.T, s *study.Study, least int) {
	s.Later = []study.AnalysisKind{study.InnerProduct}
	original := meaning(s)
	changed := 0
	mutate(t, reflect.ValueOf(s).Elem(), "Study", func(path string) {
		skipped := path == "Study.ID" || path == "Study.Meaning" || path == "Study.Source"
		if same := meaning(s) == original; same != skipped {
			t.Errorf("%s changed, meaning the same: %v", path, same)
		}
		changed++
	})
	if changed < least {
		t.Errorf("only %d leaves were changed", changed)
	}
	if meaning(s) != original {
		t.Error("the walk did not restore the study")
	}
}

// mutate changes each leaf below v, calls check, and restores it. A list is changed leaf by leaf
// and then loses its last element; arrays and byte strings are one leaf.
func mutate(t *testing.T, v reflect.Value, path string, check func(path string)) {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	defer v.Set(old)
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0x1p-40)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Array:
		last := v.Index(v.Len() - 1)
		last.SetUint(last.Uint() ^ 1)
	case reflect.Slice:
		mutateSlice(t, v, path, check)
	case reflect.Struct:
		if scale, ok := v.Interface().(fixedpoint.Scale); ok {
			v.Set(reflect.ValueOf(otherScale(t, scale)))
			break
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() { // not in any file
				continue
			}
			mutate(t, v.Field(i), path+"."+v.Type().Field(i).Name, check)
		}
		return
	case reflect.Interface: // options
		if !v.IsNil() {
			inner := reflect.New(v.Elem().Type()).Elem()
			inner.Set(v.Elem())
			mutate(t, inner, path, func(path string) {
				v.Set(inner)
				check(path)
			})
		}
		return
	default:
		t.Fatalf("%s: cannot change a %s", path, v.Kind())
	}
	check(path)
}

func mutateSlice(t *testing.T, v reflect.Value, path string, check func(path string)) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes(append(append([]byte(nil), v.Bytes()...), 1))
		return
	}
	for i := range v.Len() {
		mutate(t, v.Index(i), fmt.Sprintf("%s[%d]", path, i), check)
	}
	if n := v.Len(); n > 0 {
		v.Set(v.Slice(0, n-1))
		return
	}
	v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
}

func otherScale(t *testing.T, s fixedpoint.Scale) fixedpoint.Scale {
	other, err := fixedpoint.Bounds(-1, 1)
	if lo, hi, ok := s.Bounds(); ok {
		other, err = fixedpoint.Bounds(lo, hi+1)
	} else if centre, spread, ok := s.CentreSpread(); ok {
		other, err = fixedpoint.CentreSpread(centre, spread+1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return other
}

// TestMeaningOfScales checks what mutate does not: each number of a scale, and the two forms with
// equal numbers, give different meanings.
func TestMeaningOfScales(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"bounds: [1, 2]", "bounds: [1, 3]", "bounds: [0, 2]", "centre: 1, spread: 2", "centre: 1, spread: 3", "centre: 0, spread: 2", "bounds: [1970-01-02, 1970-01-03]", "centre: 1970-01-02, spread: 2"} {
		s, err := Parse([]byte(strings.Replace(source(t, "registry"), "bounds: [0, 250000]", text, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[s.Meaning.String()]; ok {
			t.Errorf("%q and %q mean the same", text, other)
		}
		seen[s.Meaning.String()] = text
	}
}

// A date equals its exact number of days.
func TestDatesAreDays(t *testing.T) {
	scale := func(text string) fixedpoint.Scale {
		s, err := Parse([]byte(strings.Replace(source(t, "registry"), "bounds: [0, 250000]", text, 1)))
		if err != nil {
			t.Fatal(err)
		}
		return s.Columns[1].Scale
	}
	for dates, days := range map[string]string{"bounds: [1930-01-01, 2010-12-31]": "bounds: [-14610, 14974]", "centre: 1968-03-01, spread: 7300": "centre: -671, spread: 7300"} {
		if scale(dates) != scale(days) {
			t.Errorf("%s is %v, %s is %v", dates, scale(dates), days, scale(days))
		}
	}
}

// TestMeaningIgnoresForm: comments, order of keys and parties, quotes, spelled-out defaults and
// number formats change the id and not the meaning.
func TestMeaningIgnoresForm(t *testing.T) {
	base := source(t, "registry")
	original := parsed(t, "registry")
	for _, e := range [][2]string{
		{"# Correlations over", "# Other words about"},
		{"sum: plain\nmax_attempts: 1\n", "max_attempts: 1\n"},
		{"bits: auto\n", ""},
		{"bits: auto\n", fmt.Sprintf("bits: %d\n", original.Bits)},
		{"partition: vertical\n", "partition: vertical\nquorum: 3\n"},
		{"name: age, kind: numeric", "kind: numeric, name: 'age', role: feature, kurtosis: 3.0"},
		{"epsilon: 1, delta: 1e-6", "delta: 0.000001, epsilon: 1.00"},
		{"centre: 47", "centre: 4.7e1"},
		{"bounds: [0, 250000]", "bounds: [-0, 2.5e5]"},
		{"s: 1, share: 1,", "matrix: secret, share: 7,"},
		{"  - {name: north, id: 12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5}\n  - {name: south, id: 12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq}\n",
			"  - {name: south, id: 12D3KooWJWoaqZhDaoEFshF7Rh1bpY9ohihFhzcW6d69Lr2NASuq}\n  - {name: north, id: 12D3KooWK99VoVxNE7XzyBwXEzW7xhK7Gpv85r9F3V3fyKSUKPH5}\n"},
	} {
		if strings.Count(base, e[0]) != 1 {
			t.Fatalf("the file has %q %d times", e[0], strings.Count(base, e[0]))
		}
		s, err := Parse([]byte(strings.Replace(base, e[0], e[1], 1)))
		if err != nil {
			t.Errorf("%q: %v", e[1], err)
			continue
		}
		if s.Meaning != original.Meaning {
			t.Errorf("%q for %q changed the meaning", e[1], e[0])
		}
		if s.ID == original.ID {
			t.Errorf("%q for %q did not change the id", e[1], e[0])
		}
	}
}

// TestMeaningIsPinned fails when the encoding changes, which breaks agreement
// between versions and needs a new label.
func TestMeaningIsPinned(t *testing.T) {
	const want = "18e51fea6cfe309d93879e73a51e96640a06a0b980965fccc5b4c14fe63f5fff"
	if got := parsed(t, "registry").Meaning.String(); got != want {
		t.Errorf("meaning of the registry study %s, want %s", got, want)
	}
}

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("../testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parsed(t testing.TB, name string) *study.Study {
	t.Helper()
	s, err := Parse([]byte(source(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
