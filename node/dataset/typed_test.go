package dataset

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/protocol/study"
)

// drawTyped draws records of a table with columns of every kind. Some values are missing, clamped
// or wrong.
func drawTyped(t *rapid.T, p *plan) *typedRows {
	rows := newTypedRows(p, nil)
	rows.from, rows.first = "table", 1
	rows.records = rapid.IntRange(0, 3*tile).Draw(t, "records")
	usual := rapid.IntRange(1, 300).Draw(t, "usual") // one in so many is missing or wrong
	rare := func() bool { return rapid.IntRange(0, usual).Draw(t, "rare") == 0 }
	for range rows.records {
		id := []string{"a", "B ", "c"}[rapid.IntRange(0, 2).Draw(t, "id")]
		if rare() {
			id = " "
		}
		rows.columns[0].AddText([]byte(id))
		for i, c := range p.columns {
			v := &rows.columns[1+i]
			switch {
			case rare():
				v.AddNull(p.isNumber(1 + i))
			case c.field.Kind == study.Categorical:
				text := []string{"u", " v", "w"}[rapid.IntRange(0, 2).Draw(t, "category")]
				if rare() {
					text = rapid.SampledFrom([]string{"", "\xff", "x"}).Draw(t, "text")
				}
				v.AddText([]byte(text))
			case c.field.Kind == study.Binary:
				x := float64(rapid.IntRange(0, 1).Draw(t, "bit"))
				if rare() {
					x = 0.5
				}
				v.AddNumber(x)
			default:
				x := rapid.Float64Range(-1, 11).Draw(t, "x")
				if rare() {
					x = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "no number")
				}
				v.AddNumber(x)
			}
		}
	}
	if rapid.Bool().Draw(t, "faulty") {
		rows.fault = errors.New("the source ends")
	}
	return rows
}

// Encoding column by column gives the result of encoding record by record: equal rows, counts and
// first error.
func TestParseColumnsIsParseRecords(t *testing.T) {
	columnwise := 0
	rapid.Check(t, func(rt *rapid.T) {
		schema := Schema{
			ID: []string{"id"}, Normalize: []study.Normalization{study.NormalizeTrim}, Bits: testBits, MaxRecords: 1 << 40,
			Missing: rapid.SampledFrom([]study.Missing{study.MissingRefuse, study.MissingCentre, study.MissingSkip}).Draw(rt, "missing"),
			Fields: []Field{
				{Name: "x", Kind: study.Numeric, Scale: bounds(t, 0, 10)},
				{Name: "c", Kind: study.Categorical, Values: []string{"u", "v", "w"}, Required: rapid.Bool().Draw(rt, "required")},
				{Name: "b", Kind: study.Binary, Scale: bounds(t, 0, 1)},
				{Name: "y", Kind: study.Numeric, Scale: bounds(t, -1, 5)},
			},
		}
		schema, err := schema.prepared()
		if err != nil {
			rt.Fatal(err)
		}
		p := newPlan(schema, Replacements{}, Options{}.withDefaults())
		rows := drawTyped(rt, p)
		got, want := newBlock(p), newBlock(p)
		got.reset()
		want.reset()
		for i := 0; i < rows.records && want.err == nil; i++ {
			rows.parseRecord(want, i)
		}
		if want.err == nil {
			want.err = rows.fault
		}
		if rows.parseColumns(got) {
			columnwise++
		}
		got.reset()
		rows.parse(got)
		if !reflect.DeepEqual(got.err, want.err) || !reflect.DeepEqual(got.seen, want.seen) && len(want.seen) > 0 {
			rt.Fatalf("after %d records: %v; want %d: %v", len(got.seen), got.err, len(want.seen), want.err)
		}
		if _, ok := want.err.(*Error); ok {
			return // the rest of the block is not used
		}
		if string(got.arena) != string(want.arena) || !reflect.DeepEqual(append([]int{}, got.ends...), append([]int{}, want.ends...)) ||
			!reflect.DeepEqual(append([]int64{}, got.values...), append([]int64{}, want.values...)) ||
			!reflect.DeepEqual(got.fields, want.fields) || got.skipped != want.skipped {
			rt.Fatalf("got  %v %v %+v %d\nwant %v %v %+v %d", got.ends, got.values, got.fields, got.skipped, want.ends, want.values, want.fields, want.skipped)
		}
	})
	if columnwise == 0 {
		t.Error("no draw was encoded column by column")
	}
}
