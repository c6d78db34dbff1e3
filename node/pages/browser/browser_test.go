package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/show"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// chromium finds the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser: install Debian's package chromium to run this test")
	return ""
}

// tab is a browser's tab that records its requests and its console.
type tab struct {
	t    *testing.T
	ctx  context.Context
	host string // the only host that may be requested
	asks string // console text that the test provokes

	mu       sync.Mutex
	requests []string // guarded by mu
	strange  []string // requests to other hosts; guarded by mu
	bytes    float64  // received over the wire; guarded by mu
	console  []string // errors and warnings; guarded by mu
}

// openTab starts a browser with one tab for the pages.
func (w *world) openTab() *tab {
	w.t.Helper()
	at, err := url.Parse(w.url)
	check(w.t, err)
	return newTab(w.t, at.Host)
}

// newTab starts a browser with one tab that may request one host, "" for files.
func newTab(t *testing.T, host string) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("force-prefers-reduced-motion", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() {
		chromedp.Cancel(ctx) // waits until the browser has ended
		cancel()
	})
	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(cancel)
	one := &tab{t: t, ctx: ctx, host: host}
	check(t, chromedp.Do(ctx))
	check(t, chromedp.Listen(ctx, one.note))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	check(t, err)
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleWarning {
				one.mu.Lock()
				one.console = append(one.console, string(m.Type)+": "+m.Text)
				one.mu.Unlock()
			}
		}
	}()
	return one
}

// note records the browser's reports of its requests.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
		if at, err := url.Parse(e.Request.URL); err != nil || at.Host != b.host {
			b.strange = append(b.strange, e.Request.URL)
		}
	case *network.EventLoadingFinished:
		b.bytes += e.EncodedDataLength
	}
}

// sane reports what no page may do.
func (b *tab) sane(where string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = slices.DeleteFunc(b.console, func(line string) bool { return b.asks != "" && strings.Contains(line, b.asks) })
	if len(b.console) > 0 {
		b.t.Errorf("%s: the console says %q", where, b.console)
	}
	if len(b.strange) > 0 {
		b.t.Errorf("%s: requests to other hosts: %q", where, b.strange)
	}
	b.console, b.strange = nil, nil
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	check(b.t, chromedp.Do(b.ctx, steps...))
}

func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// shown are the ways in which a page is viewed.
var shown = []struct {
	name          string
	width, height int64
	scheme, media string
}{{"light", 1280, 900, "light", ""}, {"dark", 1280, 900, "dark", ""}, {"phone", 390, 844, "light", ""}, {"phone-dark", 390, 844, "dark", ""}, {"paper", 794, 1123, "dark", "print"}}

// look shows a page in light, dark, on a phone and in print, and checks it in each. Screenshots go
// to $COSKETCH_SCREENSHOTS.
func (b *tab) look(name string) {
	b.t.Helper()
	for _, v := range shown {
		_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: v.media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v.scheme}}})
		check(b.t, err)
		b.do(chromedp.EmulateViewport(v.width, v.height))
		if wide := eval[float64](b, "document.documentElement.scrollWidth"); wide > float64(v.width) {
			b.t.Errorf("%s, %s: the page is %g px wide, the window %d", name, v.name, wide, v.width)
		}
		if dir := os.Getenv("COSKETCH_SCREENSHOTS"); dir != "" {
			shot, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
			check(b.t, err)
			check(b.t, os.MkdirAll(dir, 0o755))
			check(b.t, os.WriteFile(filepath.Join(dir, name+"-"+v.name+".png"), shot, 0o644))
		}
		if problems := eval[[]string](b, accessible); len(problems) > 0 {
			b.t.Errorf("%s, %s: %s", name, v.name, strings.Join(problems, "; "))
		}
	}
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}})
	check(b.t, err)
	b.do(chromedp.EmulateViewport(1280, 900))
	b.listen(name)
	b.sane(name)
}

// accessible finds obstacles for a screen reader or a keyboard, and text with a contrast below 4.5
// to 1.
const accessible = `(() => {
  const out = [];
  const say = (what, e) => out.push(what + (e ? ": " + e.outerHTML.slice(0, 120) : ""));
  for (const role of ["header", "main", "footer", "nav"]) if (!document.querySelector(role)) say("no " + role);
  if (document.querySelectorAll("h1").length !== 1) say("not one h1");
  if (!document.documentElement.lang) say("no language");
  let level = 0;
  for (const h of document.querySelectorAll("h1,h2,h3,h4")) {
    const now = Number(h.tagName[1]);
    if (now > level + 1) say("a heading skips a level", h);
    level = now;
  }
  for (const t of document.querySelectorAll("table")) {
    if (!t.caption) say("a table without caption", t);
    if (!t.querySelector("th[scope]")) say("a table without scopes", t);
  }
  for (const s of document.querySelectorAll("svg")) if (!s.querySelector(":scope > title") || !s.querySelector(":scope > desc")) say("a figure without title and description", s);
  for (const e of document.querySelectorAll("svg :is(path,rect,ellipse,text)")) if (getComputedStyle(e).display === "none") say("a part of a figure is not shown", e);
  for (const e of document.querySelectorAll("input:not([type=hidden]),select,textarea")) if (!e.labels || !e.labels.length) say("a field without label", e);
  for (const e of document.querySelectorAll("a,button,summary")) if (!e.textContent.trim() && !e.ariaLabel) say("nothing to read on a control", e);
  for (const e of document.querySelectorAll("progress")) if (!e.ariaLabel) say("a progress bar without name", e);
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  for (const id of new Set(ids)) if (ids.filter(i => i === id).length > 1) say("id " + id + " is there twice");
  const rgb = c => c.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  for (const e of document.querySelectorAll("body *:not(svg *), svg text")) { // numbers on colours: package figure tests them
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility() || e.closest(".cells")) continue;
    const style = getComputedStyle(e);
    const [a, b] = [light(rgb(e.ownerSVGElement ? style.fill : style.color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) say("contrast " + ((a + 0.05) / (b + 0.05)).toFixed(2), e);
  }
  return out;
})()`

// first loads a page with an empty cache. It reports the bytes received, and the time from the
// beginning of the navigation to the end of the load event. The browser's own start is not counted:
// it has shown a page of this server before.
func (b *tab) first(address string) {
	b.t.Helper()
	b.do(chromedp.Navigate("http://" + b.host + "/signin"))
	_, err := chromedp.Call(b.ctx, network.ClearBrowserCache, cdp.Empty{})
	check(b.t, err)
	b.mu.Lock()
	b.bytes = 0
	b.mu.Unlock()
	b.do(chromedp.Navigate(address))
	took := eval[float64](b, "performance.getEntriesByType('navigation')[0].loadEventEnd")
	b.mu.Lock()
	defer b.mu.Unlock()
	b.t.Logf("%s: loaded in %.0f ms, %.1f kB", strings.TrimPrefix(address, "http://"+b.host), took, b.bytes/1000)
	if b.bytes > 150_000 {
		b.t.Errorf("%s: %.0f bytes, more than 150 kB", address, b.bytes)
	}
}

// Every page loads only from this server, in light, dark and at phone width, while a study goes
// from its beginning to its result.
func TestPages(t *testing.T) {
	w := newWorld(t, false)
	b := w.openTab()
	b.first(w.url + "/")
	b.look("empty")
	s := w.add(wards())
	home := w.url + "/studies/" + s.ID.String()
	b.do(chromedp.Navigate(home))

	// Only one party runs: the page updates itself to say that the others are awaited.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	begin := func(party int) {
		w.data(party, 3000)
		all.Go(func() {
			if err := w.run(ctx, party, s); err != nil {
				t.Errorf("party %s: %v", w.parties[party], err)
			}
		})
	}
	begin(0)
	b.await("St. Mary has approved", `[...document.querySelectorAll(".parties > li")].some(e => e.textContent.includes("St. Mary") && e.querySelector(".taken"))`)
	b.await("the others are awaited", `document.querySelectorAll(".parties > li.awaited").length === 2`)
	if text := eval[string](b, "document.getElementById('headline').textContent"); !strings.Contains(text, "0 of 3 parties in; waits for approvals from ") || !strings.Contains(text, ", until") {
		t.Errorf("the headline says %q", text)
	}
	if text := eval[string](b, "document.getElementById('news').textContent"); !strings.HasPrefix(text, "0 of 3 parties in; waits for approvals from ") {
		t.Errorf("who listens is told %q", text)
	}
	b.look("waiting")
	b.do(chromedp.Navigate(w.url + "/"))
	b.look("studies")
	b.do(chromedp.Navigate(home))
	begin(1)
	begin(2)
	b.await("the result", `document.getElementById("headline").textContent.startsWith("3 of 3 parties are in this result; answered: correlation")`)
	all.Wait()
	b.look("study")

	b.first(home)
	b.first(w.url + "/")
	b.first(home + "/results/current")
	if n := eval[int](b, "document.querySelectorAll('main svg[role=img]').length"); n < 2 {
		t.Errorf("%d figures in the result", n)
	}
	if n := eval[int](b, "document.querySelectorAll('main svg path title').length"); n < 48 {
		t.Errorf("only %d cells and bars say their numbers when pointed at", n)
	}
	b.look("result")
	b.readsCells()
	b.do(chromedp.Navigate(home + "/privacy"))
	b.look("privacy")
	b.do(chromedp.Navigate(home + "/audit"))
	if n := eval[int](b, "document.querySelectorAll('.trail time[datetime]').length"); n != 17 {
		t.Errorf("%d of 17 messages say when they came", n)
	}
	b.look("audit")
	b.download(w, s)
}

// readsCells moves over a heat map by keyboard and pointer: every cell shows its number.
func (b *tab) readsCells() {
	b.t.Helper()
	says := func(where, want string) {
		b.t.Helper()
		if text := eval[string](b, "document.querySelector('.readout').textContent"); !strings.Contains(text, want) {
			b.t.Errorf("%s the map says %q, want %q", where, text, want)
		}
	}
	// The texts in the table of all pairs, by pair.
	table := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("details table tbody tr")].filter(r => r.cells.length === 6).flatMap(r => {
		const [of, and, estimate, records, people] = [...r.cells].map(c => c.textContent);
		const says = estimate + " " + records + " for these records, " + people + " for people like these";
		return [[of + ", " + and, says], [and + ", " + of, says]];
	}))`)
	names := eval[[]string](b, "document.querySelector('svg[data-names]').dataset.names.split('\\n')")
	if len(names) != 12 || len(table) < 12*11 {
		b.t.Fatalf("%d names and %d pairs", len(names), len(table))
	}
	b.do(chromedp.Focus("main > section:has(svg[data-names]) .scroll"), chromedp.KeyEvent(kb.Tab))
	if !eval[bool](b, "document.activeElement === document.querySelector('svg[data-names]') && getComputedStyle(document.activeElement).outlineStyle !== 'none'") {
		b.t.Error("Tab does not reach the heat map, or nothing shows that it has the focus")
	}
	for range names {
		b.do(chromedp.KeyEvent(kb.ArrowUp))
	}
	for row := range names {
		b.do(chromedp.KeyEvent(kb.Home))
		for column := range names {
			want := names[row] + ": itself"
			if row != column {
				want = names[row] + ", " + names[column] + ": " + table[names[row]+", "+names[column]]
			}
			says(fmt.Sprintf("at row %d, column %d,", row, column), want)
			b.do(chromedp.KeyEvent(kb.ArrowRight))
		}
		b.do(chromedp.KeyEvent(kb.ArrowDown))
	}
	at := eval[[]float64](b, `(() => { const svg = document.querySelector("svg[data-names]"), c = Number(svg.dataset.cell);
		svg.scrollIntoView({block: "center"});
		const p = new DOMPoint(2.5 * c, 5.5 * c).matrixTransform(svg.querySelector("g.grid").getScreenCTM()); return [p.x, p.y]; })()`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	says("under the pointer", names[5]+", "+names[2]+": "+table[names[5]+", "+names[2]])
	b.sane("heat map")
}

// Reports are self-contained: results of every kind, as a file, in every view.
func TestReports(t *testing.T) {
	b := newTab(t, "")
	source, err := os.ReadFile("../../../protocol/study/testdata/hospitals.yaml")
	check(t, err)
	s, err := file.Parse(source)
	check(t, err)
	const golden = "../../../protocol/analysis/testdata/"
	for kinds, dir := range map[string]string{"whole": golden, "classifier": golden, "horizontal": golden, "dates": "testdata/", "first": "testdata/"} { // first: only the first round
		raw, err := os.ReadFile(dir + kinds + ".json")
		check(t, err)
		var r analysis.Result
		check(t, json.Unmarshal(raw, &r))
		path := filepath.Join(t.TempDir(), kinds+".html")
		var html bytes.Buffer
		of := show.Document{Result: r, Board: &show.Board{Study: s}}
		check(t, present.HTML(&html, present.Page{Title: of.Title(), Kicker: of.Kicker(), Headline: show.Headline(r), Footer: show.Footer, Blocks: of.Blocks()}))
		check(t, os.WriteFile(path, html.Bytes(), 0o600))
		b.do(chromedp.Navigate("file://" + path))
		eval[bool](b, "document.querySelectorAll('details').forEach(d => d.open = true) || true")
		b.look("report-" + kinds)
	}
}

// await waits until a page updates itself, without being loaded again.
func (b *tab) await(what, expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(30*time.Second))); err != nil {
		b.t.Fatalf("waiting for %s: %v; the page says\n%s", what, err, eval[string](b, "document.getElementById('main').innerText"))
	}
}

// download clicks on a file and checks it on disk.
func (b *tab) download(w *world, s *study.Study) {
	b.t.Helper()
	dir := b.t.TempDir()
	_, err := chromedp.CallBrowser(b.ctx, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{
		Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, EventsEnabled: new(true)})
	check(b.t, err)
	done := make(chan string, 1)
	check(b.t, chromedp.ListenBrowser(b.ctx, func(event any) {
		if e, ok := event.(*cdpbrowser.EventDownloadProgress); ok && e.State != cdpbrowser.DownloadProgressStateInProgress {
			select {
			case done <- string(e.State):
			default:
			}
		}
	}))
	b.do(chromedp.Navigate(w.url+"/studies/"+s.ID.String()+"/results/current"), chromedp.Click("#downloads ~ details summary"), chromedp.Click(`a[href$="/files/numbers.csv"]`))
	select {
	case state := <-done:
		if state != string(cdpbrowser.DownloadProgressStateCompleted) {
			b.t.Fatalf("the download is %s", state)
		}
	case <-time.After(30 * time.Second):
		b.t.Fatal("no download")
	}
	text, err := os.ReadFile(filepath.Join(dir, "numbers.csv"))
	check(b.t, err)
	if lines := strings.Count(string(text), "\n"); lines != 1+12*11/2+3 {
		b.t.Errorf("numbers.csv has %d lines:\n%.300s", lines, text)
	}
	b.sane("download")
}

// Without scripts, every page shows the same, but must be reloaded.
func TestPagesWithoutScript(t *testing.T) {
	w := newWorld(t, false)
	b := w.openTab()
	s := w.add(wards())
	w.complete(s)
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	check(t, err)
	for path, want := range map[string]string{
		"":                 "3 of 3 parties are in this result; answered: correlation, intersection; the smallest effect",
		"/results/current": "3 of 3 parties are in this result; answered: correlation, intersection",
		"/privacy":         "one value of one record",
		"/audit":           "17 signed messages are on the board",
	} {
		b.do(chromedp.Navigate(w.url + "/studies/" + s.ID.String() + path))
		text, err := chromedp.Run(b.ctx, chromedp.Text("h1"))
		check(t, err)
		if !strings.Contains(text, want) {
			t.Errorf("%s without script: %q", path, text)
		}
	}
	for _, step := range []struct{ click, at string }{
		{"header nav a", "/"},
		{"tbody th a", "/studies/" + s.ID.String()},
		{"table.stacks th a", "/results/"},
		{"header nav li:nth-child(2) a", "/studies/" + s.ID.String()},
		{"#facts a", "/audit"},
	} {
		answer, err := chromedp.RunResponse(b.ctx, chromedp.Click(step.click))
		check(t, err)
		if !strings.Contains(answer.URL, step.at) || answer.Status != 200 {
			t.Errorf("%s leads to %s, status %d; want %s", step.click, answer.URL, answer.Status, step.at)
		}
	}
	b.sane("without script")
}

// If a token is needed, a person signs in with it, and out again.
func TestSignIn(t *testing.T) {
	w := newWorld(t, true)
	s := w.add(wards())
	token := w.token("studies:read")
	b := w.openTab()
	b.do(chromedp.Navigate(w.url + "/studies/" + s.ID.String()))
	if at := eval[string](b, "location.pathname"); at != "/signin" {
		t.Fatalf("a stranger is at %s", at)
	}
	b.look("signin")
	b.do(chromedp.SendKeys("#token", "cosketch_00000000_"+strings.Repeat("A", 43)))
	_, err := chromedp.RunResponse(b.ctx, chromedp.Click("form.sign button"))
	check(t, err)
	if text := eval[string](b, "document.querySelector('[role=alert]').textContent"); !strings.Contains(text, "not valid") {
		t.Errorf("a wrong token: %q", text)
	}
	b.do(chromedp.SendKeys("#token", token))
	_, err = chromedp.RunResponse(b.ctx, chromedp.Click("form.sign button"))
	check(t, err)
	if at := eval[string](b, "location.pathname"); at != "/studies/"+s.ID.String() {
		t.Errorf("signed in, at %s", at)
	}
	if cookies := eval[string](b, "document.cookie"); cookies != "" {
		t.Errorf("scripts can read %q", cookies)
	}
	b.asks = "the server responded with a status of 40"
	b.do(chromedp.Navigate(w.url + "/studies/" + s.ID.String() + "/results/current"))
	if text := eval[string](b, "document.querySelector('main').innerText"); !strings.Contains(text, "This token may not see this page.") || !strings.Contains(text, "results:read") {
		t.Errorf("without the scope of results: %q", text)
	}
	b.look("forbidden")
	b.do(chromedp.Navigate(w.url + "/nowhere"))
	if text := eval[string](b, "document.querySelector('main').innerText"); !strings.Contains(text, "Nothing is at /nowhere.") {
		t.Errorf("where nothing is: %q", text)
	}
	b.look("missing")
	_, err = chromedp.RunResponse(b.ctx, chromedp.Click("form[action='/signout'] button"))
	check(t, err)
	if at := eval[string](b, "location.pathname"); at != "/signin" {
		t.Errorf("signed out, at %s", at)
	}
	b.sane(fmt.Sprintf("signing in to %s", w.url))
}
