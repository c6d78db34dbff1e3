package estimate

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os/exec"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
)

const python = "/usr/bin/python3"

// numpy runs a program that reads JSON from its input into q and leaves its result in out.
func numpy(t *testing.T, input, output any, program string) {
	t.Helper()
	full.Only(t, "runs another program")
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("no " + python + " with numpy")
	}
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(python, "-c", "import json, sys, numpy as np\nq = json.load(sys.stdin)\n"+program+"\nprint(json.dumps(out))")
	run.Stdin = bytes.NewReader(raw)
	answer, err := run.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, output); err != nil {
		t.Fatal(err)
	}
}

// Principal components and regressions equal numpy's for the same debiased Gram matrix: to 1e-8 if
// eigenvalues are apart by 1e-6 of the greatest.
func TestMomentsEqualNumpy(t *testing.T) {
	const k, n = 700, 60
	rng := rand.New(rand.NewPCG(21, 1))
	noise := make([]Noise, n+1) // the last column is of ones
	data := make([]int64, k*(n+1))
	for i := range k {
		one := int64(rng.NormFloat64() * 3000)
		data[i*(n+1)+n] = one
		common := rng.NormFloat64()
		for j := range n {
			data[i*(n+1)+j] = one/4 + int64(1000*float64(1+j%7)*(common+2*rng.NormFloat64()))
		}
	}
	var vars []Variable
	for j := range n {
		noise[j] = Noise{Variance: 0.001}
		vars = append(vars, Variable{Value: j, Ones: Ones{Column: n, Weight: 0.3}})
	}
	noise[n] = Noise{Variance: 0.0005}
	const unit = 1.0 / 4096
	g, err := FromIntegers(context.Background(), Integers{K: k, N: n + 1, Data: data, Unit: unit}, noise)
	if err != nil {
		t.Fatal(err)
	}
	m, why := g.Moments(vars, true)
	if why != "" {
		t.Fatal(why)
	}
	scaled, why := m.Scaled()
	if why != "" {
		t.Fatal(why)
	}
	var variances []float64
	for _, v := range noise {
		variances = append(variances, v.Variance)
	}
	var want struct {
		Values, ScaledValues   []float64
		Vectors, ScaledVectors [][]float64
		Beta                   []float64
		Intercept              float64
	}
	numpy(t, map[string]any{"data": data, "k": k, "n": n, "unit": unit, "noise": variances}, &want, `
k, n, u = q["k"], q["n"], q["unit"]
x = np.array(q["data"], dtype=float).reshape(k, n + 1) * u
g = x.T @ x - k * np.diag(q["noise"])
w = 0.3
s = g[:n, n] / w
ones = g[n, n] / w**2
c = (g[:n, :n] - np.outer(s, s) / ones) / ones
out = {}
for name, a in (("", c), ("Scaled", c / np.sqrt(np.outer(np.diag(c), np.diag(c))))):
    values, vectors = np.linalg.eigh(a)
    vectors = vectors[:, ::-1].T
    vectors *= np.sign(vectors[np.arange(n), np.abs(vectors).argmax(1)])[:, None]
    out[name + "Values"], out[name + "Vectors"] = values[::-1].tolist(), vectors.tolist()
beta = np.linalg.solve(c[1:, 1:], c[1:, 0])
mean = s / ones
out["Beta"], out["Intercept"] = beta.tolist(), mean[0] - beta @ mean[1:]`)
	for _, of := range []struct {
		m       *Moments
		values  []float64
		vectors [][]float64
	}{{m, want.Values, want.Vectors}, {scaled, want.ScaledValues, want.ScaledVectors}} {
		got, err := of.m.Components(context.Background(), ComponentsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for i, c := range got {
			if math.Abs(c.Value-of.values[i]) > 1e-8*of.values[0] {
				t.Errorf("eigenvalue %d is %g, numpy has %g", i, c.Value, of.values[i])
			}
			gap := math.Inf(1)
			for j := range got {
				if j != i {
					gap = math.Min(gap, math.Abs(of.values[i]-of.values[j])/of.values[0])
				}
			}
			if gap < 1e-6 {
				continue
			}
			compared++
			for a, v := range c.Vector {
				if math.Abs(v-of.vectors[i][a]) > 1e-8 {
					t.Errorf("vector %d has %g, numpy %g", i, v, of.vectors[i][a])
				}
			}
		}
		if compared < n/2 {
			t.Errorf("only %d vectors were compared", compared)
		}
	}
	on := make([]int, n-1)
	for i := range on {
		on[i] = i + 1
	}
	r, why := m.Regression(RegressionOptions{Target: 0, On: on})
	if why != "" {
		t.Fatal(why)
	}
	for i, b := range r.Coefficients {
		if math.Abs(b.Interval.Estimate-want.Beta[i]) > 1e-8 {
			t.Errorf("coefficient %d is %g, numpy has %g", i, b.Interval.Estimate, want.Beta[i])
		}
	}
	if math.Abs(r.Intercept.Interval.Estimate-want.Intercept) > 1e-8 {
		t.Errorf("intercept %g, numpy has %g", r.Intercept.Interval.Estimate, want.Intercept)
	}
}
