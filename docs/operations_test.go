package docs_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/monitor"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/views"
	"github.com/cosketch/cosketch/protocol"
	"go.yaml.in/yaml/v4"
)

// noStudies is a state directory without studies.
type noStudies struct{}

func (noStudies) Snapshots() ([]stored.Snapshot, error) { return nil, nil }
func (noStudies) Free() (int64, error)                  { return 1, nil }

// exposed returns the names of all metrics of nodes, and up, which Prometheus adds.
func exposed(t *testing.T) []string {
	t.Helper()
	var text strings.Builder
	aggregator, party := &metrics.Registry{}, &metrics.Registry{}
	for _, r := range []*metrics.Registry{aggregator, party} {
		r.Process(metrics.Build{Role: "x", Version: "x", Started: time.Unix(0, 0)})
	}
	monitor.NewAggregator(aggregator, noStudies{})
	monitor.NewParty(party, noStudies{})
	api.Limit{Metrics: aggregator}.Listener(nil)
	if _, err := api.New(api.Options{Metrics: aggregator, Now: func() protocol.Instant { return 0 }, Views: views.New(nil)}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*metrics.Registry{aggregator, party} {
		if err := r.Write(&text); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"up"}
	for _, found := range regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`).FindAllStringSubmatch(text.String(), -1) {
		names = append(names, found[1])
		if found[2] == "histogram" {
			names = append(names, found[1]+"_bucket", found[1]+"_sum", found[1]+"_count")
		}
	}
	return names
}

var metricName = regexp.MustCompile(`\b(cosketch|go|process)_[a-z_]+|\bup\b`)

// expressions returns those of the committed dashboard and alert rules.
func expressions(t *testing.T) []string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	raw, err := os.ReadFile("operations/grafana.json")
	if err == nil {
		err = json.Unmarshal(raw, &dashboard)
	}
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile("operations/alerts.yaml"); err == nil {
		err = yaml.Unmarshal(raw, &rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			out = append(out, target.Expr)
		}
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Expr == "" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("alert %q lacks something", r.Alert)
			}
			out = append(out, r.Expr)
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d expressions found", len(out))
	}
	return out
}

// Every metric in the dashboard and the alerts exists, and every metric of nodes is used in one of
// them.
func TestDashboardAndAlertsNameMetrics(t *testing.T) {
	names, used := exposed(t), map[string]bool{}
	for _, e := range expressions(t) {
		found := metricName.FindAllString(e, -1)
		if len(found) == 0 {
			t.Errorf("%q names no metric", e)
		}
		for _, name := range found {
			used[name] = true
			if !slices.Contains(names, name) {
				t.Errorf("%q: no node has %s", e, name)
			}
		}
		if strings.Count(e, "(") != strings.Count(e, ")") || strings.Count(e, "{") != strings.Count(e, "}") {
			t.Errorf("%q: brackets", e)
		}
	}
	for _, name := range names {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !used[name] && !used[base] && !used[base+"_bucket"] {
			t.Errorf("nothing looks at %s", name)
		}
	}
}

// The alert rules behave as their tests expect, and every alert has a test.
func TestAlertRules(t *testing.T) {
	rules, err := os.ReadFile("operations/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("operations/alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(rules, -1)
	for _, alert := range found {
		fires := regexp.MustCompile(`alertname: ` + string(alert[1]) + `\n +exp_alerts:\n +- `)
		if !fires.Match(tests) || !strings.Contains(string(tests), "alertname: "+string(alert[1])+"}") {
			t.Errorf("no test has %s fire, or none has it silent", alert[1])
		}
	}
	if len(found) < 10 {
		t.Fatalf("only %d alerts found", len(found))
	}
	if _, err := exec.LookPath("promtool"); err != nil {
		t.Skip("needs promtool: Debian's package prometheus")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = "operations"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
