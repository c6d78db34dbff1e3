package agree

import (
	"bytes"
	"errors"
	"testing"
)

// Every member's text leads to the root by its path, and no other text does.
func TestTree(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 64, 65} {
		sender := n / 2
		var sealed [][]byte
		for i := range n - 1 {
			sealed = append(sealed, bytes.Repeat([]byte{byte(i + 1)}, SealedSize))
		}
		tree := NewTree(sender, sealed)
		if err := CheckAll(tree.Root(), sender, sealed, n); err != nil {
			t.Errorf("%d members: %v", n, err)
		}
		for _, wrong := range [][][]byte{sealed[1:], append(sealed[:n-1:n-1], sealed[0])} {
			if err := CheckAll(tree.Root(), sender, wrong, n); !errors.Is(err, ErrShareForm) {
				t.Errorf("%d texts for %d members: %v", len(wrong), n, err)
			}
		}
		for j := range n {
			if j == sender {
				continue
			}
			x := Text{TextFor(sealed, sender, j), tree.Path(j)}
			if err := x.Check(tree.Root(), j, n); err != nil {
				t.Errorf("member %d of %d: %v", j, n, err)
			}
			other := (j + 1) % n
			for what, wrong := range map[string]error{
				"another's place": x.Check(tree.Root(), other, n),
				"another root":    x.Check([32]byte{1}, j, n),
				"a short path":    Text{x.Sealed, x.Path[1:]}.Check(tree.Root(), j, n),
				"a short text":    Text{x.Sealed[1:], x.Path}.Check(tree.Root(), j, n),
				"another text":    Text{bytes.Repeat([]byte{0xff}, SealedSize), x.Path}.Check(tree.Root(), j, n),
			} {
				if !errors.Is(wrong, ErrText) {
					t.Errorf("member %d of %d, %s: %v", j, n, what, wrong)
				}
			}
		}
	}
}

// If texts travel apart, a complaint shows what was wrong. It convicts exactly the right members; a
// complainant that shows something else convicts itself.
func TestComplaintsApart(t *testing.T) {
	a := shared(t, groupOf(4, true))
	honest := a.record(t, 0, 1, 3)
	spoiled := func(from ...int) *attempt {
		b := a.cloned()
		for _, i := range from {
			m := &b.shares[i].Message
			m.Sealed = append([][]byte(nil), m.Sealed...)
			text := bytes.Clone(m.Sealed[place(i, 2)])
			text[SealedSize-1] ^= 1
			m.Sealed[place(i, 2)] = text
			m.Root = NewTree(i, m.Sealed).Root()
		}
		return b
	}
	for name, c := range map[string]struct {
		from   *attempt
		change func(*Record, *Opening)
		want   map[int]error
	}{
		"a bad share":          {from: spoiled(1), want: map[int]error{1: ErrShareSealed}},
		"two bad shares":       {from: spoiled(0, 3), want: map[int]error{0: ErrShareSealed, 3: ErrShareSealed}},
		"nothing":              {from: a, want: map[int]error{2: ErrUnfounded}},
		"a bad confirmation":   {from: a, change: func(r *Record, _ *Opening) { c := *r.Confirms[1]; c.Tag[0] ^= 1; r.Confirms[1] = &c }, want: map[int]error{1: ErrConfirmTag}},
		"a good text":          {from: a, change: func(_ *Record, o *Opening) { o.Opened, o.Wrong = nil, []Wrong{{1, a.readBy(2)[1].Message.Received}} }, want: map[int]error{2: ErrUnfounded}},
		"a text of another":    {from: spoiled(1), change: func(_ *Record, o *Opening) { o.Wrong[0].From = 0 }, want: map[int]error{2: ErrWrongEvidence}},
		"its own text":         {from: spoiled(1), change: func(_ *Record, o *Opening) { o.Wrong[0].From = 2 }, want: map[int]error{2: ErrWrongEvidence}},
		"a member beyond all":  {from: spoiled(1), change: func(_ *Record, o *Opening) { o.Wrong[0].From = 4 }, want: map[int]error{2: ErrWrongEvidence}},
		"one text twice":       {from: spoiled(1), change: func(_ *Record, o *Opening) { o.Wrong = append(o.Wrong, o.Wrong[0]) }, want: map[int]error{2: ErrWrongEvidence}},
		"a changed text":       {from: spoiled(1), change: func(_ *Record, o *Opening) { o.Wrong[0].Sealed = bytes.Repeat([]byte{1}, SealedSize) }, want: map[int]error{2: ErrWrongEvidence}},
		"no contributions":     {from: a, change: func(_ *Record, o *Opening) { o.Opened = nil }, want: map[int]error{2: ErrWrongEvidence}},
		"few contributions":    {from: a, change: func(_ *Record, o *Opening) { o.Opened = o.Opened[1:] }, want: map[int]error{2: ErrWrongEvidence}},
		"a false contribution": {from: a, change: func(_ *Record, o *Opening) { o.Opened[1][0] ^= 1 }, want: map[int]error{2: ErrWrongEvidence}},
		"a false blinder":      {from: a, change: func(_ *Record, o *Opening) { o.Opened[3][63] ^= 1 }, want: map[int]error{2: ErrWrongEvidence}},
		"another's key":        {from: spoiled(1), change: func(_ *Record, o *Opening) { o.Key = a.opening(t, 3).Key }, want: map[int]error{2: ErrOpening}},
		"what it has confirmed": {from: spoiled(1), change: func(r *Record, _ *Opening) {
			t1 := r.Shares[0].Message.T1
			r.Confirms[2] = &Confirm{T1: t1, T2: T2(t1, ids(r.Shares))}
		}, want: map[int]error{2: ErrContradictsConfirm}},
	} {
		t.Run(name, func(t *testing.T) {
			r := Record{Group: a.group, Commits: c.from.commits, Shares: c.from.readBy(2), Confirms: make([]*Confirm, 4)}
			if c.from == a {
				copy(r.Confirms, honest.Confirms)
			}
			o, err := c.from.secrets[2].Complaint(a.group, c.from.commits, c.from.readBy(2))
			if err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(&r, &o)
			}
			for i := range r.Shares { // a board has only the roots
				r.Shares[i].Message.Received = Text{}
			}
			faults, err := r.Examine(2, o)
			if err != nil || len(faults) != len(c.want) {
				t.Fatalf("%v, %v; want %v", faults, err, c.want)
			}
			for _, f := range faults {
				if want := c.want[f.Member]; want == nil || !errors.Is(f.Err, want) {
					t.Errorf("member %d: %v, want %v", f.Member, f.Err, c.want)
				}
			}
		})
	}
}

// TestComplaintsHaveABound: if more texts are wrong than a complaint may show, it shows the
// maximum.
func TestComplaintsHaveABound(t *testing.T) {
	a := committed(t, groupOf(MaxWrong+2, true))
	for _, member := range a.group.Members {
		a.shares = append(a.shares, post(member, Share{Received: Text{Sealed: make([]byte, SealedSize)}}))
	}
	o, err := a.secrets[0].Complaint(a.group, a.commits, a.shares)
	if err != nil || len(o.Wrong) != MaxWrong || o.Opened != nil {
		t.Errorf("of %d wrong texts %d are shown, %v", MaxWrong+1, len(o.Wrong), err)
	}
}
