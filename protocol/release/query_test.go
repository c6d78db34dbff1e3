package release_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/release/releasetest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// allKinds has columns of every kind.
var allKinds = []string{releasetest.Bounded, releasetest.Centred, releasetest.Binary, releasetest.Categorical}

// A projector places whole vectors where a placer of the same sketch does, with the same clipping.
func TestProjectorIsAPlacer(t *testing.T) {
	for _, private := range []string{releasetest.Laplace, "{unit: record, mechanism: gaussian, epsilon: 2, delta: 1e-6}"} {
		for _, family := range []string{"sparse, k: 16, s: 2", "rademacher, k: 12", "achlioptas, k: 12", "hadamard, k: 4", "identity"} {
			clip := ""
			if private != releasetest.Laplace {
				clip = ", clip: 0.7"
			}
			s := releasetest.Study(t, releasetest.Terms{Partition: "horizontal", Columns: allKinds, Sketches: []string{fmt.Sprintf("{side: records, family: %s%s}", family, clip)}, Privacy: private})
			p := releasetest.Plan(t, s, 0)
			d := randomData(rand.New(rand.NewPCG(1, 1)), p, 50)
			placer, err := p.NewPlacer(releasetest.Seed(3), 1)
			if err != nil {
				t.Fatal(err)
			}
			want, err := placer.Place(d.ids, d.values)
			if err != nil {
				t.Fatal(err)
			}
			projector, err := release.NewProjector(s, 0, releasetest.Seed(3))
			if err != nil {
				t.Fatal(err)
			}
			var got []float64
			cut := 0
			for values := range slices.Chunk(d.values, p.Values) {
				point, clipped := projector.Project(values)
				if got = append(got, point...); clipped {
					cut++
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s under %s: the points differ", family, private)
			}
			if (cut > 0) != (clip != "") {
				t.Errorf("%s under %s: %d vectors were clipped", family, private, cut)
			}
		}
	}
}

// The published keys project like the seed, and derive nothing else.
func TestPublicKeys(t *testing.T) {
	s := releasetest.Study(t, releasetest.Terms{Partition: "horizontal", Columns: allKinds, Sketches: []string{"{side: records, family: hadamard, k: 4, matrix: public}"}, Privacy: releasetest.Laplace})
	keys, err := release.Publish(s, releasetest.Seed(3))
	if err != nil || len(keys) != 2 {
		t.Fatalf("%d keys (%v), want two", len(keys), err)
	}
	public, err := release.Public(s, keys)
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []seed.Label{seed.RecordRows, seed.ColumnRows, seed.Confirm, seed.Pseudonyms, seed.HadamardPermutation, seed.CellRows} {
		key, err := public.Derive(label)
		want, _ := releasetest.Seed(3).Derive(label)
		open := label == seed.ColumnRows || label == seed.HadamardPermutation
		if open && (err != nil || key != want) || !open && !errors.Is(err, seed.ErrAbsent) {
			t.Errorf("%s: %x, %v", label, key, err)
		}
	}
	a, err := release.NewProjector(s, 0, public)
	if err != nil {
		t.Fatal(err)
	}
	b, err := release.NewProjector(s, 0, releasetest.Seed(3))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]int64, len(s.AllFeatures(0)))
	for i := range values {
		values[i] = int64(3*i + 1)
	}
	x, _ := a.Project(values)
	y, _ := b.Project(values)
	if !slices.Equal(x, y) {
		t.Error("the public keys project otherwise")
	}
	if _, err := release.Public(s, keys[:1]); err == nil {
		t.Error("one of two keys passes")
	}
	secret := releasetest.Study(t, releasetest.Terms{Partition: "horizontal", Columns: allKinds, Sketches: []string{"{side: records, family: sparse, k: 16}"}, Privacy: releasetest.Laplace})
	if keys, err := release.Publish(secret, releasetest.Seed(3)); err != nil || keys != nil {
		t.Errorf("%d keys of a study with a secret matrix (%v)", len(keys), err)
	}
	if _, err := release.NewProjector(secret, 0, release.PublicKeys{}); !errors.Is(err, seed.ErrAbsent) {
		t.Errorf("a secret matrix is projected by: %v", err)
	}
}

// A query has the noise of the release and the guarantee of its values, and no label.
func TestQueryIsNoisedLikeTheRelease(t *testing.T) {
	const more = "\nnew_records_until: 2099-01-01T00:00:00Z\nqueries: {releases: 2}\n"
	for _, private := range []string{releasetest.Laplace, "{unit: record, mechanism: gaussian, epsilon: 4, delta: 1e-6}", "{unit: attribute, mechanism: gaussian, epsilon: 4, delta: 1e-6}"} {
		clip := ""
		if private[:len("{unit: record")] == "{unit: record" {
			clip = ", clip: 0.7"
		}
		s := releasetest.Study(t, releasetest.Terms{Partition: "horizontal", Columns: allKinds, Sketches: []string{"{side: records, family: sparse, k: 16, share: 3" + clip + "}", "{side: records, family: identity" + clip + "}"}, Privacy: private + more})
		p, q := releasetest.Plan(t, s, 0), query(t, s)
		if q.Noise != p.Noise || q.Clip != p.Clip || q.Guarantee() != p.Guarantee() {
			t.Errorf("%s: a query has noise %+v and promises %v, the release %+v and %v", private, q.Noise, q.Guarantee(), p.Noise, p.Guarantee())
		}
		if g, err := s.QueryGuarantee(); err != nil || g != q.Guarantee() {
			t.Errorf("the study promises %v (%v)", g, err)
		}
		if q.Limit != int64(s.Queries.Records) || q.Limit != 1000 {
			t.Errorf("a query takes %d records", q.Limit)
		}
		if mechanism := q.Guarantee().Mechanism(); mechanism == dp.None {
			t.Error("a query promises nothing")
		}
	}
}

func query(t *testing.T, s *study.Study) release.Plan {
	t.Helper()
	q, err := release.ForQuery(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
