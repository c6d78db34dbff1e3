package file

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// Default weights of the column of ones, if a study needs one. Under unit record the ones share the
// noise with a record's values: a larger weight means less noise in the means of other parties, and
// more in the values.
const (
	defaultOnes       = 1
	defaultOnesRecord = 0.7
)

// complete fills in the defaults that depend on other parts of the study. The defaults of single
// keys were filled in when the key was read.
func (r *reader) complete(s *study.Study) {
	if !r.Given("quorum") {
		s.Quorum = len(s.Parties)
	}
	if len(s.Parties) > study.MostWhole {
		s.Sealed = study.SealedApart
	}
	asked := append(kindsOf(s.Analyses), s.Later...)
	var total float64
	for i := range s.Sketches {
		sk, path := &s.Sketches[i], fmt.Sprintf("sketches[%d]", i)
		if sk.Projection.Family == projection.Sparse && !r.Given(path+".s") {
			sk.Projection.S = 1
		}
		if !r.Given(path+".helpers.ones") && sk.Side == sketch.Columns && wantOnes(asked) {
			sk.Helpers.Ones = defaultOnes
			if s.Privacy.Unit == dp.Record {
				sk.Helpers.Ones = defaultOnesRecord
			}
		}
		if sk.Projection.Family == projection.Identity && !r.Given(path+".k") && len(s.Parties) > 0 {
			sk.Projection.K = len(s.AllFeatures(i))
		}
		if sk.Labels == study.LabelsRandomised && s.Privacy.Unit == dp.Record && !r.Given(path+".label_share") {
			sk.LabelShare = sk.Share
		}
		row, _ := additiveOf(sk.Side)
		if row.complete != nil {
			row.complete(r, s, i)
		}
		if len(s.Parties) > 0 {
			s.CompleteSums(i)
		}
		total += sk.Share + sk.LabelShare
	}
	for i := range s.Sketches {
		s.Sketches[i].Share /= total
		s.Sketches[i].LabelShare /= total
	}
	if s.Bits == 0 {
		s.Bits = s.AutoBits()
	}
	for i := range s.Analyses {
		r.completeAnalysis(s, i)
	}
	r.completeQueries(s)
	if !r.Given("records.join") && s.Joins() {
		s.Records.Join = study.JoinAll
	}
	if !r.Given("later") {
		s.Later = s.Answerable()
	}
}

func kindsOf(as []study.Analysis) []study.AnalysisKind {
	out := make([]study.AnalysisKind, len(as))
	for i, a := range as {
		out[i] = a.Kind
	}
	return out
}

func wantOnes(asked []study.AnalysisKind) bool {
	for _, name := range asked {
		k, ok := study.KindOf(name)
		if ok && slices.ContainsFunc(k.Needs(nil), func(n study.Needs) bool { return n.Ones }) {
			return true
		}
	}
	return false
}
