package people

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
)

// of samples the ids from one number to another, of a source with this file.
func of(key byte, file string, from, to int) Sample {
	s := NewSampler([32]byte{key}, dataset.Files(file))
	for i := from; i < to; i++ {
		s.Add(fmt.Appendf(nil, "patient %d", i))
	}
	return s.Sample()
}

// The key fixes the samples, so shares near one half give definite outcomes, whatever the sizes.
func TestLike(t *testing.T) {
	whole := of(1, "a.csv", 0, 200_000)
	for name, test := range map[string]struct {
		a, b Sample
		want Match
	}{
		"the same":                   {whole, of(1, "b.csv", 0, 200_000), SameIDs},
		"rows appended":              {whole, of(1, "b.csv", 0, 400_000), SameIDs},
		"rows taken away":            {whole, of(1, "b.csv", 0, 1_000), SameIDs},
		"most are others":            {whole, of(1, "b.csv", 130_000, 330_000), Unlike},
		"most are the same":          {whole, of(1, "b.csv", 70_000, 270_000), SameIDs},
		"a part that is mostly new":  {whole, of(1, "b.csv", 198_000, 208_000), Unlike},
		"others":                     {whole, of(1, "b.csv", 200_000, 400_000), Unlike},
		"the same file, other ids":   {whole, of(1, "a.csv", 200_000, 400_000), SamePlace},
		"few, and half are the same": {of(1, "a.csv", 0, 10), of(1, "b.csv", 5, 15), SameIDs},
		"few, and two are the same":  {of(1, "a.csv", 0, 10), of(1, "b.csv", 8, 18), Unlike},
		"nobody":                     {whole, of(1, "b.csv", 0, 0), Unlike},
		"another key":                {whole, of(2, "b.csv", 0, 200_000), Unlike},
	} {
		if got := test.a.Compare(test.b); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if there, back := test.a.Compare(test.b), test.b.Compare(test.a); there != back {
			t.Errorf("%s: %q, and the other way %q", name, there, back)
		}
	}
}

// A name remembers everybody whom it was ever about.
func TestWith(t *testing.T) {
	both := of(1, "a.csv", 0, 20_000).With(of(1, "b.csv", 20_000, 40_000))
	if want := of(1, "a.csv", 0, 40_000); !reflect.DeepEqual(both.marks, want.marks) {
		t.Error("the sample of two halves is not that of the whole")
	}
	for name, test := range map[string]struct {
		other Sample
		want  Match
	}{
		"the first half":  {of(1, "c.csv", 0, 20_000), SameIDs},
		"the second half": {of(1, "c.csv", 20_000, 40_000), SameIDs},
		"the first place": {of(1, "a.csv", 50_000, 60_000), SamePlace},
		"others":          {of(1, "c.csv", 50_000, 60_000), Unlike},
	} {
		if got := both.Compare(test.other); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	var many Sample
	for i := range 2 * mostPlaces {
		many = many.With(of(1, fmt.Sprint(i), 0, 1))
	}
	if len(many.places) != mostPlaces || many.places[mostPlaces-1] != fmt.Sprint(2*mostPlaces-1) {
		t.Errorf("%d places are kept, the last %q", len(many.places), many.places[mostPlaces-1])
	}
}

func TestEncoding(t *testing.T) {
	s := of(1, "a.csv", 0, 10_000)
	raw, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := Decode(raw); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("read back: %v", err)
	}
	for _, damaged := range []string{"", "{", `{"marks": "00"}`, `{"marks": "zz"}`, `{"marks": "` + string(make([]byte, 40)) + `"}`} {
		if _, err := Decode([]byte(damaged)); err == nil {
			t.Errorf("%q is read", damaged)
		}
	}
}

// One more id costs a hash, and rarely a place in the sample.
func BenchmarkAdd(b *testing.B) {
	s := NewSampler([32]byte{1}, dataset.Files("a.csv"))
	id := []byte("patient 00000000")
	for i := 0; b.Loop(); i++ {
		for at, n := len(id)-1, i; n > 0; at, n = at-1, n/10 {
			id[at] = byte('0' + n%10)
		}
		s.Add(id)
	}
}
