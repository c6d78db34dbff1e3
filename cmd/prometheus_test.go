package cmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v4"
)

// The commands of prometheus.txtar: a Prometheus scrapes real nodes. Every query of the stored
// dashboard and alert rules has an answer.

// prometheus TARGET... starts a Prometheus that scrapes nodes every second and has the alert rules,
// with delays of a second instead of minutes.
func startPrometheus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: prometheus TARGET...")
	}
	port, err := freePort(ts.Defer)
	ts.Check(err)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	ts.Setenv("PROMETHEUS", address)
	rules, err := os.ReadFile("../docs/operations/alerts.yaml")
	ts.Check(err)
	rules = regexp.MustCompile(`for: \d+m`).ReplaceAll(rules, []byte("for: 1s"))
	ts.Check(os.WriteFile(ts.MkAbs("alerts.yaml"), rules, 0o600))
	conf := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [alerts.yaml]\nscrape_configs:\n  - job_name: cosketch\n    static_configs: [{targets: [\"%s\"]}]\n", strings.Join(args, `", "`))
	ts.Check(os.WriteFile(ts.MkAbs("prometheus.yml"), []byte(conf), 0o600))
	cmd := exec.Command("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb", "--web.listen-address="+address, "--log.level=error")
	cmd.Dir = ts.MkAbs(".")
	log, err := os.Create(ts.MkAbs("prometheus.log"))
	ts.Check(err)
	cmd.Stdout, cmd.Stderr = log, log
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill()
		cmd.Wait()
		log.Close()
	})
}

// query sends a query to Prometheus and returns the number of series in the answer.
func query(ts *testscript.TestScript, expression string) (series int, err error) {
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	err = fromPrometheus(ts, "query?query="+url.QueryEscape(expression), &answer)
	if err == nil && answer.Status != "success" {
		ts.Fatalf("%s: %s", expression, answer.Error)
	}
	return len(answer.Data.Result), err
}

func fromPrometheus(ts *testscript.TestScript, path string, to any) error {
	r, err := http.Get("http://" + ts.Getenv("PROMETHEUS") + "/api/v1/" + path)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return json.NewDecoder(r.Body).Decode(to)
}

// until retries for a minute, since the machine may be busy.
func until(ts *testscript.TestScript, done func() (missing []string)) {
	for end := time.Now().Add(time.Minute); ; {
		missing := done()
		if len(missing) == 0 {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("in vain for a minute:\n%s", strings.Join(missing, "\n"))
		}
		<-time.After(200 * time.Millisecond)
	}
}

// bound matches the threshold in an alert's expression.
var bound = regexp.MustCompile(` (==|<|>) [0-9.e]+$`)

// evaluates queries every expression of the dashboard and of the alert rules, without thresholds,
// until each has an answer.
func evaluates(ts *testscript.TestScript, neg bool, args []string) {
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	raw, err := os.ReadFile("../docs/operations/grafana.json")
	ts.Check(err)
	ts.Check(json.Unmarshal(raw, &dashboard))
	var left []string
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			left = append(left, strings.ReplaceAll(target.Expr, "$__rate_interval", "20s"))
		}
	}
	for _, r := range alertRules(ts) {
		if !bound.MatchString(r.Expr) {
			ts.Fatalf("%s has no bound", r.Expr)
		}
		left = append(left, bound.ReplaceAllString(r.Expr, ""))
	}
	if len(left) < 35 {
		ts.Fatalf("only %d expressions found", len(left))
	}
	ts.Logf("%d expressions", len(left))
	until(ts, func() []string {
		left = slices.DeleteFunc(left, func(e string) bool {
			series, err := query(ts, e)
			return err == nil && series > 0
		})
		return left
	})
}

type alertRule struct{ Alert, Expr string }

func alertRules(ts *testscript.TestScript) (out []alertRule) {
	var rules struct{ Groups []struct{ Rules []alertRule } }
	ts.Check(yaml.Unmarshal([]byte(ts.ReadFile("alerts.yaml")), &rules))
	for _, g := range rules.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// firing lists the firing alerts; it returns an error while Prometheus does not answer yet.
func firing(ts *testscript.TestScript) (out []string, err error) {
	var answer struct {
		Data struct {
			Alerts []struct {
				State  string
				Labels map[string]string
			}
		}
	}
	if err := fromPrometheus(ts, "alerts", &answer); err != nil {
		return nil, err
	}
	for _, a := range answer.Data.Alerts {
		if a.State == "firing" && !slices.Contains(out, a.Labels["alertname"]) {
			out = append(out, a.Labels["alertname"])
		}
	}
	slices.Sort(out)
	return out, nil
}

// fires ALERT... waits until exactly these alerts fire.
func fires(ts *testscript.TestScript, neg bool, args []string) {
	want := slices.Sorted(slices.Values(args))
	until(ts, func() []string {
		if now, err := firing(ts); err != nil || !slices.Equal(now, want) {
			return []string{fmt.Sprintf("%v fire, want %v, %v", now, want, err)}
		}
		return nil
	})
}

// ask NUMBER STATUS PATH requests $WEB so many times, each over a new connection.
func askOften(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: ask NUMBER STATUS PATH")
	}
	var number int
	fmt.Sscan(args[0], &number)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for range number {
		r, err := client.Get("http://" + ts.Getenv("WEB") + args[2])
		ts.Check(err)
		r.Body.Close()
		if fmt.Sprint(r.StatusCode) != args[1] {
			ts.Fatalf("%s answers %s, want %s", args[2], r.Status, args[1])
		}
	}
}

// hold PATH requests a stream from $WEB, and reads its beginning.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold PATH")
	}
	r, err := http.Get("http://" + ts.Getenv("WEB") + args[0])
	ts.Check(err)
	ts.Defer(func() { r.Body.Close() })
	if r.StatusCode != http.StatusOK {
		ts.Fatalf("%s answers %s", args[0], r.Status)
	}
	_, err = io.ReadFull(r.Body, make([]byte, 10))
	ts.Check(err)
}

// crowd NUMBER opens so many connections to $WEB and sends nothing.
func crowd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: crowd NUMBER")
	}
	var number int
	fmt.Sscan(args[0], &number)
	for range number {
		c, err := net.Dial("tcp", ts.Getenv("WEB"))
		ts.Check(err)
		ts.Defer(func() { c.Close() })
	}
}
