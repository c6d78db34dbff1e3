package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/cancer"
)

func load(t *testing.T) cancer.Table {
	t.Helper()
	table, err := cancer.Load()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// small returns all scenarios with a registry of 5,000.
func small(t *testing.T, seed uint64) []Scenario {
	t.Helper()
	table := load(t)
	registry, err := Registry(table, 5000, source(seed, 2))
	if err != nil {
		t.Fatal(err)
	}
	out := append([]Scenario{Laboratories(table, source(seed, 1)), registry}, Hospitals(table, source(seed, 3))...)
	return append(out, Joined(table, source(seed, 4)))
}

func TestSeedDecidesTheData(t *testing.T) {
	digest := func(scenarios []Scenario) [sha256.Size]byte {
		hash := sha256.New()
		for _, s := range scenarios {
			for _, table := range s.Tables {
				if err := table.WriteCSV(hash); err != nil {
					t.Fatal(err)
				}
			}
		}
		return [sha256.Size]byte(hash.Sum(nil))
	}
	first := digest(small(t, 1))
	if again := digest(small(t, 1)); again != first {
		t.Error("one seed gave two data sets")
	}
	if other := digest(small(t, 2)); other == first {
		t.Error("two seeds gave one data set")
	}
}

func TestVerticalPartsLackTheirOwnRecords(t *testing.T) {
	for _, s := range small(t, 1) {
		if s.Partition != study.Vertical {
			continue
		}
		all := len(s.Pooled.IDs)
		var held [Parties][]int
		for p, table := range s.Tables {
			if want := all - int(math.Round(0.05*float64(all))); len(table.IDs) != want {
				t.Errorf("%s: %s holds %d records, want %d", s.Name, PartyNames[p], len(table.IDs), want)
			}
			for i, row := range table.Pooled {
				if table.IDs[i] != s.Pooled.IDs[row] {
					t.Fatalf("%s: record %d of %s has the id of another", s.Name, i, PartyNames[p])
				}
			}
			if slices.IsSorted(table.Pooled) {
				t.Errorf("%s: %s kept the order of the source", s.Name, PartyNames[p])
			}
			held[p] = slices.Sorted(slices.Values(table.Pooled))
		}
		if slices.Equal(held[0], held[1]) || slices.Equal(held[1], held[2]) {
			t.Errorf("%s: two parties lack the same records", s.Name)
		}
	}
}

func TestHospitalsPartitionThePatients(t *testing.T) {
	for _, s := range small(t, 1)[2:5] {
		seen := make([]bool, cancer.Patients)
		for _, table := range s.Tables {
			if table.IDs[0] != "001" {
				t.Errorf("%s: first patient is %q, want 001", s.Name, table.IDs[0])
			}
			for i, row := range table.Pooled {
				if seen[row] {
					t.Fatalf("%s: patient %d is in two hospitals", s.Name, row)
				}
				seen[row] = true
				if !slices.Equal(table.Values[i], s.Pooled.Values[row]) {
					t.Fatalf("%s: patient %d has another's values", s.Name, row)
				}
			}
		}
		if slices.Contains(seen, false) {
			t.Errorf("%s: a patient is in no hospital", s.Name)
		}
	}
}

// TestRegistryFollowsTheData compares the correlations of 20,000 drawn records
// with those of the patients. An entry has standard error at most
// 1/√20000 = .0071; .045 is 6.3 of them, so 15 entries together fail by chance
// less than once in 10⁸ runs (and the seed is fixed).
func TestRegistryFollowsTheData(t *testing.T) {
	table := load(t)
	s, err := Registry(table, 20_000, source(3, 3))
	if err != nil {
		t.Fatal(err)
	}
	for i := range registryColumns {
		for j := range i {
			want := stat.Correlation(
				column(table.Values, slices.Index(table.Names, registryColumns[i])),
				column(table.Values, slices.Index(table.Names, registryColumns[j])), nil)
			got := stat.Correlation(column(s.Pooled.Values, i), column(s.Pooled.Values, j), nil)
			if math.Abs(got-want) > 0.045 {
				t.Errorf("%s with %s: correlation %.3f, want %.3f", registryColumns[i], registryColumns[j], got, want)
			}
		}
	}
}

func TestRangesClampNothing(t *testing.T) {
	for _, s := range small(t, 1) {
		if s.Name == "registry" || s.Name == "hospitals-cells" || s.Name == "laboratories-joined" {
			continue // three standard deviations clamp three people in a thousand, and more of skewed columns, on purpose
		}
		for j, c := range s.Columns {
			lo, hi := c.Range.Lo, c.Range.Hi
			if c.Range.Spread != 0 {
				lo, hi = c.Range.Centre-3*c.Range.Spread, c.Range.Centre+3*c.Range.Spread
			}
			for i, row := range s.Pooled.Values {
				if row[j] < lo || row[j] > hi {
					t.Errorf("%s: %s of patient %d is %v, outside [%v, %v]", s.Name, c.Name, i, row[j], lo, hi)
				}
			}
		}
	}
}

func TestWriteCSVReadsBack(t *testing.T) {
	table := small(t, 1)[0].Tables[1]
	var file bytes.Buffer
	if err := table.WriteCSV(&file); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := append([]string{"patient"}, table.Columns...); !slices.Equal(lines[0], want) {
		t.Errorf("header %q, want %q", lines[0], want)
	}
	var values [][]float64
	for _, line := range lines[1:] {
		var row []float64
		for _, field := range line[1:] {
			x, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, x)
		}
		values = append(values, row)
	}
	if !reflect.DeepEqual(values, table.Values) {
		t.Error("the values did not survive the file")
	}
}

func TestScenariosNeverNoiseWhatTheyDoNotPromise(t *testing.T) {
	for _, s := range small(t, 1) {
		if none := s.Mechanism == dp.None; none != s.AcceptReconstruction || none != (s.Epsilon == 0) {
			t.Errorf("%s: mechanism %s, ε = %v, accept_reconstruction %v do not fit together", s.Name, s.Mechanism, s.Epsilon, s.AcceptReconstruction)
		}
	}
}
