package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/testnet/corpus"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/networks"
	"github.com/cosketch/cosketch/testnet/program"
)

// played runs networks by the command, on real processes.
func played(t *testing.T, name string) []errortable.Study {
	t.Helper()
	var out, talk strings.Builder
	if code := run([]string{"network", name, "--format", "json"}, &out, &talk); code != program.OK {
		t.Fatalf("exit code %d\n%s", code, talk.String())
	}
	var all struct {
		Networks []errortable.Study `json:"networks"`
	}
	if err := json.Unmarshal([]byte(out.String()), &all); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return all.Networks
}

// TestNetwork runs a network on the embedded data.
func TestNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs both programs")
	}
	all := played(t, "cancer-vertical-open")
	if len(all) != 1 || len(all[0].Table.Numbers) != 2 || len(all[0].Verdicts) != 2 || all[0].Bytes == 0 {
		t.Fatalf("%+v", all)
	}
	hold(t, all[0])
}

// TestRealNetworks runs all networks.
func TestRealNetworks(t *testing.T) {
	full.Only(t, "plays every network")
	sets := []string{networks.Embedded, "heart", "diabetes130", "adult"}
	if _, err := corpus.Open("", os.Getenv); errors.Is(err, corpus.ErrNone) {
		t.Log(err)
		sets = sets[:1]
	}
	strong, weak := 0, 0
	for _, set := range sets {
		for _, n := range played(t, set) {
			s, w := hold(t, n)
			strong, weak = strong+s, weak+w
		}
	}
	if strong < weak {
		t.Errorf("of %d analyses only %d are such that zeros in place of answers would be found out", strong+weak, strong)
	}
}

// hold checks that every error is as the plan forecast. The root mean square error of an analysis
// may be at most the error due to the study's own terms plus six standard errors of its hardest
// answer. Twelve are allowed where columns of few records are strongly correlated, as the plan
// assumes uncorrelated columns. All errors of an analysis come from one seed and one draw of noise,
// so they count as one: fewer than 1e-8 of the draws lie beyond six standard errors. hold returns
// how many analyses would have failed with zeros for answers, and how many would not.
func hold(t *testing.T, n errortable.Study) (strong, weak int) {
	t.Helper()
	for _, v := range n.Verdicts {
		t.Logf("%s: %s, %s: %s", n.Name, v.Kind, v.Grade, v.Said)
	}
	for _, a := range n.Table.Numbers {
		if a.Forecast == nil {
			continue
		}
		most := a.Terms + 6*a.Forecast.Hardest
		if n.Name == "heart-record" || n.Name == "cancer-horizontal-record" {
			most += 6 * a.Forecast.Hardest
		}
		if a.RMSE > most {
			t.Errorf("%s: %s errs by %.3g, at most %.3g was to be expected", n.Name, a.Kind, a.RMSE, most)
		}
		if a.Size > most {
			strong++
		} else {
			weak++
		}
	}
	open := strings.HasSuffix(n.Name, "-open")
	for _, g := range n.Table.Groups {
		if open && g.Pooled.Share < 0.99 { // these are the same records, in another order
			t.Errorf("%s: %.1f %% of the records are in the pooled clusters", n.Name, 100*g.Pooled.Share)
		}
		// With noise any single draw may be bad; only clusters that carry no information are
		// detected.
		if g.Pooled.Share < g.Pooled.Baseline-0.1 {
			t.Errorf("%s: clusters are worse than one for everybody", n.Name)
		}
	}
	for _, c := range n.Table.Classes {
		// Folds differ on the pooled data: one percentage point is ten standard errors or more in
		// adult.
		if open && (c.Accuracy < c.Pooled-0.03 || c.Accuracy > c.Pooled+0.03) {
			t.Errorf("%s: %s is right for %.1f %%, on pooled data for %.1f %%", n.Name, c.Kind, 100*c.Accuracy, 100*c.Pooled)
		}
		if c.Kind == study.RidgeClassification && c.Accuracy < c.Baseline-0.02 {
			t.Errorf("%s: %s is worse than the largest class", n.Name, c.Kind)
		}
	}
	return strong, weak
}
