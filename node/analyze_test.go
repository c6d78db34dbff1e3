package node_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
)

// A further analysis gives what the study's own would have given, spends nothing, ends when
// cancelled, and stays within the operator's memory limit.
func TestAnalyze(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	st := b.open("agg")
	defer st.Close()
	options := b.deskOptions(st)
	asked := b.study.Analyses[0]
	const plenty = 1 << 30
	if _, err := aggregator.Analyze(b.context(), options, b.study, asked, plenty); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before there is a result: %v", err)
	}
	st.Close()
	stop := b.serve()
	b.runAll(b.context(), b.parties...)
	st = b.open("agg") // while the aggregator serves
	defer st.Close()
	options.Store = st
	result, _, err := stored.Result(st, b.study.ID)
	check(t, err)

	answer, err := aggregator.Analyze(b.context(), options, b.study, asked, plenty)
	check(t, err)
	only := result
	only.Analyses = result.Analyses[:1]
	if want, err := json.MarshalIndent(only, "", " "); err != nil || string(answer.Raw) != string(want)+"\n" {
		t.Errorf("the same question gives (%v)\n%s, the first time it gave\n%s", err, answer.Raw, want)
	}
	ctx, cancel := context.WithCancel(b.context())
	cancel()
	if _, err := aggregator.Analyze(ctx, options, b.study, asked, plenty); !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %v", err)
	}
	var large *aggregator.MemoryError
	if _, err := aggregator.Analyze(b.context(), options, b.study, asked, 1000); !errors.As(err, &large) || large.Needs <= large.Limit {
		t.Errorf("with a kilobyte: %v", err)
	}

	signed, err := aggregator.Publish(options, b.study, answer)
	check(t, err)
	again, err := aggregator.Publish(options, b.study, answer)
	check(t, err)
	if !bytes.Equal(signed.Signature, again.Signature) {
		t.Error("published twice, it is two results")
	}
	kept, damaged, err := stored.FurtherResults(st, b.study)
	check(t, err)
	if len(kept) != 1 || len(damaged) != 0 || kept[0].Statement.Document != signed.Document || kept[0].Result.Analyses[0].Kind != asked.Kind {
		t.Errorf("kept %+v", kept)
	}
	b.spoilFurther(st, "further-"+signed.Document.Hash.String()[:16], func() {
		_, err := aggregator.Publish(options, b.study, answer)
		check(t, err)
	})
	stop()
}

// The aggregator's signature covers exactly these bytes, and the board shows each party's steps.
func TestSignedFindsTheBytesThatWereSigned(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	stop := b.serve()
	defer stop()
	b.runAll(b.context(), b.parties...)
	st := b.open("a")
	defer st.Close()
	_, raw, err := stored.Result(st, b.study.ID)
	check(t, err)
	signed, err := stored.Signed(st, b.study, raw)
	check(t, err)
	if signed.Aggregator != b.study.Aggregator.ID {
		t.Errorf("signed by %s", signed.Aggregator)
	}
	if _, err := stored.Signed(st, b.study, bytes.Replace(raw, []byte("1"), []byte("2"), 1)); !errors.Is(err, stored.ErrUnsigned) {
		t.Errorf("other bytes: %v", err)
	}
	taken, err := stored.Taken(st, b.study)
	check(t, err)
	for i, steps := range taken {
		for _, step := range stored.Steps() {
			if !steps[step] {
				t.Errorf("party %d has not %s", i, step)
			}
		}
	}
}
