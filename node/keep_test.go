package node_test

import (
	"testing"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/stored"
)

// A serving aggregator removes a study's sketches at the date in the study, and not before. The
// result stays, and further questions are answered with the reason why there is no answer.
func TestServingRemovesSketchesAtTheirDate(t *testing.T) {
	w := smallSketch
	keep := now() + 4*3600
	w.more += "keep_until: " + keep.String() + "\n"
	b := newBench(t, w, uniform(50))
	b.carryAll()
	purged := func() bool {
		st := b.open("agg")
		defer st.Close()
		gone, err := stored.Purged(st, b.study.ID)
		check(t, err)
		size, err := st.UploadSize(b.study.ID)
		check(t, err)
		if gone != (size == 0) {
			t.Errorf("purged: %t, with %d bytes of sketches", gone, size)
		}
		_, err = st.Result(b.study.ID, filename.Result)
		check(t, err)
		return gone
	}
	hosted := func() bool { return b.logged("hosting study") > 0 }
	stop := b.serve()
	b.until(hosted)
	stop()
	if purged() {
		t.Fatal("the sketches went before their date")
	}
	b.skew.Store(4*3600 + 60)
	stop = b.serve()
	b.until(func() bool { return b.logged("sketches removed, as the study says") > 0 })
	stop()
	if !purged() {
		t.Error("the sketches are still here after their date")
	}
}
