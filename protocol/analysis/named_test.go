package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/analysis"
)

// eachText calls do with every text of a document that can be set, and with the field it is in.
func eachText(v reflect.Value, in string, do func(in string, text reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		do(in, v)
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(v.Elem(), in, do)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachText(v.Index(i), in, do)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				eachText(v.Field(i), v.Type().Name()+"."+f.Name, do)
			}
		}
	}
}

// renamed replaces texts of a sound document by texts that the study does not know, or that no
// document may have, and fails unless each is refused.
func renamed(t *testing.T, what string, document any, check func() error) {
	t.Helper()
	if err := check(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	checkedElsewhere := map[string]bool{"Result.Format": true, "Labels.Format": true, "Labels.Study": true, "QueryAnswer.Format": true, "QueryAnswer.Study": true} // checked by decoding
	prose := func(in string) bool {                                                                                                                                // free text, which is escaped where it is written
		switch in {
		case "Feature.Party", "Feature.Column", "Feature.Value", "Party.Name", "Result.Name", "Result.Absent", "SumRow.Over", "ChosenRecord.Party",
			"CrossTable.RowsOf", "CrossTable.ColumnsOf", "LDA.Column", "LDA.Classes", "LDA.LeftOut", "Classifier.Column", "Classifier.Classes", "Classifier.Majority", "Margins.Class",
			"Labels.Party", "RowColumn.Name", "RowColumn.Texts", "QueryAnswer.Party":
			return false
		}
		return true
	}
	seen := map[string]int{}
	eachText(reflect.ValueOf(document).Elem(), "", func(in string, text reflect.Value) {
		if seen[in]++; seen[in] > 4 || checkedElsewhere[in] {
			return
		}
		before := text.String()
		defer text.SetString(before)
		for _, hostile := range []string{"\x1b[2J" + before, before + "\u202e", "\u009b" + before, before + "\xff", before + "\n"} {
			text.SetString(hostile)
			if check() == nil {
				t.Errorf("%s: %s %q passes", what, in, hostile)
			}
		}
		if prose(in) {
			return
		}
		for _, hostile := range []string{"=1+1", before + "x", "north:0011223344556677x", "elsewhere"} {
			text.SetString(hostile)
			if check() == nil {
				t.Errorf("%s: %s %q passes", what, in, hostile)
			}
		}
	})
}

func TestLabelsNameWhatTheStudyNames(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise,
		"{kind: svm}, {kind: k-means, clusters: 3}, {kind: neighbors, neighbors: 2}, {kind: outliers, neighbors: 3}"))
	_, all := ship(t, s, 5, diagnoses(rand.New(rand.NewPCG(4, 6)), mostlyMixed(2))).run(t)
	handles := 0
	for i := range all {
		l := &all[i]
		renamed(t, fmt.Sprintf("labels of party %d", i), l, func() error { return l.CheckNames(s) })
		a := &analysis.QueryAnswer{Party: l.Party, Undefined: "none", Columns: l.Columns}
		renamed(t, "an answer", a, func() error { return a.CheckNames(s) })
		for _, c := range l.Columns {
			for row, text := range c.Texts {
				if name, _, ok := strings.Cut(text, ":"); ok {
					handles++
					for _, bad := range []string{name + ":", name, name + ":001122334455667", name + ":00112233445566GG", name + ":0011223344556677;=1"} {
						c.Texts[row] = bad
						if l.CheckNames(s) == nil {
							t.Fatalf("%q passes", bad)
						}
					}
					c.Texts[row] = text
					break
				}
			}
		}
	}
	if handles == 0 {
		t.Error("no label is a handle")
	}
	for _, name := range []string{"neighbor_0", "neighbor_01", "neighbor_", "neighbor", "_1", "distance_high_x", "cluster_1", ""} {
		l := all[0]
		l.Columns = []analysis.RowColumn{{Name: name, Integers: []int{1}}}
		if l.CheckNames(s) == nil {
			t.Errorf("a column %q passes", name)
		}
	}
}
