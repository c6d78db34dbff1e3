package dataset

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/study"
)

// Schema says what a file must hold. It comes from the study; the column names of the party's own
// file come from its site file.
type Schema struct {
	// ID lists the file's columns that identify a record. Required. A single column's normalised
	// value is the id itself. Several are joined, each with a length prefix
	// (transcript.AppendField), so that ("ab", "c") and ("a", "bc") differ.
	ID []string
	// Normalize is applied to every id column's value, in this order, before
	// they are joined. Default: none.
	Normalize []study.Normalization
	// Duplicates says how repeated ids are treated. Default: study.DuplicatesRefuse.
	Duplicates study.Duplicates
	// Missing says how absent values are treated. Default: study.MissingRefuse.
	Missing study.Missing
	// Fields are the value columns in the order of the batches' entries. May be empty: a party can
	// take part in an intersection with its ids only.
	Fields []Field
	// Apart refuses two fields that read the same column of the file: the study promises something
	// about one value at a time, and that value would count twice.
	Apart bool
	// Bits is the resolution of the fixed-point numbers. Required.
	Bits fixedpoint.Bits
	// MaxRecords is the largest number of records the file may hold, including records that are
	// left out. Required.
	MaxRecords int64
}

// Field is one column of values.
type Field struct {
	// Name is the study's name of the column. Required.
	Name string
	// Header is the column's name in the file. Default: Name.
	Header string
	// Kind says what a value is. Required.
	Kind study.ColumnKind
	// Scale maps values to integers; its bounds are 0 and 1 for binary columns. Required for
	// numeric and binary columns, unused for categorical ones.
	Scale fixedpoint.Scale
	// Required makes an absent value an error even under study.MissingCentre and
	// study.MissingCount.
	Required bool
	// Values lists a categorical column's values in the order of its entries.
	// Required for categorical columns.
	Values []string
}

// Entries returns how many integers of a row the field takes: one, or one for each value of a
// categorical column.
func (f Field) Entries() int {
	if f.Kind == study.Categorical {
		return len(f.Values)
	}
	return 1
}

// Entries returns n, the length of a row of values.
func (s Schema) Entries() int {
	n := 0
	for _, f := range s.Fields {
		n += f.Entries()
	}
	return n
}

// Check returns an error if no file can be read with the schema.
func (s Schema) Check() error {
	_, err := s.prepared()
	return err
}

// prepared returns a copy with defaults filled in and names normalised, or an error if the schema
// is invalid.
func (s Schema) prepared() (Schema, error) {
	if len(s.ID) == 0 {
		return s, fmt.Errorf("preparing schema: no id column")
	}
	s.ID = slices.Clone(s.ID)
	for i, header := range s.ID {
		if s.ID[i] = cleanName(header); s.ID[i] == "" {
			return s, fmt.Errorf("preparing schema: id column %d has no name", i+1)
		}
	}
	for _, step := range s.Normalize {
		switch step {
		case study.NormalizeNFC, study.NormalizeTrim, study.NormalizeCasefold, study.NormalizeDigits:
		default:
			return s, fmt.Errorf("preparing schema: unknown normalization %q", step)
		}
	}
	if s.Duplicates == "" {
		s.Duplicates = study.DuplicatesRefuse
	}
	if s.Duplicates != study.DuplicatesRefuse {
		return s, fmt.Errorf("preparing schema: unknown rule %q for duplicate records", s.Duplicates)
	}
	switch s.Missing {
	case "":
		s.Missing = study.MissingRefuse
	case study.MissingRefuse, study.MissingCentre, study.MissingCount, study.MissingSkip:
	default:
		return s, fmt.Errorf("preparing schema: unknown rule %q for missing values", s.Missing)
	}
	if err := s.Bits.Check(); err != nil {
		return s, fmt.Errorf("preparing schema: %w", err)
	}
	if s.MaxRecords <= 0 {
		return s, fmt.Errorf("preparing schema: limit of %d records, want at least 1", s.MaxRecords)
	}
	fields := s.Fields
	s.Fields = make([]Field, len(fields))
	for i, f := range fields {
		var err error
		if s.Fields[i], err = f.prepared(); err != nil {
			return s, fmt.Errorf("preparing schema: %w", err)
		}
		same := func(before Field) bool { return before.Header == s.Fields[i].Header }
		if at := slices.IndexFunc(s.Fields[:i], same); s.Apart && at >= 0 {
			return s, fmt.Errorf("preparing schema: column %q of the data would be both %q and %q of the study, which promises something about one value at a time (unit: attribute): it would count twice (give one of them another column; in a study with unit: record it may be both)",
				s.Fields[i].Header, s.Fields[at].Name, s.Fields[i].Name)
		}
	}
	return s, nil
}

func (f Field) prepared() (Field, error) {
	if f.Header == "" {
		f.Header = f.Name
	}
	if f.Header = cleanName(f.Header); f.Header == "" {
		return f, fmt.Errorf("column %q has no name in the file", f.Name)
	}
	switch f.Kind {
	case study.Numeric, study.Binary:
		if f.Scale.IsZero() {
			return f, fmt.Errorf("column %q has no scale", f.Name)
		}
	case study.Categorical:
		if len(f.Values) == 0 {
			return f, fmt.Errorf("categorical column %q has no values", f.Name)
		}
	default:
		return f, fmt.Errorf("column %q: unknown kind %q", f.Name, f.Kind)
	}
	f.Values = slices.Clone(f.Values)
	for i, v := range f.Values {
		f.Values[i] = cleanName(v)
		if f.Values[i] == "" || slices.Contains(f.Values[:i], f.Values[i]) {
			return f, fmt.Errorf("categorical column %q: value %q is empty or listed twice", f.Name, v)
		}
	}
	return f, nil
}

// cleanName normalises column names and categorical values of study and file before they are
// compared: it trims white space and converts to NFC.
func cleanName(s string) string {
	return norm.NFC.String(strings.TrimSpace(s))
}
