package file

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/forecast"
	"github.com/cosketch/cosketch/protocol/study"
)

// horizontal writes the sketches of a study whose parties hold the same columns. moments returns
// those with the given share; cells is a sketch of cells, or of codes of a second round; share is
// the share of moments beside cells; gain says what the second round gains, empty if there is none.
//
// Each party takes its own clip if values are unbounded. It standardises columns of which only
// bounds are known by its own noisy moments. In a masked sum neither is possible. Then the draft
// has a fixed length that suits most data, for the number of records that the parties give. With
// looks, moments begin with a look, the first round, by which all parties take one clip and one set
// of scales.
func (d Draft) horizontal(looks bool) (moments func(share int) []string, cells string, share int, gain string) {
	alone := d.Masked && !looks // nothing can be learnt from records
	columns := d.columns()
	bounded, endless, features, inCells := false, 0, 0, 0
	typical := 0. // squared length of a typical record
	cellSquare := 0.
	for _, c := range columns {
		n, square := 1, 1./9
		switch {
		case c.Kind == study.Categorical:
			n, square = max(len(c.list()), 2), 1
		case c.Kind == study.Binary:
			square = 1. / 4
		case c.has("bounds"):
			bounded = true
			if square = 1. / 4; !alone {
				square = 1. / 9 // standardised
			}
		default:
			endless++
		}
		if c.Role == "label" && c.Kind != study.Numeric {
			continue
		}
		typical, features = typical+square, features+n
		if c.Role != "label" {
			inCells += n
			if cellSquare += square; c.has("bounds") && c.Kind == study.Numeric && !alone {
				cellSquare += 1./4 - 1./9
			}
		}
	}
	mu, parties, records := d.mu(), float64(len(d.Parties)), d.unionRecords()
	noises := parties
	if d.Masked {
		noises = parties / math.Max(1, parties-float64(max(1, (len(d.Parties)-1)/2)))
	}
	terms := forecast.CellTerms{Columns: max(inCells, 1), Clusters: d.clusters(), Mu: dp.Mu(mu), Parties: noises, Records: records}
	best := terms.Choose()
	// As in Study.ClipRule, for sums with products and a weight of 3.
	nu := math.Sqrt((25+9)*typical*noises) / mu / records
	m := forecast.ClipRule(max(features, 1), nu)
	length := func(square, m float64) string {
		return strconv.FormatFloat(math.Ceil(100*m*math.Sqrt(square))/100, 'f', -1, 64)
	}
	centred, clip := endless > 0, "whole"
	switch {
	case alone && centred:
		clip = length(1, forecast.BlindClip(features, endless, typical-float64(endless)/9, nu))
	case (centred || bounded) && !alone:
		clip = "own"
	}
	end := "clip: " + clip
	if bounded && !alone {
		end += ", standardise: own"
	}
	fourth := ""
	if d.asks(study.Covariance, study.Correlation) && (centred || bounded) {
		fourth = ", fourth: true"
	}
	// Means need long clips, and correlations little noise, so each has a clip of its own if
	// possible. Two releases with two and three fifths of μ² have the same errors as one that
	// weighs sums 4 beside 5. If columns are standardised, each release would need a look of its
	// own, which leaves it too little.
	apart := clip == "own" && !bounded && d.asks(study.Mean) && d.asks(study.Covariance, study.Correlation, study.PCA, study.Regression)
	// A look gets about the share that a single party's own look would take.
	look, times := []string(nil), 1
	if looks && clip == "own" {
		switch {
		case apart:
			look, times = []string{"{side: look, share: 2}"}, 5
		case bounded:
			look, times = []string{"{side: look, share: 1}"}, 9
		default:
			look, times = []string{"{side: look, share: 1}"}, 14
		}
	}
	moments = func(share int) []string {
		if apart {
			return append(look,
				fmt.Sprintf("{side: moments, products: false, %s, share: %d}", end, 2*times*max(share, 1)),
				fmt.Sprintf("{side: moments, %s%s, share: %d}", end, fourth, 3*times*max(share, 1)))
		}
		if share > 0 || times > 1 {
			return append(look, fmt.Sprintf("{side: moments, %s%s, share: %d}", end, fourth, times*max(share, 1)))
		}
		return []string{fmt.Sprintf("{side: moments, %s%s}", end, fourth)}
	}
	cellClip := "whole"
	if centred { // k-means tolerates some bias
		cellClip = length(cellSquare, math.Max(1.1, m-.4))
	}
	cellShare := best.Cells
	if apart {
		cellShare *= 5
	}
	cells = fmt.Sprintf("{side: cells, L: %d, q: %d, clip: %s, share: %d}", best.Directions, best.Subspace, cellClip, cellShare)
	if gain := d.second(terms, columns, typical*m*m); gain != "" {
		rounds := terms.ChooseRounds()
		share := rounds.Second
		if apart {
			share *= 5
		}
		return moments, fmt.Sprintf("{side: codes, share: %d}", share), rounds.Moments, gain
	}
	return moments, cells, best.Moments, ""
}

// second says what a second round gains for k-means; empty if there is none. The draft decides
// whether there is one or, if it leaves that open, the forecast. Moments are clipped to the squared
// length cut.
func (d Draft) second(terms forecast.CellTerms, columns []DraftColumn, cut float64) (gain string) {
	of := forecast.Cells{Keep: forecast.Whole()}
	for _, c := range columns {
		if c.Role != "label" {
			of.Columns = append(of.Columns, c.known().Column)
		}
	}
	// The noise of a sum of products x·y. Products have weight 7 if squares have 5 and sums 3, in
	// moments with .3 of μ².
	of.Product = (25 + 9) * cut * cut / 49 * terms.Parties / float64(terms.Mu*terms.Mu) / 0.3
	one, two := terms.Sizes(of)
	const most = 200 // columns whose moments are sure to fit on the board as a first round
	if d.Rounds == 1 || d.Rounds == 0 && (terms.Columns > most || !forecast.SecondRound(one, two)) {
		return ""
	}
	return forecast.SecondGain(one, two)
}

// lookTells reports whether there are enough records for a first look of masked sums: its counts of
// lengths must exceed their noise. Without a look the length must suit the worst data. Records as
// described then have up to two and a half times the noise, and others are clipped.
func (d Draft) lookTells() bool {
	const edges, share = 12, 1. / 15
	parties := float64(len(d.Parties))
	noises := parties / math.Max(1, parties-float64(max(1, (len(d.Parties)-1)/2)))
	return 4*math.Sqrt(edges*noises/share)/d.mu() <= d.unionRecords()
}

// asks reports whether the draft has an analysis of one of these kinds.
func (d Draft) asks(kinds ...study.AnalysisKind) bool {
	for _, a := range d.Analyses {
		for _, k := range kinds {
			if a == string(k) || strings.HasPrefix(strings.ReplaceAll(a, " ", ""), "{kind:"+string(k)) {
				return true
			}
		}
	}
	return false
}

// mu returns the μ of one party's releases.
func (d Draft) mu() float64 {
	epsilon, err := strconv.ParseFloat(d.epsilon("1"), 64)
	if err != nil {
		epsilon = 1 // reported elsewhere
	}
	mu, err := dp.MuOf(dp.Budget{Epsilon: dp.Epsilon(epsilon), Delta: 1e-6})
	if err != nil {
		return 1
	}
	return float64(mu)
}

// unionRecords returns the number of records of all parties; draftRecords for a party that does not
// give it.
func (d Draft) unionRecords() (n float64) {
	for _, p := range d.Parties {
		if p.Records > 0 {
			n += float64(p.Records)
		} else {
			n += draftRecords
		}
	}
	return math.Max(n, 1)
}

// list returns a categorical column's values; nil if they are not given.
func (c DraftColumn) list() []string {
	for _, t := range c.Terms {
		if t.Key == "values" {
			return strings.Split(t.Value, ",")
		}
	}
	return nil
}
