package cluster

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// python is where Debian's packages are.
const python = "/usr/bin/python3"

const kMeansScript = `
import json, sys
import numpy
from sklearn.cluster import KMeans
asked = json.load(sys.stdin)
x = numpy.array(asked["points"])
print(min(KMeans(asked["clusters"], n_init=10, random_state=seed).fit(x).inertia_ for seed in range(3)))
`

// The inertia is at most 1 % above the best of scikit-learn's, for points with and without
// clusters, and for mini-batches too.
func TestAgainstScikitLearn(t *testing.T) {
	if os.Getenv("COSKETCH_FULL") != "1" {
		t.Skip("set COSKETCH_FULL=1 to compare with scikit-learn")
	}
	if err := exec.Command(python, "-c", "import sklearn").Run(); err != nil {
		t.Skipf("no scikit-learn for %s: %v", python, err)
	}
	blobbed, _ := blobs(source(60), 12_000, 6, 15, 0)
	_, even := noised(source(61), 12_000, 6, 1, 0, 1, 1)
	for name, points := range map[string]*mat.Dense{"clusters": blobbed, "none": even} {
		m, _ := points.Dims()
		rows := make([][]float64, m)
		for i := range rows {
			rows[i] = points.RawRowView(i)
		}
		asked, err := json.Marshal(map[string]any{"points": rows, "clusters": 15})
		if err != nil {
			t.Fatal(err)
		}
		child := exec.CommandContext(t.Context(), python, "-I", "-W", "ignore", "-c", kMeansScript)
		child.Stdin, child.Stderr = strings.NewReader(string(asked)), os.Stderr
		printed, err := child.Output()
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		if err := json.Unmarshal(printed, &want); err != nil {
			t.Fatal(err)
		}
		for _, above := range []int{0, 4096} {
			got := mustCluster(t, points, Options{Clusters: 15, Workers: 2, BatchAbove: above, Rand: source(62)})
			t.Logf("%s, mini-batches above %d: %.6g, scikit-learn %.6g", name, above, got.Inertia, want)
			if !(got.Inertia <= 1.01*want) || math.IsNaN(want) {
				t.Errorf("%s, mini-batches above %d: inertia %g, scikit-learn %g", name, above, got.Inertia, want)
			}
		}
	}
}
