package dataset

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// Two fields of a study may read one column of the file, as it is and as its logarithm, if whole
// records are protected. If single values are protected, it would count twice.
func TestOneColumnUnderTwoNames(t *testing.T) {
	scale, err := fixedpoint.Bounds(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	schema := Schema{ID: []string{"id"}, Bits: 10, MaxRecords: 10, Fields: []Field{
		{Name: "income", Header: "INCOME", Kind: study.Numeric, Scale: scale}, {Name: "earnings", Header: " INCOME", Kind: study.Numeric, Scale: scale},
	}}
	if _, err := schema.prepared(); err != nil {
		t.Errorf("under unit record: %v", err)
	}
	schema.Apart = true
	if _, err := schema.prepared(); err == nil || !strings.Contains(err.Error(), `"INCOME" of the data would be both "income" and "earnings"`) {
		t.Errorf("under unit attribute: %v", err)
	}
	schema.Fields[1].Header = "EARNED"
	if _, err := schema.prepared(); err != nil {
		t.Errorf("of two columns: %v", err)
	}
}
