package plan

import (
	"fmt"
	"math"
	"strings"

	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// farFromBest is the smallest ratio of an analysis's error to that under another choice for which
// the other choice is recommended.
const farFromBest = 1.25

// asking is the hardest question of an analysis, with its answer.
type asking struct {
	question question
	answer   Analysis
}

// recommend warns if another choice serves the analyses of a sketch far better. Each analysis has
// its own best method and k. A choice for all of them is rated by the analysis whose error is
// largest relative to its own best.
func (c *cell) recommend(asked []asking) ([]Warning, error) {
	if c.laidOut() {
		return nil, nil
	}
	bests := make([]float64, len(asked))
	var methods []Choice
	for i, a := range asked {
		bests[i] = math.Inf(1)
		for _, o := range a.answer.Options {
			if o.selectable {
				bests[i] = math.Min(bests[i], o.off)
			}
			if o.selectable && i == 0 {
				methods = append(methods, o)
			}
		}
	}
	behind := func(at *cell) (most float64, whose int) {
		for i, a := range asked {
			if r := at.off(a.question) / bests[i]; r > most {
				most, whose = r, i
			}
		}
		return most, whose
	}
	own, _ := behind(c)
	best, least := Choice{}, math.Inf(1)
	for _, o := range methods {
		k, ratio := c.search(o.method(), func(k int) float64 {
			most, _ := behind(c.with(o.method(), k, o.Delta))
			return most
		})
		if ratio < least {
			best, least = o, ratio
			best.K = k
		}
	}
	if !(own > farFromBest*least) {
		return nil, nil
	}
	at := c.with(best.method(), best.K, best.Delta)
	var does []string
	usable := 0
	for _, a := range asked {
		e, err := at.forecast(a.question)
		if err != nil {
			return nil, err
		}
		if at.good(a.question) {
			usable++
		}
		if text := c.of(a.answer.Kind).better(a.answer, e); text != "" {
			does = append(does, text)
		}
	}
	if len(does) == 0 || usable == 0 { // the verdicts say what is not usable, and what would help
		return nil, nil
	}
	where := fmt.Sprintf("with %s, k = %d", best.Method, best.K)
	if best.Family == projection.Identity {
		where = fmt.Sprintf("with %s, which does not project", best.Method)
	}
	return []Warning{c.warning(c.lines(best), "%s, %s", where, strings.Join(does, ", "))}, nil
}

// better says what another choice improves for an analysis; "" if that is little.
func (f *forecaster) better(a Analysis, e forecast.Error) string {
	switch {
	case e.Undefined != "":
		return ""
	case a.Chosen.Undefined != "":
		return fmt.Sprintf("%s would have an interval", a.Kind)
	case f.wide && a.Chosen.HalfWidth > farFromBest*e.HalfWidth:
		return fmt.Sprintf("intervals of %s would be %.3g times narrower", a.Kind, a.Chosen.HalfWidth/e.HalfWidth)
	case !f.wide && a.Chosen.StandardError > farFromBest*e.StandardError:
		return fmt.Sprintf("the standard error of %s would be %.3g times smaller", a.Kind, a.Chosen.StandardError/e.StandardError)
	}
	return ""
}

// search returns the k of a method with the smallest error.
func (c *cell) search(m forecast.Method, at func(k int) float64) (k int, least float64) {
	own := *c
	own.method = m
	step, greatest := m.Range(len(c.searched()), own.greatestK(c.viewer()))
	k, least, _ = forecast.Search(step, greatest, func(k int) (float64, error) { return at(k), nil })
	return k, least
}

// searched returns the values that are projected: those of a whole record on the records side.
func (c *cell) searched() []forecast.Column {
	if c.sketch().Side == sketch.Records {
		return c.recordColumns()
	}
	return c.columns(c.viewer())
}

func (o Choice) method() forecast.Method {
	return forecast.Method{Mechanism: o.Mechanism, Family: o.Family, S: o.S}
}

// lines returns the lines of the study file for the sketch, and for privacy if it changes, with a
// choice applied.
func (c *cell) lines(o Choice) []string {
	own := c.sketch()
	line := fmt.Sprintf("- {side: %s, family: %s", own.Side, o.Family)
	if o.Family != projection.Identity {
		line += fmt.Sprintf(", k: %d", o.K)
	}
	if o.Family == projection.Sparse {
		line += fmt.Sprintf(", s: %d", o.S)
	}
	if len(c.Study.Sketches) > 1 {
		line += fmt.Sprintf(", share: %.4g", own.Share)
	}
	out := []string{"sketches:", "  " + line}
	if own.Side == sketch.Columns { // on a line of its own: one line would be wider than a page
		out[1] += ","
		helpers := fmt.Sprintf("     helpers: {ones: %v", own.Helpers.Ones)
		if own.Helpers.Squares {
			helpers += ", squares: true"
		}
		out = append(out, helpers+"}")
	}
	last := len(out) - 1
	if own.Clip > 0 {
		out[last] += fmt.Sprintf(", clip: %v", own.Clip)
	}
	out[last] += "}"
	if p := c.Study.Privacy; o.Mechanism != p.Mechanism {
		privacy := fmt.Sprintf("privacy: {unit: %s, mechanism: %s, epsilon: %v", p.Unit, o.Mechanism, float64(p.Epsilon))
		if p.Replaced {
			privacy += ", neighbours: replaced"
		}
		if o.Delta > 0 {
			privacy += fmt.Sprintf(", delta: %v", float64(o.Delta))
		}
		out = append(out, privacy+"}")
	}
	return out
}
