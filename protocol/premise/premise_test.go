package premise_test

import (
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/premise"
	"github.com/cosketch/cosketch/protocol/study"
)

// The texts are pinned to those in documents: each list has the same text in every release of this
// format.
func TestListsAreWorded(t *testing.T) {
	const limited = "a value more than three spreads from its centre counts as three spreads away"
	const centre = "a missing value is the centre of its column or the middle of its bounds"
	for _, c := range []struct {
		list           premise.List
		says, sentence string
	}{
		{nil, "", ""},
		{premise.List{premise.RandomPairs}, "the records that two parties share are a random part of each party's records",
			"It assumes that the records that two parties share are a random part of each party's records."},
		{premise.List{premise.AnyOverlap}, "nothing about which records the parties share", "It assumes nothing about which records the parties share."},
		{premise.List{premise.EntriesOfUnion}, "nothing: each entry is over all records of the union", "It assumes nothing: each entry is over all records of the union."},
		{premise.List{premise.Limited, premise.NormalNoise}, "that " + limited + ", and that noise is nearly normal where two clusters meet, for the inertia without it", ""},
		{premise.List{premise.Limited, premise.AnyPairs},
			"that " + limited + ", and nothing about which records the parties share: each entry is over the records that its two columns have in common", ""},
		{premise.List{premise.MissingIsCentre, premise.Limited, premise.AllPairs}, "that " + centre + ", and that " + limited + "; a mean is over all pairs of two different records", ""},
		{premise.List{premise.FewCut, premise.InCells, premise.CutForMeans},
			"that the few records that were cut to the clip do not matter beside the noise; sizes and means are of all records in the cells that lie nearest to a cluster; for means, each record is cut to the study's clip", ""},
		{premise.List{premise.InCells}, "nothing: sizes and means are of all records in the cells that lie nearest to a cluster", ""},
	} {
		if got := c.list.String(); got != c.says {
			t.Errorf("%v says %q, want %q", []premise.Code(c.list), got, c.says)
		}
		if got := c.list.Sentence("It"); c.sentence != "" && got != c.sentence {
			t.Errorf("%v says %q, want %q", []premise.Code(c.list), got, c.sentence)
		}
	}
}

// Every code has a text of its own that reads well alone and after another.
func TestEveryCodeIsWorded(t *testing.T) {
	met := map[string]premise.Code{}
	for _, c := range premise.All() {
		text := premise.List{c}.String()
		if other, twice := met[text]; twice || text == "" || strings.HasPrefix(text, "that ") {
			t.Errorf("%s and %s say %q", c, other, text)
		}
		met[text] = c
		for _, sentence := range []string{premise.List{c}.Sentence("It"), premise.List{premise.FewCut, c}.Sentence("It")} {
			if strings.Contains(sentence, "that that") || strings.Contains(sentence, "that nothing") || strings.Contains(sentence, "nothing nothing") {
				t.Errorf("%s: %s", c, sentence)
			}
		}
	}
	if known := (premise.List{premise.Limited, "new"}).Known(); known {
		t.Error("a code of a later version is known")
	}
}

// Readers supply what documents leave out.
func TestUsual(t *testing.T) {
	for _, c := range []struct {
		kind study.AnalysisKind
		by   study.Estimator
		want premise.Code
	}{
		{study.Correlation, study.E1, premise.AnyOverlap}, {study.Correlation, study.E2, premise.RandomPairs},
		{study.Clustering, study.E2, premise.RandomPairs}, {study.KMeans, "", premise.NormalNoise},
	} {
		if got := premise.Usual(c.kind, c.by); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s, %s: %v", c.kind, c.by, got)
		}
	}
	if got := premise.Usual(study.Covariance, ""); got != nil {
		t.Errorf("covariances rest on %v", got)
	}
}
