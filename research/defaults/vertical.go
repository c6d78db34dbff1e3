package defaults

import (
	"fmt"
	"math"
	"slices"

	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// party returns the index of the party that owns a feature.
func (p *played) party(f analysis.Feature) (int, error) {
	for n := range p.held {
		if partyName(n) == f.Party {
			return n, nil
		}
	}
	return 0, fmt.Errorf("no party %q", f.Party)
}

// across compares correlations of columns of different parties, over the records that both hold.
func across(p *played, t *tally) error {
	a, err := p.answer(study.Correlation)
	if err != nil {
		return err
	}
	if a.Undefined != "" {
		for i, x := range p.data.columns {
			for _, y := range p.data.columns[:i] {
				if x.owner != y.owner {
					t.undefined++
				}
			}
		}
		return nil
	}
	both := p.overlaps()
	for _, pair := range a.Pairs {
		f, g := a.Features[pair.I], a.Features[pair.J]
		if f.Party == g.Party {
			continue
		}
		m, err := p.party(f)
		if err != nil {
			return err
		}
		n, err := p.party(g)
		if err != nil {
			return err
		}
		t.number(beside(f, g), pair.Number, p.data.correlation(f, g, both[m][n]), 1, marked(a))
	}
	return nil
}

// overlaps returns the rows that each pair of parties shares.
func (p *played) overlaps() [][][]int {
	out := make([][][]int, len(p.held))
	for m := range p.held {
		out[m] = make([][]int, len(p.held))
		for n := range m {
			out[m][n] = shared(p.held[m], p.held[n])
			out[n][m] = out[m][n]
		}
	}
	return out
}

// correlation returns that of two columns over some rows, without those in which either value is
// missing.
func (d *data) correlation(f, g analysis.Feature, rows []int) float64 {
	at := func(name string) int {
		return slices.IndexFunc(d.columns, func(c column) bool { return c.name == name })
	}
	x, y := at(f.Column), at(g.Column)
	ox, oy := d.truth().means[d.truth().at[[2]string{f.Column, ""}]], d.truth().means[d.truth().at[[2]string{g.Column, ""}]]
	var n, a, b, aa, bb, ab float64
	for _, r := range rows {
		v, w := d.rows[r][x]-ox, d.rows[r][y]-oy
		if math.IsNaN(v) || math.IsNaN(w) {
			continue
		}
		n++
		a, b, aa, bb, ab = a+v, b+w, aa+v*v, bb+w*w, ab+v*w
	}
	return (ab - a*b/n) / math.Sqrt((aa-a*a/n)*(bb-b*b/n))
}

// intersections compares the numbers of records that pairs of parties share; errors are relative.
func intersections(p *played, t *tally) error {
	a, err := p.answer(study.Intersection)
	if err != nil {
		return err
	}
	both := p.overlaps()
	for _, pair := range a.Pairs {
		if pair.I == pair.J {
			continue
		}
		m, err := p.party(a.Features[pair.I])
		if err != nil {
			return err
		}
		n, err := p.party(a.Features[pair.J])
		if err != nil {
			return err
		}
		truth := float64(len(both[m][n]))
		t.number(beside(a.Features[pair.I], a.Features[pair.J]), pair.Number, truth, truth, marked(a))
	}
	return nil
}

// vertical measures correlations and shared records of parties with the same people.
func vertical(d *data, epsilon, hold float64, by described, correlations, shared limits) measured {
	s := setting{data: d, partition: study.Vertical, epsilon: epsilon, by: by, hold: hold, ask: []string{"correlation", "intersection"}}
	d.truth()
	const pairs = 3 // pairs of parties
	return measured{s, []asked{
		{what: rowAcross, measure: "correlation", kind: study.Correlation, limits: correlations, numbers: across},
		{what: rowShared, measure: "share of them", kind: study.Intersection, limits: shared, numbers: intersections},
	}, seedsFor(pairs)}
}
