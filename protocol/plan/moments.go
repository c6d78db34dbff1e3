package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// ofMoments returns the additive of sums of records and of their products.
func ofMoments() additive {
	return additive{side: sketch.Moments, tails: momentTails, cuts: (*cell).momentCuts, instead: (*cell).momentsInstead}
}

// momentNoise returns the noise on the parties' sum of moments, in encoded units.
func (c *cell) momentNoise(of ...study.Feature) (estimate.MomentNoise, error) {
	plan, err := c.plan(c.viewer())
	if err != nil {
		return estimate.MomentNoise{}, err
	}
	label := slices.ContainsFunc(of, func(f study.Feature) bool {
		return f.Column >= 0 && c.Study.Columns[f.Column].Label && plan.Moments.Layout.Classes > 0
	})
	n := c.unionRecords()
	return recall(c.memory.noises, noisy{recorded{c.planned(c.viewer()), n}, label}, func() estimate.MomentNoise {
		return plan.MomentNoise(len(c.Study.Parties), plan.Expected(n), label)
	}), nil
}

// sums returns two columns for a joint forecast by moments.
func (c *cell) sums(q question) (forecast.Sums, error) {
	noise, err := c.momentNoise(q.x.feature, q.y.feature)
	return forecast.Sums{
		X: c.central(q.x), Y: c.central(q.y), Keep: c.keep(c.viewer()), Records: c.unionRecords(), Noise: noise, Level: c.level(q.analysis),
	}, err
}

// momentTails returns the tail factors of sums of clipped records.
func momentTails(c *cell) (means, correlations tail, noise float64) {
	means, correlations = toldMeans, toldCorrelations
	switch {
	case c.sketch().OwnClip && !(c.Study.Pooled(c.index) && c.Study.LooksAtValues()): // by lengths
		means, correlations = ownMeans, ownCorrelations
	case c.Study.Masked():
		means, correlations = maskedMeans, maskedCorrelations
	}
	return means, correlations, c.Study.TypicalNoise(c.index, c.unionRecords())
}

// momentCuts returns nil if no more records are cut than the noise can hide. It also does if the
// clip is as long as the rule for what all parties hold: nothing better is known beforehand.
func (c *cell) momentCuts() (*cutting, error) {
	sk := c.sketch()
	if sk.Clip == 0 || sk.OwnClip || sk.Whole || c.Study.Privacy.Mechanism == dp.None {
		return nil, nil
	}
	rule, n := c.Study.ClipRule(c.index, c.unionRecords()), c.unionRecords()
	if sk.Clip >= 0.98*rule { // drafts round it to two digits
		return nil, nil
	}
	plan, err := c.plan(c.viewer())
	if err != nil {
		return nil, err
	}
	out := &cutting{
		share: c.keep(c.viewer()).Clipped, bearable: plan.Noticeable(len(c.Study.Parties), n),
		least: math.Ceil(10*rule) / 10, own: !c.Study.Masked(),
	}
	if out.share <= out.bearable {
		return nil, nil
	}
	return out, nil
}

// momentsInstead recommends moments if they make the error of an analysis far smaller.
func (c *cell) momentsInstead(a asking, clip float64) []Warning {
	at := c.taking(study.Sketch{Side: sketch.Moments, Share: c.sketch().Share, Clip: clip, Moments: study.Moments{Sums: 3}})
	e, err := at.forecast(a.question)
	if err != nil || e.Undefined != "" {
		return nil
	}
	text := fmt.Sprintf("the standard error of %s is %.2g times that with side moments", a.answer.Kind, a.answer.Chosen.StandardError/e.StandardError)
	switch {
	case a.answer.Chosen.Undefined != "":
		text = fmt.Sprintf("%s has no interval; with side moments its standard error is %.2g", a.answer.Kind, e.StandardError)
	case a.answer.Chosen.StandardError < farFromBest*e.StandardError:
		return nil
	}
	return []Warning{c.warning([]string{"sketches:", fmt.Sprintf("  - {side: moments, clip: %v}", clip)}, "%s", text)}
}

// times says in which range the factors on formula errors lie: of means by the first sketch that is
// not for products, of correlations by the last one with products.
func (o Options) times() string {
	first := 0
	for i := range o.Study.Sketches {
		if o.Study.Sketches[i].Side != sketch.Moments {
			continue
		}
		if first = i; !o.Study.ForProducts(i) {
			break
		}
	}
	last := first
	for i, sk := range o.Study.Sketches {
		if sk.Side == sketch.Moments && sk.Moments.Sums > 0 {
			last = i
		}
	}
	means, products := newCell(o, first).tails(), newCell(o, last).tails()
	return fmt.Sprintf("errors of means lie between %.2g and %.2g times the formula, those of correlations and covariances between %.2g and %.2g times",
		means.means(best), means.means(worst), products.products(best), products.products(worst))
}
