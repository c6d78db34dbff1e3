package plan

import (
	"github.com/cosketch/cosketch/kernel/estimate"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

// oftenLostAll is the largest probability that a usable analysis of components lacks a column.
const oftenLostAll = 0.1

func ofPCA() forecaster {
	return forecaster{
		kind: study.PCA, other: jointly(components), about: allPlaces, tail: tailsOfProducts, divided: true,
		without: func(a study.Analysis) *conclusion {
			if o, ok := a.Options.(study.PCAOptions); !ok || o.Centre {
				return nil
			}
			return &conclusion{Uncentred, "products that are not centred depend on the columns' means; components of correlations or covariances are forecast"}
		},
		intervals: func(c *cell, a study.Analysis) int {
			o, _ := a.Options.(study.PCAOptions)
			values := len(c.places())
			return values * (2 + min(o.Components, values))
		},
		measure: "share of the variance that errors alone explain", usable: standsOut,
		lost: loss{oftenLostAll, "lack a column, because noise hides the variance of one or a number of shared records"},
		worth: func(f judgement) string {
			return "components that explain " + percent(f.Chosen.AtWorst.Detects) + " of the variance more than an equal share stand out" + supposing(f.Supposes)
		},
		tooWide: "errors alone would explain as much of the variance as a component can",
	}
}

// components forecasts the share of variance that the largest component explains by errors alone.
func components(c *cell, q question) (forecast.Error, error) {
	at, together, err := c.together(q.analysis, q.x, q.y)
	out := together.Component()
	if err == nil && out.Undefined == "" {
		out.Standings, err = at.allStand()
	}
	return out, err
}

// allStand returns the standings of all columns together, because pca sets aside columns whose
// variance is hidden by noise, and the standings of the records that each two parties share.
func (c *cell) allStand() (out []estimate.Standing, err error) {
	type alike struct {
		party  int
		column forecast.Column
	}
	known := map[alike][]estimate.Standing{}
	for _, p := range c.places() {
		kind := alike{p.party, c.central(p)}
		if _, ok := known[kind]; !ok {
			e, err := c.pairErrs(study.Correlation, p, p)
			if err != nil {
				return nil, err
			}
			if e.Undefined != "" { // it does not stand out even on expectation
				known[kind] = []estimate.Standing{{}}
			} else if n := len(e.Standings); n > 0 {
				known[kind] = e.Standings[n-1:]
			}
		}
		out = append(out, known[kind]...)
	}
	if c.union() || !c.projects() {
		return out, nil
	}
	for x := range c.Study.Parties {
		for y := range x {
			pair, err := c.pair(onesOf(x), onesOf(y))
			if err != nil {
				return nil, err
			}
			shared, err := pair.SharedStanding()
			if err != nil {
				return nil, err
			}
			out = append(out, shared...)
		}
	}
	return out, nil
}
