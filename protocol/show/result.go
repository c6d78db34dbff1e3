package show

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Board is what the board of a result's study shows.
type Board struct {
	Study *study.Study
	Steps []string          // of a party in a study, in order
	Taken []map[string]bool // by party of the study, which steps it has taken; nil if unknown
}

// Result returns a result as blocks, without its headline: what came out, each answer, who is in
// it, and what was promised. The board may be nil.
func Result(r analysis.Result, of *Board) (out []block.Block) {
	if bare(r) {
		out = append(out, NoPromise())
	}
	answers, headings := analyses(r)
	if len(headings) > 0 {
		out = append(out, block.Heading{ID: "says", Text: "What came out"}, opening(r, headings))
	}
	out = append(out, answers...)
	out = append(out, block.Heading{ID: "parties", Text: "Who is in"}, parties(r, of))
	out = append(out, block.Heading{ID: "promise", Text: "What was promised"}, sketches(r))
	if r.FirstOnly {
		out = append(out, block.Text{Text: "Too few parties released in the second round. No answer uses it, and a party that did not release in it has spent nothing on it. The guarantee below is for both rounds."})
	}
	for _, text := range r.Promises() {
		out = append(out, block.Text{Text: text})
	}
	if of != nil {
		out = append(out, block.Fold{Title: "What every steward was told before approving", Blocks: of.Study.Explain(study.Everyone)})
	}
	return out
}

// NoPromise returns the warning for a study without noise.
func NoPromise() block.Text {
	return block.Text{Tone: block.Warn, Lead: "No privacy guarantee", Text: "The parties agreed on sketches without noise: whoever knows the projection can read from them."}
}

// Analyses returns the answers of a result in order. Repeated titles are numbered, so that each
// leads to one place.
func Analyses(r analysis.Result) []block.Block {
	out, _ := analyses(r)
	return out
}

func analyses(r analysis.Result) (out []block.Block, headings []block.Heading) {
	titled := map[string]int{}
	for i, a := range r.Analyses {
		blocks := Analysis(fmt.Sprintf("a%d", i), a, r.Analyses)
		heading := blocks[0].(block.Heading)
		if titled[heading.Title()]++; titled[heading.Title()] > 1 {
			heading.Text = fmt.Sprintf("%s (%d)", heading.Text, titled[heading.Title()])
			blocks[0] = heading
		}
		out, headings = append(out, blocks...), append(headings, heading)
	}
	return out, headings
}

// parties lists who is in a result and, if the board is known, how far each party got.
func parties(r analysis.Result, of *Board) block.Table {
	t := block.Table{Caption: "The parties of the study", Columns: []block.Column{block.Words("party"), block.Numbers("records"), block.Numbers("shipped")}}
	var listed []string
	if of == nil {
		for _, p := range r.Parties {
			listed = append(listed, p.Name)
		}
		listed = append(listed, r.Absent...)
	} else {
		for _, p := range of.Study.Parties {
			listed = append(listed, p.Name)
		}
		if of.Taken != nil {
			t.Caption = "How far each party came, as the study's board shows it"
			for _, step := range of.Steps {
				t.Columns = append(t.Columns, block.Column{Name: step, PageOnly: true})
			}
		}
	}
	t.Columns, t.Of = append(t.Columns, block.Words("in this result")), len(listed)
	for i, name := range listed[:min(len(listed), block.MostRows)] {
		row := block.Cells(name, "–", "–")
		in := "no"
		if at := slices.IndexFunc(r.Parties, func(in analysis.Party) bool { return in.Name == name }); at >= 0 {
			row, in = block.Cells(name, strconv.FormatInt(r.Parties[at].Records, 10), block.Bytes(r.Parties[at].Bytes)), "yes"
		}
		if of != nil && of.Taken != nil {
			for _, step := range of.Steps {
				mark := "–"
				if i < len(of.Taken) && of.Taken[i][step] {
					mark = "✓"
				}
				row = append(row, block.Cell{Text: mark})
			}
		}
		t.Rows = append(t.Rows, append(row, block.Cell{Text: in}))
	}
	return t
}

// sketches says for each sketch how it was made, and what was promised.
func sketches(r analysis.Result) block.Table {
	t := block.Table{Caption: "Every party's release, sketch by sketch", Columns: []block.Column{
		block.Numbers("sketch"), block.Words("side"), block.Words("family"), block.Numbers("k"), block.Words("noise"), block.Words("unit"), block.Numbers("ε"), block.Numbers("δ"), block.Numbers("ε per person"),
	}, Of: len(r.Sketches)}
	for i, s := range r.Sketches[:min(len(r.Sketches), block.MostRows)] {
		unit, epsilon, delta, person := s.Unit, "none", "none", "none"
		if s.Mechanism == string(dp.None) {
			unit = "–"
		} else {
			epsilon, delta = dp.AtMost(s.Epsilon, 4), dp.AtMost(s.Delta, 4)
		}
		if s.EpsilonPerPerson != nil {
			person = dp.AtMost(*s.EpsilonPerPerson, 4)
		}
		t.Rows = append(t.Rows, block.Cells(strconv.Itoa(i+1), s.Side, s.Family, strconv.Itoa(s.K), s.Mechanism, unit, epsilon, delta, person))
	}
	return t
}
