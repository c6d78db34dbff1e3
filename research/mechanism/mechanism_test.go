package mechanism

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cosketch/cosketch/kernel/dp"
)

func compare(t *testing.T, s Setting) Comparison {
	t.Helper()
	c, err := Compare(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (l Level) find(t *testing.T, name string) Line {
	t.Helper()
	for _, line := range l.Lines {
		if line.Name == name {
			return line
		}
	}
	t.Fatalf("no mechanism %s", name)
	return Line{}
}

// At k = 128, d = 1,024 and r² = 100 the variances match the design's table, and sparse s=1 with
// Laplace noise is below the sources by the stated factors.
func TestFactors(t *testing.T) {
	c := compare(t, Setting{K: 128, D: 1024, R2: 100, Delta: 1e-6, Levels: []dp.Epsilon{1, 4, 8}})
	one, four, eight := c.Levels[0], c.Levels[1], c.Levels[2]
	for _, test := range []struct {
		level     Level
		name      string
		variance  float64
		tolerance float64
	}{
		{one, "gaussian + gaussian", 5.02e7, 0.01}, {four, "gaussian + gaussian", 2.07e5, 0.01}, {eight, "gaussian + gaussian", 1.51e4, 0.01},
		{one, "gaussian by row", 1.78e6, 0.05}, {one, "laplace by record", 1.44e10, 0.01}, {one, "laplace by record, δ", 1.76e11, 0.01},
		{one, "gaussian + laplace", 1.88e9, 0.01}, {four, "gaussian + laplace", 7.39e6, 0.01}, {eight, "gaussian + laplace", 4.72e5, 0.01},
		{one, "gaussian + analytic", 7.2e5, 0.05}, {four, "gaussian + analytic", 6219, 0.05}, {eight, "gaussian + analytic", 1052, 0.05},
		{one, "hadamard + gaussian", 3.41e5, 0.01}, {four, "hadamard + gaussian", 3353, 0.01}, {eight, "hadamard + gaussian", 663, 0.01},
		{one, "rademacher + laplace", 1.18e8, 0.01}, {four, "rademacher + laplace", 4.72e5, 0.01}, {eight, "rademacher + laplace", 3.20e4, 0.01},
		{one, "sparse s=4 + laplace", 1.21e5, 0.01}, {four, "sparse s=4 + laplace", 1003, 0.01}, {eight, "sparse s=4 + laplace", 283, 0.01},
		{one, "sparse s=1 + laplace", 8923, 0.01}, {four, "sparse s=1 + laplace", 283, 0.01}, {eight, "sparse s=1 + laplace", 181, 0.01},
		{one, "randomised-response", 5357, 0.01},
	} {
		got := test.level.find(t, test.name).Variance
		if math.Abs(got/test.variance-1) > test.tolerance {
			t.Errorf("%s at ε = %g: variance %.4g, want %.4g", test.name, test.level.Epsilon, got, test.variance)
		}
	}
	for name, least := range map[string]float64{"hadamard + gaussian": 38, "gaussian + gaussian": 5600, "gaussian + laplace": 2e5} {
		if got := one.find(t, name).Times; got < least || got > 1.1*least {
			t.Errorf("%s errs %.0f times as much as sparse s=1 + laplace, want %.0f", name, got, least)
		}
	}
	if !strings.Contains(c.Statement, "5600 times below gaussian + gaussian") {
		t.Errorf("statement: %s", c.Statement)
	}
}

// Simulation confirms every formula. With 1,500 draws the ratio has a standard error of 3 to 10 %;
// each ratio must be within five of its standard errors of 1 (joint false rejection below 1e-5; the
// draws are fixed). A formula with half the noise is rejected.
func TestSimulation(t *testing.T) {
	s := Setting{K: 16, D: 64, R2: 24, Delta: 1e-6, Levels: []dp.Epsilon{1, 6}, Trials: 1500}
	c := compare(t, s)
	halved := s
	halved.Levels = []dp.Epsilon{2, 12}
	wrong := compare(t, Setting{K: 16, D: 64, R2: 24, Delta: 1e-6, Levels: halved.Levels})
	for i, l := range c.Levels {
		for j, line := range l.Lines {
			if math.Abs(line.Ratio-1) > 5*line.Error || line.Error > 0.1 {
				t.Errorf("%s at ε = %g: simulated over formula %.3f ± %.3f", line.Name, l.Epsilon, line.Ratio, line.Error)
			}
			other := line.Simulated / wrong.Levels[i].Lines[j].Variance
			if i == 0 && math.Abs(other-1) <= 5*line.Error*other {
				t.Errorf("%s: the formula at twice the ε would pass too: %.3f", line.Name, other)
			}
		}
	}
}

// A calibration outside its conditions has a doubt.
func TestDoubts(t *testing.T) {
	small := compare(t, Setting{K: 16, D: 64, R2: 24, Delta: 1e-6, Levels: []dp.Epsilon{1}}).Levels[0]
	large := compare(t, Setting{K: 64, D: 64, R2: 24, Delta: 1e-6, Levels: []dp.Epsilon{1}}).Levels[0]
	if doubt := small.find(t, "gaussian + gaussian").Doubt; !strings.Contains(doubt, "promises nothing here") {
		t.Errorf("lemma 2 at k = 16: %q", doubt)
	}
	if doubt := large.find(t, "gaussian + gaussian").Doubt; doubt != "" {
		t.Errorf("lemma 2 at k = 64: %q", doubt)
	}
	if doubt := small.find(t, "gaussian + laplace").Doubt; !strings.Contains(doubt, "at most 0.021") {
		t.Errorf("theorem 3 at k = 16: %q", doubt)
	}
}

func TestTextFitsATerminal(t *testing.T) {
	c := compare(t, Setting{K: 16, D: 64, R2: 24, Delta: 1e-6, Levels: []dp.Epsilon{0.25, 1, 6}, Trials: 100})
	var out bytes.Buffer
	if err := Text(&out, c); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	good := Setting{K: 16, D: 64, R2: 24, Delta: 1e-6, Levels: []dp.Epsilon{1}}
	for name, change := range map[string]func(*Setting){
		"k":       func(s *Setting) { s.K = 0 },
		"wide k":  func(s *Setting) { s.K = 65 },
		"d":       func(s *Setting) { s.D = 0 },
		"r2":      func(s *Setting) { s.R2 = 65 },
		"trials":  func(s *Setting) { s.Trials = 3 },
		"levels":  func(s *Setting) { s.Levels = nil },
		"epsilon": func(s *Setting) { s.Levels = []dp.Epsilon{-1} },
		"delta":   func(s *Setting) { s.Delta = 0 },
	} {
		s := good
		change(&s)
		if _, err := Compare(context.Background(), s); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compare(ctx, good); err == nil {
		t.Error("went on after it was cancelled")
	}
}
