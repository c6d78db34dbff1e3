package metrics

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Build describes this program.
type Build struct {
	Role    string    // party or aggregator
	Version string    // of the program
	Started time.Time // when the process began
}

// Process makes the metrics that every program has: its build, its uptime, memory, goroutines and
// garbage collections.
func (r *Registry) Process(b Build) {
	r.Gauge("cosketch_build_info", "Which program runs; always 1.", "role", "version", "go").Set(1, b.Role, b.Version, runtime.Version())
	r.Gauge("process_start_time_seconds", "When the process began, in seconds since 1970.").Set(float64(b.Started.UnixNano()) / 1e9)
	for _, m := range []struct {
		name, help, from string
		grows            bool
	}{
		{"go_goroutines", "Goroutines that exist.", "/sched/goroutines:goroutines", false},
		{"go_memory_bytes", "Memory that the Go runtime has from the system.", "/memory/classes/total:bytes", false},
		{"go_heap_bytes", "Memory of objects on the heap.", "/memory/classes/heap/objects:bytes", false},
		{"go_collections_total", "Garbage collections.", "/gc/cycles/total:gc-cycles", true},
	} {
		collect := func(set func(float64, ...string)) {
			sample := []metrics.Sample{{Name: m.from}}
			metrics.Read(sample)
			if sample[0].Value.Kind() == metrics.KindUint64 {
				set(float64(sample[0].Value.Uint64()))
			}
		}
		if m.grows {
			r.Accumulated(m.name, m.help, nil, collect)
		} else {
			r.Collected(m.name, m.help, nil, collect)
		}
	}
}
