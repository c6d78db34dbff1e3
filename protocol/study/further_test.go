package study_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
)

func parsed(t *testing.T, name string) *study.Study {
	t.Helper()
	source, err := os.ReadFile("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := studyfile.Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFurther(t *testing.T) {
	hospitals := parsed(t, "hospitals")
	a, err := studyfile.Further(hospitals, "k-means", []string{"clusters=3", "restarts=7"})
	if err != nil {
		t.Fatal(err)
	}
	if a.Kind != study.KMeans || a.Options != (study.KMeansOptions{Clusters: 3, Restarts: 7}) {
		t.Errorf("read as %+v", a)
	}
	for _, c := range []struct {
		kind  string
		words []string
		want  string
	}{
		{"k-means", nil, "k-means.clusters: is missing (how many clusters to look for, like 2, or auto)"},
		{"k-means", []string{"clusters=1"}, "k-means.clusters: 1 is not between 2 and 1000"},
		{"k-means", []string{"clusters=two"}, "k-means.clusters: want a whole number"},
		{"k-means", []string{"clusters=2", "clusters=3"}, "\"clusters\" is given twice"},
		{"k-means", []string{"clusters"}, "\"clusters\" is no option (write KEY=VALUE"},
		{"k-means", []string{"clusters="}, "is no option"},
		{"k-means", []string{"kind=correlation"}, "is no option"},
		{"k-means", []string{"clusters=[2"}, "is no value: not YAML"},
		{"k-means", []string{"clusters=*x"}, "is no value"},
		{"k-means", []string{"clusters=2", "estimator=E1"}, "estimator: does not belong here"},
		{"k-means", []string{"clusters=2", "colour=red"}, "unknown key"},
		{"k-meens", nil, "unknown analysis \"k-meens\" (did you mean \"k-means\"?)"},
		{"correlation", nil, "no sketch of the study answers correlation (it needs a sketch of side moments with products, or of side columns with helpers.ones above 0"},
	} {
		_, err := studyfile.Further(hospitals, c.kind, c.words)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "line ") {
			t.Errorf("%s %v: %v, want %q", c.kind, c.words, err, c.want)
		}
	}
}

func TestFurtherNamesRecords(t *testing.T) {
	clinics := parsed(t, "clinics")
	for _, words := range [][]string{{"of=Charité/12, Saint Mary/0,Charité/3", "to=parties"}, {"of=[Charité/12, Saint Mary/0, Charité/3]", "to=parties", "intervals=all"}} {
		a, err := studyfile.Further(clinics, "record-distance", words)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Options.String(); got != "of: [Charité/12, Saint Mary/0, Charité/3], to: parties" {
			t.Errorf("%v is read as %s", words, got)
		}
	}
	many := "of=Charité/0"
	for i := range 100 {
		many += fmt.Sprintf(",Saint Mary/%d", i)
	}
	for _, c := range []struct{ words, want string }{
		{"", "record-distance.of: names 0 records (two or more make distances"},
		{"of=Charité/12", "names 1 records"},
		{"of=Charité/12,Saint Mary", `record-distance.of[1]: "Saint Mary" is no record (write PARTY/ROW, as in north/12: the row of the party's release, from 0`},
		{"of=Charité/12,Saint Mary/-1", "is no record"},
		{"of=Charité/12,Saint Mary/01", "is no record"},
		{"of=Charité/12,Saint Mary/1e3", "is no record"},
		{"of=Charité/12,/1", "is no record"},
		{"of=Charité/12,Saint Mary/99999999999999999999", "is no record"},
		{"of=Charité/12,Charité/12", "record-distance.of[1]: Charité/12 appears twice"},
		{"of=Charité/12,Saint Mery/12", `no party is called "Saint Mery" (did you mean "Saint Mary"?)`},
		{"of=Charité/12,elsewhere/12", `no party is called "elsewhere" (parties are `},
		{many, "has 101 entries, at most 100"},
		{"of=Charité/1,Saint Mary/1;to=everyone", `unknown end of distances "everyone" (one of: records, parties)`},
		{"of=Charité/1,Saint Mary/1;clusters=2", "does not belong here"},
	} {
		_, err := studyfile.Further(clinics, "record-distance", strings.FieldsFunc(c.words, func(r rune) bool { return r == ';' }))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v, want %q", c.words, err, c.want)
		}
	}
}

func TestFurtherKeepsToWhatThePartiesApproved(t *testing.T) {
	var refused *study.NotLaterError
	narrow := parsed(t, "laboratories")
	_, err := studyfile.Further(narrow, "distance", nil)
	if !errors.As(err, &refused) || !strings.HasSuffix(err.Error(), "under later: inner-product") {
		t.Errorf("distance beside %v: %v", narrow.Later, err)
	}
	if _, err := studyfile.Further(narrow, "inner-product", []string{"intervals=all"}); err != nil {
		t.Error(err)
	}
}
