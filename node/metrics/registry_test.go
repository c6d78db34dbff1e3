package metrics

import (
	"strings"
	"sync"
	"testing"
	"time"
)

func written(t *testing.T, r *Registry) string {
	t.Helper()
	var out strings.Builder
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextFormat(t *testing.T) {
	r := &Registry{}
	c := r.Counter("a_total", "Things that\nhappened, by \\ kind.", "kind")
	c.Add(1, `x"y`)
	c.Add(2.5, `x"y`)
	r.Counter("none_total", "Nothing yet.")
	g := r.Gauge("b", "Now.")
	g.Set(3)
	g.Add(-4)
	h := r.Histogram("c_seconds", "Sizes.", []float64{0.1, 1}, "of")
	for _, x := range []float64{0.1, 0.2, 1, 7} {
		h.Observe(x, "it")
	}
	r.Collected("d", "Asked for.", []string{"state"}, func(set func(float64, ...string)) { set(1e9, "open"); set(0, "closed") })
	const want = `# HELP a_total Things that\nhappened, by \\ kind.
# TYPE a_total counter
a_total{kind="x\"y"} 3.5
# HELP none_total Nothing yet.
# TYPE none_total counter
none_total 0
# HELP b Now.
# TYPE b gauge
b -1
# HELP c_seconds Sizes.
# TYPE c_seconds histogram
c_seconds_bucket{of="it",le="0.1"} 1
c_seconds_bucket{of="it",le="1"} 3
c_seconds_bucket{of="it",le="+Inf"} 4
c_seconds_sum{of="it"} 8.3
c_seconds_count{of="it"} 4
# HELP d Asked for.
# TYPE d gauge
d{state="open"} 1e+09
d{state="closed"} 0
`
	for range 2 { // writing changes no value
		if got := written(t, r); got != want {
			t.Errorf("written:\n%s", got)
		}
	}
}

func TestProcess(t *testing.T) {
	r := &Registry{}
	r.Process(Build{Role: "party", Version: "v1", Started: time.Unix(1000, 5e8)})
	text := written(t, r)
	for _, want := range []string{`cosketch_build_info{role="party",version="v1",go="go1.`, "process_start_time_seconds 1000.5\n", "# TYPE go_collections_total counter\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, name := range []string{"go_goroutines", "go_memory_bytes", "go_heap_bytes"} {
		if !strings.Contains(text, "\n"+name+" ") || strings.Contains(text, "\n"+name+" 0\n") {
			t.Errorf("no value of %s:\n%s", name, text)
		}
	}
}

// Counting and writing are safe at the same time.
func TestConcurrent(t *testing.T) {
	r := &Registry{}
	c, h := r.Counter("a_total", "", "of"), r.Histogram("b", "", []float64{1})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				c.Add(1, "x")
				h.Observe(2)
			}
			written(t, r)
		})
	}
	all.Wait()
	if text := written(t, r); !strings.Contains(text, `a_total{of="x"} 8000`) || !strings.Contains(text, "b_count 8000") {
		t.Errorf("counts were lost:\n%s", text)
	}
}
