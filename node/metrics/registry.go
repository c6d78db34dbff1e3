package metrics

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Registry holds a node's metrics. Its methods, and those of the metrics it makes, are safe for
// concurrent use.
type Registry struct {
	mu       sync.Mutex
	families []*family // in the order in which they were made
}

// kind is a type of metric, as the format names it.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// family is a metric with all values of its labels.
type family struct {
	name, help string
	kind       kind
	labels     []string
	buckets    []float64 // histograms: upper bounds, ascending
	collect    func(set func(value float64, labels ...string))

	mu     sync.Mutex
	series []*series
}

// series is a metric with one value of each label.
type series struct {
	labels []string
	value  float64   // histograms: the sum
	counts []float64 // histograms: by bucket; the last has no upper bound
}

func (r *Registry) add(f *family) *family {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.families, func(g *family) bool { return g.name == f.name }) {
		panic("metrics: " + f.name + " is there twice")
	}
	r.families = append(r.families, f)
	return f
}

// at finds or creates a series.
func (f *family) at(labels []string) *series {
	if len(labels) != len(f.labels) {
		panic(fmt.Sprintf("metrics: %s has %d labels, not %d", f.name, len(f.labels), len(labels)))
	}
	for _, s := range f.series {
		if slices.Equal(s.labels, labels) {
			return s
		}
	}
	s := &series{labels: slices.Clone(labels), counts: make([]float64, len(f.buckets)+1)}
	f.series = append(f.series, s)
	return s
}

// Counter is a number that only grows.
type Counter struct{ of *family }

// Counter makes a counter; its name ends in _total.
func (r *Registry) Counter(name, help string, labels ...string) Counter {
	f := r.add(&family{name: name, help: help, kind: counter, labels: labels})
	if len(labels) == 0 {
		f.at(nil) // so that 0 is written from the start
	}
	return Counter{f}
}

// Add adds to the counter with these label values.
func (c Counter) Add(n float64, labels ...string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.at(labels).value += n
}

// Gauge is a number that goes up and down.
type Gauge struct{ of *family }

// Gauge makes a gauge.
func (r *Registry) Gauge(name, help string, labels ...string) Gauge {
	f := r.add(&family{name: name, help: help, kind: gauge, labels: labels})
	if len(labels) == 0 {
		f.at(nil)
	}
	return Gauge{f}
}

// Add adds to the gauge with these label values.
func (g Gauge) Add(n float64, labels ...string) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.of.at(labels).value += n
}

// Set sets the gauge with these label values.
func (g Gauge) Set(value float64, labels ...string) {
	g.of.mu.Lock()
	defer g.of.mu.Unlock()
	g.of.at(labels).value = value
}

// Collected makes a gauge whose values are collected when it is written.
func (r *Registry) Collected(name, help string, labels []string, collect func(set func(value float64, labels ...string))) {
	r.add(&family{name: name, help: help, kind: gauge, labels: labels, collect: collect})
}

// Accumulated makes a counter whose values are collected when it is written.
func (r *Registry) Accumulated(name, help string, labels []string, collect func(set func(value float64, labels ...string))) {
	r.add(&family{name: name, help: help, kind: counter, labels: labels, collect: collect})
}

// Histogram counts values by size.
type Histogram struct{ of *family }

// Histogram makes a histogram with these upper bounds of buckets, ascending.
func (r *Registry) Histogram(name, help string, buckets []float64, labels ...string) Histogram {
	return Histogram{r.add(&family{name: name, help: help, kind: histogram, labels: labels, buckets: buckets})}
}

// Observe counts one value.
func (h Histogram) Observe(x float64, labels ...string) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	s := h.of.at(labels)
	s.value += x
	at, _ := slices.BinarySearch(h.of.buckets, x)
	s.counts[at]++
}

// Write writes all metrics in Prometheus' text format, version 0.0.4.
func (r *Registry) Write(w io.Writer) error {
	r.mu.Lock()
	families := slices.Clone(r.families)
	r.mu.Unlock()
	out := bufio.NewWriter(w)
	for _, f := range families {
		f.write(out)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	return nil
}

func (f *family) write(w *bufio.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.collect != nil {
		f.series = nil
		f.collect(func(value float64, labels ...string) { f.at(labels).value = value })
	}
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.name, escape(f.help), f.name, f.kind)
	for _, s := range f.series {
		if f.kind != histogram {
			fmt.Fprintf(w, "%s%s %s\n", f.name, f.labelled(s), text(s.value))
			continue
		}
		total := 0.0
		for i, n := range s.counts {
			bound := math.Inf(1)
			if i < len(f.buckets) {
				bound = f.buckets[i]
			}
			total += n
			fmt.Fprintf(w, "%s_bucket%s %s\n", f.name, f.labelled(s, "le", text(bound)), text(total))
		}
		fmt.Fprintf(w, "%s_sum%s %s\n%s_count%s %s\n", f.name, f.labelled(s), text(s.value), f.name, f.labelled(s), text(total))
	}
}

// labelled writes the labels of a series, and one more pair if given.
func (f *family) labelled(s *series, more ...string) string {
	var pairs []string
	for i, name := range f.labels {
		pairs = append(pairs, name+`="`+quoted(s.labels[i])+`"`)
	}
	if len(more) == 2 {
		pairs = append(pairs, more[0]+`="`+quoted(more[1])+`"`)
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

func escape(s string) string { return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s) }
func quoted(s string) string { return strings.NewReplacer(`"`, `\"`).Replace(escape(s)) }

func text(x float64) string {
	if math.IsInf(x, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
