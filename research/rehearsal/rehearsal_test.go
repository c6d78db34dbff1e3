package rehearsal

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// rehearsed returns a study of the simulated one's parties with other columns and analyses.
func rehearsed(t *testing.T, masked bool, rest string) *study.Study {
	t.Helper()
	example, err := protocoltest.NewStudy(protocoltest.Terms{Parties: 3})
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example.Source), "records:")
	text := head + "records: {id: [id], missing: centre}\n" + rest
	if masked {
		text += "sum: masked\ncolluding: 1\n"
	}
	s, err := file.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const moments = `columns:
  - {name: x, kind: numeric, bounds: [0, 10]}
  - {name: group, kind: categorical, values: [a, b, c]}
  - {name: ill, kind: binary, role: label}
sketches: [{side: moments, clip: 3}]
privacy: {unit: record, mechanism: gaussian, epsilon: 100, delta: 1e-6}
analyses: [{kind: mean}]
`

// Means of numeric, categorical and binary columns, with missing values, plain and masked, equal
// those of the data.
func TestMeansAreThoseOfWhatIsHeld(t *testing.T) {
	for _, masked := range []bool{false, true} {
		s := rehearsed(t, masked, moments)
		var parties []Held
		sums, rng := make([]float64, 5), rand.New(rand.NewPCG(1, 2))
		const each = 4999 // more than a batch, and not a multiple of one
		for range s.Parties {
			var h Held
			for i := range each {
				x, group, ill := 10*rng.Float64(), float64(rng.IntN(3)), float64(rng.IntN(2))
				h.Values = append(h.Values, []float64{x, group, ill})
				if i%10 == 0 {
					h.Values[i][0], x = math.NaN(), 5 // a missing value is replaced by the middle of the bounds
				}
				sums[0], sums[1+int(group)], sums[4] = sums[0]+x, sums[1+int(group)]+1, sums[4]+ill
			}
			parties = append(parties, h)
		}
		r, err := New(s, parties)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := r.Draw(context.Background(), rand.NewChaCha8([32]byte{7}))
		if err != nil {
			t.Fatal(err)
		}
		a := answer.Result.Analyses[0]
		if len(a.Means) != 5 || answer.Labels != nil {
			t.Fatalf("%d means, labels %v", len(a.Means), answer.Labels)
		}
		for i, m := range a.Means {
			if want := sums[i] / (3 * each); m.Estimate == nil || math.Abs(*m.Estimate-want) > 0.01 {
				t.Errorf("masked %v: mean %d is %v, want %.4f", masked, i, m.Estimate, want)
			}
		}
	}
}

// Labels in the release, and the order of its rows; the label column comes after the sketched ones.
func TestOrderOfRows(t *testing.T) {
	s := rehearsed(t, false, strings.Replace(strings.Replace(strings.Replace(moments, "{side: moments, clip: 3}", "{side: records, family: identity, labels: plain}", 1),
		"{unit: record, mechanism: gaussian, epsilon: 100, delta: 1e-6}", "{unit: attribute, mechanism: laplace, epsilon: 100}", 1), "{kind: mean}", "{kind: k-means, clusters: 2}", 1))
	var parties []Held
	for range s.Parties {
		var h Held
		for i := range 50 { // two clusters, which alternate with the record index
			h.Values = append(h.Values, []float64{float64(i % 2 * 10), 0, float64(i % 2)})
		}
		parties = append(parties, h)
	}
	r, err := New(s, parties)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := r.Draw(context.Background(), rand.NewChaCha8([32]byte{7}))
	if err != nil {
		t.Fatal(err)
	}
	for p, l := range answer.Labels {
		at := l.Columns[0].Integers
		for row, record := range answer.Orders[p] {
			if at[row] != at[0] != ((record-answer.Orders[p][0])%2 != 0) {
				t.Fatalf("party %d: row %d, record %d: cluster %d", p, row, record, at[row])
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	s := rehearsed(t, false, moments)
	for want, values := range map[string][]float64{
		"2 values for 3 columns": {1, 0}, "3 is not an index into a list": {1, 3, 0},
	} {
		parties := make([]Held, 3)
		parties[1].Values = [][]float64{values}
		if _, err := New(s, parties); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", values, err)
		}
	}
	if _, err := New(s, nil); err == nil {
		t.Error("no parties are taken")
	}
}
