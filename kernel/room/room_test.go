package room_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cosketch/cosketch/kernel/room"
)

type giver struct {
	given int
	err   error
}

func (g *giver) Bytes(n int) ([]byte, error) {
	g.given += n
	return make([]byte, n), g.err
}

// Large slices come from the giver; small ones, or any without a giver, from memory.
func TestOf(t *testing.T) {
	g := &giver{}
	for _, from := range []room.Allocator{g, nil} {
		x, err := room.Of[float64](from, 1<<14)
		if err != nil || len(x) != 1<<14 {
			t.Fatal(len(x), err)
		}
		x[1<<14-1] = 1
	}
	few, err := room.Of[[16]byte](g, 10)
	if err != nil || len(few) != 10 {
		t.Error(few, err)
	}
	if g.given != 8<<14 {
		t.Errorf("given %d bytes, want %d", g.given, 8<<14)
	}
}

func TestRefusals(t *testing.T) {
	full := errors.New("full")
	var none *room.Error
	if _, err := room.Of[int32](&giver{err: full}, 1<<20); !errors.As(err, &none) || !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
	for _, n := range []int{-1, math.MaxInt} {
		if _, err := room.Of[int64](nil, n); !errors.As(err, &none) {
			t.Errorf("%d numbers are given: %v", n, err)
		}
	}
}
