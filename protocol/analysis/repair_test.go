package analysis

import (
	"context"
	"errors"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/cosketch/cosketch/kernel/decompose"
	"github.com/cosketch/cosketch/kernel/estimate"
)

// A repair that fails says why, and leaves the pairs unchanged. A cancelled one gives no answer.
func TestRepairThatFails(t *testing.T) {
	pairs := []Pair{pair(0, 1, estimate.Estimate{Interval: estimate.Interval{Estimate: 0.5, Low: 0.3, High: 0.7}, StandardError: 0.1})}
	fail := func(context.Context, mat.Symmetric) (decompose.Repair, error) {
		return decompose.Repair{}, errors.New("no end in sight")
	}
	r, matrix, err := repair(context.Background(), "correlation_psd", 2, pairs, fail)
	if err != nil || matrix != nil || r == nil || r.Undefined != "no end in sight" || r.Matrix != nil {
		t.Errorf("%+v, %v, %v", r, matrix, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := repair(ctx, "correlation_psd", 2, pairs, decompose.Correlation); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
