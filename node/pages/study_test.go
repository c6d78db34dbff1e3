package pages_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/api"
	"github.com/cosketch/cosketch/node/metrics"
	"github.com/cosketch/cosketch/node/pages"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wait"
)

const today protocol.Instant = 1_790_000_000 // before every date of the studies

// shown is an aggregator with one study.
type shown struct {
	study    api.Study
	raw      []byte // of its result
	messages []api.Message
	broken   error
}

func (s *shown) Studies() ([]api.Listed, error) {
	return []api.Listed{{ID: s.study.File.ID, Added: today}}, s.broken
}

func (s *shown) Study(id protocol.StudyID) (api.Study, error) {
	if id != s.study.File.ID {
		return api.Study{}, api.ErrNotFound
	}
	return s.study, s.broken
}

func (s *shown) Document(id protocol.StudyID, name protocol.Digest) (api.Document, error) {
	for _, one := range s.study.Results {
		if one.Document.Hash == name {
			r, err := analysis.Decode(s.raw, id)
			return api.Document{Statement: one, Raw: s.raw, Result: r}, err
		}
	}
	return api.Document{}, api.ErrNotFound
}

func (s *shown) Messages(_ protocol.StudyID, from uint64, limit int) ([]api.Message, error) {
	end := min(int(from)+limit, len(s.messages))
	return s.messages[from:end], nil
}

func (s *shown) News(protocol.StudyID) <-chan struct{} { return nil }
func (s *shown) Ready() error                          { return s.broken }

// newShown has a study of the test data that collects releases.
func newShown(t testing.TB, file string) *shown {
	t.Helper()
	source, err := os.ReadFile("../../protocol/study/testdata/" + file)
	check(t, err)
	s, err := studyfile.Parse(source)
	check(t, err)
	out := &shown{study: api.Study{File: s, Added: today, Status: api.Status{Snapshot: stored.Snapshot{State: string(session.Collecting), Until: (today + 600).String()}}}}
	for _, p := range s.Parties {
		out.study.Parties = append(out.study.Parties, api.Party{Name: p.Name, ID: p.ID, Steps: []string{"approved"}})
	}
	return out
}

// answer gives the study a result.
func (s *shown) answer(t testing.TB) {
	t.Helper()
	x, low, high := 0.5, 0.25, 0.75
	f := s.study.File
	var err error
	s.raw, err = json.Marshal(analysis.Result{Format: analysis.ResultFormat, Study: f.ID.String(), Name: f.Name, Completeness: analysis.Full,
		T2: strings.Repeat("0", 64), Partition: study.Vertical, Parties: []analysis.Party{{Name: "a"}}, Sketches: []analysis.Sketch{{Side: "columns"}},
		Analyses: []analysis.Analysis{{Kind: study.Correlation, Level: 0.95, Intervals: study.IntervalsEach, Features: []analysis.Feature{{Party: "a", Column: "x"}, {Party: "b", Column: "y"}},
			Pairs: []analysis.Pair{{I: 0, J: 1, Number: analysis.Number{Estimate: &x, StandardError: &low, Low: &low, High: &high}}}}}})
	check(t, err)
	s.study.Results = []api.Statement{{
		Document: protocol.Document{Hash: sha256.Sum256(s.raw), Size: int64(len(s.raw))}, Complete: true,
		Kinds: []study.AnalysisKind{study.Correlation, study.Correlation, study.Covariance},
	}}
}

// serve serves the pages to everybody on this machine, or only with a token.
func (s *shown) serve(t testing.TB, tokens api.Tokens) http.Handler {
	t.Helper()
	server, err := api.New(api.Options{Views: s, Now: func() protocol.Instant { return today }, Metrics: &metrics.Registry{}, Loopback: true, WithoutTokens: tokens == nil, Tokens: tokens})
	check(t, err)
	check(t, pages.Add(server))
	return server
}

// page returns the study's page, or one below it.
func (s *shown) page(t testing.TB, below string) string {
	t.Helper()
	return get(t, s.serve(t, nil), "/studies/"+s.study.File.ID.String()+below)
}

func says(t testing.TB, html string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(html, text) {
			t.Errorf("the page does not say %q:\n%s", text, html)
		}
	}
}

// What the page of a study says first, and of each party, in each state.
func TestStudyPage(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*shown)
		says   []string
		not    string
	}{
		"releases are awaited": {func(s *shown) {
			s.study.Status.Wait, s.study.Status.From = wait.Releases, []string{s.study.Parties[0].Name, "the aggregator"}
		}, []string{"0 of 3 parties in; waits for ", "in 10 min", "awaited", "approval closes", "upload closes"}, ""},
		"a release is on its way": {func(s *shown) {
			s.study.Parties[0].Release, s.study.Parties[0].Received = &api.Release{Records: 50, Bytes: 2_040_000}, 1_020_000
		}, []string{"1.02 MB of 2.04 MB are here"}, ""},
		"a release is here": {func(s *shown) {
			s.study.Parties[0].Release, s.study.Parties[0].Received = &api.Release{Records: 50, Bytes: 2_040_000}, 2_040_000
			s.study.Parties[0].Steps = []string{"approved", "released"}
		}, []string{"1 of 3 parties in", "50 records, 2.04 MB"}, "MB are here"},
		"it was purged": {func(s *shown) {
			s.study.Purged, s.study.Status.State = true, string(session.Done)
			s.study.Parties[0].Release, s.study.Parties[0].Steps = &api.Release{Records: 50, Bytes: 2_040_000}, []string{"released"}
		}, []string{"50 records, 2.04 MB, purged"}, "in 10 min"},
		"it is computed": {func(s *shown) {
			s.study.Status.Doing = &api.Doing{Analysis: 2, Of: 3, Kind: study.KMeans, Done: 1, Total: 4}
		}, []string{"k-means (2 of 3) is being computed"}, ""},
		"it has an answer": {func(s *shown) { s.answer(t) }, []string{"the study’s result", "correlation, covariance", "when all were in"}, ""},
		"further results": {func(s *shown) {
			s.answer(t)
			s.study.Results[0].Complete = false
			further := s.study.Results[0]
			further.Further, further.At = true, today-86400
			s.study.Results = append(s.study.Results, further)
		}, []string{"without some parties", "further result 1"}, "when all were in"},
		"only a further result": {func(s *shown) {
			s.answer(t)
			s.study.Results[0].Further, s.study.Results[0].At = true, today
		}, []string{"further result 0", "0 of 3 parties in"}, ""},
		"it stopped": {func(s *shown) {
			s.study.Status = api.Status{Snapshot: stored.Snapshot{State: string(session.Stopped), Failure: "stopped for a reason", Faults: []string{"attempt 1 ended"}, Culprits: []stored.Culprit{{Name: "north", Standing: "proved", What: "nothing came"}}}}
		}, []string{"The study stopped without a result; 0 of 3 parties in.", "stopped for a reason", "attempt 1 ended", "nothing came"}, "in 10 min"},
		"it is in trouble": {func(s *shown) { s.study.Status.Trouble = "the disk is full" }, []string{"the disk is full"}, ""},
		"results are lost": {func(s *shown) { s.study.Lost = []string{"result-1 is damaged"} }, []string{"result-1 is damaged"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShown(t, "hospitals.yaml")
			c.change(s)
			html := s.page(t, "")
			says(t, html, c.says...)
			if c.not != "" && strings.Contains(html, c.not) {
				t.Errorf("the page says %q:\n%s", c.not, html)
			}
			list := get(t, s.serve(t, nil), "/")
			says(t, list, s.study.File.Name, map[bool]string{true: "One study, which has ended", false: "One study, which goes on"}[!s.study.Status.Active()])
		})
	}
}

// A late release may replace a result between two reads: then the study has no answer yet.
func TestResultThatIsBeingReplaced(t *testing.T) {
	s := newShown(t, "hospitals.yaml")
	s.answer(t)
	old := s.study.Results[0]
	lists := s.study
	lists.Results = []api.Statement{old}
	s.study.Results = nil
	server, err := api.New(api.Options{Views: &behind{s, lists}, Now: func() protocol.Instant { return today }, Metrics: &metrics.Registry{}, Loopback: true, WithoutTokens: true})
	check(t, err)
	check(t, pages.Add(server))
	says(t, get(t, server, "/studies/"+s.study.File.ID.String()), "0 of 3 parties in")
}

// behind lists a study in an earlier state.
type behind struct {
	*shown
	study api.Study
}

func (b *behind) Study(protocol.StudyID) (api.Study, error) { return b.study, nil }

// The list says what each study waits for, or why it does not go on.
func TestStudiesInTheList(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*shown)
		says   string
	}{
		"damaged": {func(s *shown) {
			s.study.Status = api.Status{Snapshot: stored.Snapshot{State: stored.Damaged, Trouble: "the file is cut off"}}
		}, "the file is cut off"},
		"trouble": {func(s *shown) { s.study.Status.Trouble = "the disk is full" }, "the disk is full"},
		"failed": {func(s *shown) {
			s.study.Status.State, s.study.Status.Failure = string(session.Stopped), "no release came"
		}, "no release came"},
		"stopped":   {func(s *shown) { s.study.Status.Failure, s.study.Status.Reason = "stopped by x", "too few" }, "too few"},
		"ended":     {func(s *shown) { s.study.Status.State = string(session.Done) }, "none"},
		"answered":  {func(s *shown) { s.answer(t) }, "correlation, covariance"},
		"unstarted": {func(s *shown) { s.study.Status = api.Status{Snapshot: stored.Snapshot{State: "added"}} }, "none yet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShown(t, "hospitals.yaml")
			c.change(s)
			says(t, get(t, s.serve(t, nil), "/"), c.says)
		})
	}
}

// The page of privacy shows the promise, or that there is none.
func TestPrivacyPage(t *testing.T) {
	for _, file := range []string{"hospitals.yaml", "registry.yaml", "clinics.yaml", "wards.yaml", "survey.yaml", "practices.yaml"} {
		s := newShown(t, file)
		html, p := s.page(t, "/privacy"), s.study.File.Privacy
		if p.Mechanism == "none" {
			says(t, html, "Nothing: the sketches carry no noise.")
			says(t, s.page(t, ""), "Nothing: the sketches carry no noise.")
			continue
		}
		says(t, html, string(p.Mechanism), string(p.Unit), map[bool]string{true: "a whole record", false: "one value of one record"}[p.Unit == "record"])
	}
}

func TestResultPage(t *testing.T) {
	s := newShown(t, "hospitals.yaml")
	s.answer(t)
	name := s.study.Results[0].Document.Hash.String()
	html := s.page(t, "/results/"+name)
	says(t, html, "Result of "+s.study.File.Name, "/api/v1/studies/"+s.study.File.ID.String()+"/results/"+name+"/files/", name)
	s.study.Results[0].Further, s.study.Results[0].At = true, today
	says(t, s.page(t, "/results/"+name), "Further result of "+s.study.File.Name)
}

// The audit trail has every message, in pages, by day.
func TestAuditPage(t *testing.T) {
	s := newShown(t, "hospitals.yaml")
	says(t, s.page(t, "/audit"), "Nobody has posted anything yet.")
	kinds := []protocol.Kind{
		protocol.KindApprove, protocol.KindWithdraw, protocol.KindRoster, protocol.KindCommit, protocol.KindShare, protocol.KindConfirm, protocol.KindRelease, protocol.KindResult, protocol.KindComplaint,
		protocol.KindFault, protocol.KindAbandon, protocol.KindCertificate, protocol.KindJoin, protocol.KindWelcome, protocol.KindJoined, protocol.KindStop, protocol.KindClose,
	}
	for n := range uint64(450) {
		noted := today + protocol.Instant(n)*1000
		if n < 3 {
			noted = 0
		}
		s.messages = append(s.messages, api.Message{Number: n, Kind: kinds[int(n)%len(kinds)], From: "north", Noted: noted, Bytes: 5})
	}
	s.messages, s.study.Messages = s.messages[:1], 1
	says(t, s.page(t, "/audit"), "One signed message is on the board.")
	s.messages, s.study.Messages = s.messages[:450:450], 450
	from := func(n string) string { return s.page(t, "/audit?from="+n) }
	first := s.page(t, "/audit")
	says(t, first, "450 signed messages are on the board", "audit?from=200", "21 September 2026", "agrees to the study")
	if strings.Contains(first, "audit?from=0") {
		t.Error("there is something before the first message")
	}
	says(t, from("200"), "audit?from=0", "audit?from=400")
	last := from("400")
	says(t, last, "audit?from=200")
	if strings.Contains(last, "audit?from=450") {
		t.Error("there is something after the last message")
	}
	says(t, from("50"), "audit?from=0", "audit?from=250")
	for _, bad := range []string{"450", "-1", "x", "99999999999"} {
		if code, _ := ask(s.serve(t, nil), http.MethodGet, "/studies/"+s.study.File.ID.String()+"/audit?from="+bad, nil); code != http.StatusNotFound {
			t.Errorf("from %s: %d", bad, code)
		}
	}
}

// ask returns an answer's code and the answer.
func ask(from http.Handler, method, path string, form url.Values) (int, *httptest.ResponseRecorder) {
	request := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(form.Encode()))
	request.RemoteAddr = "127.0.0.1:40000"
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	answer := httptest.NewRecorder()
	from.ServeHTTP(answer, request)
	return answer.Code, answer
}

// A missing page is named, with links that help, and so is a failure.
func TestPagesThatAreNotThere(t *testing.T) {
	s := newShown(t, "hospitals.yaml")
	id := s.study.File.ID.String()
	for path, text := range map[string]string{
		"/nothing":                            "Nothing is at /nothing. The list of studies leads to every page.",
		"/studies/" + strings.Repeat("0", 64): "no study of this aggregator has this id",
		"/studies/" + id + "/results/" + strings.Repeat("0", 64): "no study of this aggregator has this id, or it has no such page or result",
		"/studies/" + id + "/results/current":                    "There is no result yet",
		"/assets/none.css":                                       "There is no such page",
		"/?before=" + id:                                         "There is no such page", // there is no earlier study
		"/?before=x":                                             "There is no such page",
	} {
		code, answer := ask(s.serve(t, nil), http.MethodGet, path, nil)
		if code != http.StatusNotFound || answer.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, code, answer.Header())
		}
		says(t, answer.Body.String(), text)
	}
	s.broken = errors.New("the disk fails")
	for _, path := range []string{"/", "/studies/" + id, "/studies/" + id + "/privacy", "/studies/" + id + "/audit"} {
		if code, answer := ask(s.serve(t, nil), http.MethodGet, path, nil); code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "the disk fails") {
			t.Errorf("%s: %d %s", path, code, answer.Body)
		}
	}
}

// Signing in needs a valid token, leads only to pages of this server, and ends with signing out.
func TestSigningInAndOut(t *testing.T) {
	s := newShown(t, "hospitals.yaml")
	token, secret, err := api.NewToken("test", []api.Scope{api.StudiesRead}, today, today+1000)
	check(t, err)
	server := s.serve(t, func(id string) ([]byte, error) {
		if id != token.ID {
			return nil, api.ErrNotFound
		}
		return token.Encode(), nil
	})
	code, answer := ask(server, http.MethodPost, "/signin", url.Values{"token": {"wrong"}, "next": {"/x"}})
	says(t, answer.Body.String(), "Not signed in: ", `value="/x"`)
	if code != http.StatusOK || len(answer.Result().Cookies()) > 0 {
		t.Errorf("a wrong token: %d, %v", code, answer.Result().Cookies())
	}
	for next, want := range map[string]string{"/?before=abc": "/?before=abc", "https://elsewhere.example/": "/", "//elsewhere.example": "/"} {
		code, answer = ask(server, http.MethodPost, "/signin", url.Values{"token": {secret.Reveal()}, "next": {next}})
		if at := answer.Header().Get("Location"); code != http.StatusSeeOther || at != want || len(answer.Result().Cookies()) != 1 {
			t.Fatalf("to %s: %d, %q, %v\n%s", next, code, at, answer.Result().Cookies(), answer.Body)
		}
	}
	cookie := answer.Result().Cookies()[0]
	with := func(method, path string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(method, "http://localhost"+path, nil)
		request.RemoteAddr = "127.0.0.1:40000"
		request.Header.Set("Sec-Fetch-Site", "same-origin")
		request.AddCookie(&http.Cookie{Name: cookie.Name, Value: cookie.Value})
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, request)
		return answer
	}
	if got := with(http.MethodGet, "/"); got.Code != http.StatusOK || !strings.Contains(got.Body.String(), "Sign out") {
		t.Errorf("signed in: %d\n%s", got.Code, got.Body)
	}
	s.answer(t) // which the token may not read
	got := with(http.MethodGet, "/studies/"+s.study.File.ID.String()+"/results/"+s.study.Results[0].Document.Hash.String())
	if got.Code != http.StatusForbidden {
		t.Errorf("beyond the token's scope: %d", got.Code)
	}
	says(t, got.Body.String(), "This token may not see this page", "Sign out, and in again with another one.")
	if got := with(http.MethodPost, "/signout"); got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/signin" {
		t.Errorf("signing out: %d %s", got.Code, got.Header().Get("Location"))
	}
	if got := with(http.MethodGet, "/"); got.Code != http.StatusSeeOther {
		t.Errorf("signed out: %d", got.Code)
	}
}
