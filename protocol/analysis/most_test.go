package analysis_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/kernel/full"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// filled returns a document of about so many bytes: begin, again repeated, and end.
func filled(begin, again, end string, size int64) []byte {
	n := max((int(size)-len(begin)-len(end))/(len(again)+1), 1)
	return []byte(begin + strings.Repeat(again+",", n-1) + again + end)
}

// allocated returns how much memory do allocates in total.
func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// The worst documents that an aggregator can sign cost a party no more memory than the bounds of
// the study say, however they are made.
func TestDecodingIsBoundedByTheStudy(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: k-means, clusters: 3}, {kind: svm}"))
	bounds := analysis.BoundsOf(s)
	if bounds.Document > 4<<20 {
		t.Errorf("a document of %d bytes is taken of a study of two analyses", bounds.Document)
	}
	for _, b := range []analysis.Bounds{bounds, analysis.FurtherBounds(s)} {
		for _, size := range full.Or([]int64{b.Document}, []int64{b.Document, 12_000_000}) {
			for _, c := range [][3]string{
				{`{"analyses":[`, `{}`, `]}`},
				{`{"parties":[`, `{}`, `]}`},
				{`{"absent":[`, `""`, `]}`},
				{`{"sketches":[`, `{}`, `]}`},
				{`{"analyses":[{"features":[`, `{}`, `]}]}`},
				{`{"analyses":[{"pairs":[`, `{}`, `]}]}`},
				{`{"analyses":[{"pairs":[`, `{"estimate":0,"low":0,"high":0}`, `]}]}`},
				{`{"analyses":[{"pca":{"components":[`, `{}`, `]}}]}`},
				{`{"analyses":[{"pca":{"components":[{"loadings":[`, `0`, `]}]}}]}`},
				{`{"analyses":[{"k_means":{"centroids":[`, `[]`, `]}}]}`},
				{`{"analyses":[{"k_means":{"centroids":[`, `[0]`, `]}}]}`},
				{`{"analyses":[{"classifier":{"classes":[`, `""`, `]}}]}`},
				{`{"analyses":[{"lda":{"apart":[`, `{}`, `]}}]}`},
				{`{"analyses":[{"dense":{"parts":[`, `{}`, `]}}]}`},
				{`{"analyses":[`, strings.Repeat(`[`, 5000), `]}`},
				{`{"name":"`, strings.Repeat(`\u0001`, 100), `"}`},
				{`{`, `"x":{}`, `}`},
				{`{"masked":{`, `"x":[{}]`, `}}`},
				{`{"other":[`, `{}`, `]}`},
			} {
				data := filled(c[0], c[1], c[2], size)
				var err error
				if took, most := allocated(func() { _, err = b.Decode(t.Context(), data, s.ID) }), analysis.MemoryPerByte*b.Document; err == nil || took > most {
					t.Errorf("%d bytes of %.60s took %d bytes, want at most %d (%v)", len(data), data, took, most, err)
				}
			}
		}
	}
	labels := analysis.LabelsOf(s, 1000)
	for _, c := range [][3]string{
		{`{"columns":[`, `{}`, `]}`},
		{`{"columns":[{"texts":[`, `""`, `]}]}`},
		{`{"columns":[{"own":[`, `0`, `]}]}`},
		{`{"columns":[{"numbers":[`, `[]`, `]}]}`},
		{`{"columns":[{"x":[`, `{}`, `]}]}`},
	} {
		for _, size := range []int64{labels.Document, 12_000_000} {
			data := filled(c[0], c[1], c[2], size)
			var err error
			if took, most := allocated(func() { _, err = labels.Decode(data, s.ID) }), analysis.MemoryPerByte*labels.Document; err == nil || took > most {
				t.Errorf("%d bytes of %.60s took %d bytes, want at most %d (%v)", len(data), data, took, most, err)
			}
		}
	}
}

// A document must have its study's analyses, and no tables that the study lacks. Decoding ends with
// the caller's context.
func TestDecodingWithinTheStudy(t *testing.T) {
	s := parse(t, fmt.Sprintf(diagnosed, "{side: records, family: identity, labels: plain}", noPromise, "{kind: k-means, clusters: 3}, {kind: svm}"))
	begin := fmt.Sprintf(`{"cosketch": %q, "study": %q, "sketches": [{}]`, analysis.ResultFormat, s.ID)
	part := fmt.Sprintf(`{"sha256": %q, "bytes": 49}`, protocol.Digest{1})
	for document, want := range map[string]string{
		begin + `, "analyses": [{"kind": "k-means"}, {"kind": "svm"}]}`:                                     "",
		begin + `, "analyses": [{"kind": "k-means"}]}`:                                                      "it has 1 analyses, the study asks for 2",
		begin + `, "analyses": [{"kind": "k-means"}, {"kind": "svm"}, {}]}`:                                 "it has more analyses than the 2 of the study",
		begin + `, "analyses": [{"kind": "svm"}, {"kind": "k-means"}]}`:                                     "analysis 1 is of kind \"svm\", the study asks for k-means",
		begin + `, "sketches": [], "analyses": []}`:                                                         "the key \"sketches\" appears twice",
		begin + `, "analyses": [{"kind": "k-means"}, {"kind": "svm"}]} {}`:                                  "more follows after the end of the document",
		begin + `, "promise": "` + strings.Repeat("x", 1<<16) + `"}`:                                        "has 65538 bytes",
		begin + `, "analyses": [{"kind": "k-means", "dense": {"parts": [` + part + `]}}, {"kind": "svm"}]}`: "dense table",
		`[]`: "found [, want {",
	} {
		_, err := analysis.BoundsOf(s).Decode(t.Context(), []byte(document), s.ID)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.150s: %v, want %q", document, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analysis.BoundsOf(s).Decode(ctx, []byte(begin+`}`), s.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("after its caller has gone: %v", err)
	}
}
