package analysis

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cosketch/cosketch/kernel/linear"
	"github.com/cosketch/cosketch/protocol/study"
)

// Model tells, for a record that is in no release, what an analysis would have said of it.
type Model struct {
	Analysis int    // index into Result.Analyses
	Sketch   int    // of the records side, whose space the model is in
	Name     string // of the column it predicts, as in the labels, like "cluster"
	say      func(point []float64) string
}

// Say returns the model's answer for a point of the sketch's space, in encoded units.
func (m Model) Say(point []float64) string { return m.say(point) }

// Models returns the models in a result of the study, in the order of its analyses. The result
// comes from the aggregator: Models returns an error if a model does not fit the study.
func (r Result) Models(s *study.Study) ([]Model, error) {
	var out []Model
	for i, a := range r.Analyses {
		if a.KMeans == nil && a.Classifier == nil {
			continue
		}
		if a.Sketch < 0 || a.Sketch >= len(s.Sketches) {
			return nil, fmt.Errorf("models of the result: analysis %d is of sketch %d of %d", i+1, a.Sketch+1, len(s.Sketches))
		}
		m := Model{Analysis: i, Sketch: a.Sketch, Name: clusterColumn}
		var err error
		if dim := s.Sketches[a.Sketch].Projection.K; a.KMeans != nil {
			m.say, err = a.KMeans.model(dim)
		} else {
			m.Name = predictedColumn
			m.say, err = a.Classifier.model(dim)
		}
		if err != nil {
			return nil, fmt.Errorf("models of the result: analysis %d: %w", i+1, err)
		}
		out = append(out, m)
	}
	return out, nil
}

// model returns a function that finds the cluster with the nearest centroid.
func (k *KMeans) model(dim int) (func([]float64) string, error) {
	if len(k.Centroids) != k.Clusters {
		return nil, fmt.Errorf("%d centroids of %d clusters", len(k.Centroids), k.Clusters)
	}
	for _, c := range k.Centroids {
		if len(c) != dim {
			return nil, fmt.Errorf("a centroid of %d coordinates where the sketch has %d", len(c), dim)
		}
	}
	return func(point []float64) string {
		best, least := 0, math.Inf(1)
		for c, centroid := range k.Centroids {
			var d float64
			for j, v := range centroid {
				d += (point[j] - v) * (point[j] - v)
			}
			if d < least && k.Sizes[c] > 0 {
				best, least = c, d
			}
		}
		return strconv.Itoa(best)
	}, nil
}

// model returns a function that predicts the class.
func (c *Classifier) model(dim int) (func([]float64) string, error) {
	if err := c.check(Analysis{}); err != nil {
		return nil, err
	}
	if c.Coordinates != dim {
		return nil, fmt.Errorf("a classifier of %d coordinates where the sketch has %d", c.Coordinates, dim)
	}
	m := linear.Model{Classes: len(c.Classes)}
	for _, class := range c.ClassPlanes {
		var s linear.Scorer
		for _, p := range class.Planes {
			s.Planes = append(s.Planes, linear.Plane{Weights: p.Weights, Bias: p.Bias})
			if c.Voted {
				s.Votes = append(s.Votes, p.Votes)
			}
		}
		m.Scorers = append(m.Scorers, s)
	}
	return func(point []float64) string { return c.Classes[m.Predict(point)] }, nil
}
