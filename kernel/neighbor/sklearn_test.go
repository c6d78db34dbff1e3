package neighbor

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/full"
)

// python is the interpreter that has Debian's packages.
const python = "/usr/bin/python3"

const neighborsScript = `
import json, sys
import numpy
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
asked = json.load(sys.stdin)
x = numpy.array(asked["points"])
distance, index = NearestNeighbors(n_neighbors=asked["k"], algorithm="kd_tree").fit(x).kneighbors()
factors = LocalOutlierFactor(n_neighbors=asked["k"], algorithm="kd_tree").fit(x).negative_outlier_factor_
json.dump({"index": index.tolist(), "distance": distance.tolist(), "factors": (-factors).tolist()}, sys.stdout)
`

// Neighbours equal scikit-learn's, except where its own distances tie, and local outlier factors
// agree to 1e-8.
func TestAgainstScikitLearn(t *testing.T) {
	full.Only(t, "compares with scikit-learn")
	if err := exec.Command(python, "-c", "import sklearn").Run(); err != nil {
		t.Skipf("no scikit-learn for %s: %v", python, err)
	}
	rng := rand.New(rand.NewPCG(71, 72))
	for _, kind := range []string{"normal", "clumps", "norms"} {
		for _, k := range []int{1, 10, 35} {
			p := points(rng, kind, 1000, 12)
			got, err := Join(t.Context(), p, Options{Neighbors: k, Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, kind, p, got)
		}
	}
}

func compare(t *testing.T, kind string, p *mat.Dense, got Graph) {
	t.Helper()
	rows := make([][]float64, got.Len())
	for i := range rows {
		rows[i] = p.RawRowView(i)
	}
	asked, err := json.Marshal(map[string]any{"points": rows, "k": got.Neighbors})
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), python, "-I", "-c", neighborsScript)
	child.Stdin, child.Stderr = strings.NewReader(string(asked)), os.Stderr
	printed, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Index    [][]int32
		Distance [][]float64
		Factors  []float64
	}
	if err := json.Unmarshal(printed, &want); err != nil {
		t.Fatal(err)
	}
	factors, err := got.LocalOutlierFactor(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, index := range want.Index {
		own, squared := got.Of(i)
		for j := range index {
			// A neighbour may differ if the distance does not.
			if d := math.Abs(math.Sqrt(squared[j]) - want.Distance[i][j]); own[j] != index[j] && d > 1e-12*(1+want.Distance[i][j]) {
				t.Fatalf("%s, %d neighbours: neighbour %d of %d is %d at %g, theirs %d at %g", kind, got.Neighbors, j, i, own[j], math.Sqrt(squared[j]), index[j], want.Distance[i][j])
			}
		}
		if math.Abs(factors[i]-want.Factors[i]) > 1e-8*math.Max(1, want.Factors[i]) {
			t.Fatalf("%s, %d neighbours: factor of %d is %.12g, theirs %.12g", kind, got.Neighbors, i, factors[i], want.Factors[i])
		}
	}
}
