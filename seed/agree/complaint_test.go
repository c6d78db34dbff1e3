package agree

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/seed/secret"
)

// record returns the attempt with some members' confirmations on the board.
func (a *attempt) record(t *testing.T, confirmed ...int) Record {
	t.Helper()
	r := Record{Group: a.group, Commits: a.commits, Shares: a.shares, Confirms: make([]*Confirm, len(a.group.Members))}
	for _, i := range confirmed {
		c := a.confirm(t, i)
		r.Confirms[i] = &c
	}
	return r
}

func (a *attempt) opening(t *testing.T, i int) Opening {
	t.Helper()
	o, err := a.secrets[i].Opening()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A complaint convicts exactly the right members, whatever else is on the board, and never a member
// that followed the protocol.
func TestComplaints(t *testing.T) {
	honest := shared(t, group(4))
	spoil := func(a *attempt, from, to int) {
		sealed := bytes.Clone(a.shares[from].Message.Sealed[place(from, to)])
		sealed[len(sealed)-1] ^= 1
		a.shares[from].Message.Sealed[place(from, to)] = sealed
	}
	lie := func(r *Record, i int) {
		c := *r.Confirms[i]
		c.Tag[0] ^= 1
		r.Confirms[i] = &c
	}
	type verdict map[int]error
	for name, c := range map[string]struct {
		do       func(*attempt)
		confirms []int // made before do is called
		change   func(*Record, *Opening)
		want     verdict
	}{
		"a bad share":            {do: func(a *attempt) { spoil(a, 1, 2) }, want: verdict{1: ErrShareSealed}},
		"two bad shares":         {do: func(a *attempt) { spoil(a, 1, 2); spoil(a, 3, 2) }, want: verdict{1: ErrShareSealed, 3: ErrShareSealed}},
		"another's bad share":    {do: func(a *attempt) { spoil(a, 1, 3) }, want: verdict{2: ErrUnfounded}},
		"nothing":                {want: verdict{2: ErrUnfounded}},
		"nothing, all confirmed": {confirms: []int{0, 1, 2, 3}, want: verdict{2: ErrUnfounded}},
		"a contribution that does not match": {do: func(a *attempt) {
			h := secret.Reveal(a.secrets[0].hidden)
			a.shares[0].Message.Sealed[place(0, 2)] = a.seal(t, 0, 2, slices.Concat(h.contribution[:], make([]byte, 64)))
		}, want: verdict{0: ErrCommitment}},
		"a bad confirmation":       {confirms: []int{0, 1, 2}, change: func(r *Record, _ *Opening) { lie(r, 1) }, want: verdict{1: ErrConfirmTag}},
		"two bad confirmations":    {confirms: []int{0, 1, 3}, change: func(r *Record, _ *Opening) { lie(r, 0); lie(r, 3) }, want: verdict{0: ErrConfirmTag, 3: ErrConfirmTag}},
		"its own bad confirmation": {confirms: []int{0, 1, 2}, change: func(r *Record, _ *Opening) { lie(r, 2) }, want: verdict{2: ErrConfirmTag}},
		"a bad share that it confirmed": {do: func(a *attempt) { spoil(a, 1, 2) }, change: func(r *Record, _ *Opening) {
			r.Confirms[2] = &Confirm{T1: r.Shares[0].Message.T1, T2: T2(r.Shares[0].Message.T1, ids(r.Shares))}
		}, want: verdict{2: ErrContradictsConfirm}},
		"a bad share with another's key": {do: func(a *attempt) { spoil(a, 1, 2) }, change: func(_ *Record, o *Opening) { o.Key = honest.opening(t, 3).Key }, want: verdict{2: ErrOpening}},
		"a bad share with no key":        {do: func(a *attempt) { spoil(a, 1, 2) }, change: func(_ *Record, o *Opening) { o.Key = nil }, want: verdict{2: ErrOpening}},
		"with another contribution":      {change: func(_ *Record, o *Opening) { o.Contribution[0] ^= 1 }, want: verdict{2: ErrOpening}},
		"with another blinder":           {change: func(_ *Record, o *Opening) { o.Blinder[0] ^= 1 }, want: verdict{2: ErrOpening}},
	} {
		a := honest.cloned()
		r := a.record(t, c.confirms...)
		if c.do != nil {
			c.do(a)
			r.Shares = a.shares
		}
		o := a.opening(t, 2)
		if c.change != nil {
			c.change(&r, &o)
		}
		faults, err := r.Examine(2, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(faults) != len(c.want) {
			t.Errorf("%s: %v, want %v", name, faults, c.want)
		}
		for _, f := range faults {
			if want, ok := c.want[f.Member]; !ok || !errors.Is(f.Err, want) {
				t.Errorf("%s: member %d: %v, want %v", name, f.Member, f.Err, c.want)
			}
		}
	}
}

// A record that is not one complete transcript convicts nobody.
func TestComplaintsAboutNoTranscript(t *testing.T) {
	honest := shared(t, group(3))
	for name, change := range map[string]func(*Record) int{
		"a stranger":               func(*Record) int { return 3 },
		"nobody":                   func(*Record) int { return -1 },
		"a share missing":          func(r *Record) int { r.Shares = r.Shares[:2]; return 0 },
		"a commit missing":         func(r *Record) int { r.Commits = r.Commits[:2]; return 0 },
		"confirmations of fewer":   func(r *Record) int { r.Confirms = r.Confirms[:2]; return 0 },
		"a group of one":           func(r *Record) int { r.Group.Members = r.Group.Members[:1]; return 0 },
		"another roster":           func(r *Record) int { r.Group.Roster[0] ^= 1; return 0 },
		"a share of another T1":    func(r *Record) int { r.Shares[1].Message.T1[0] ^= 1; return 0 },
		"a confirmation of other":  func(r *Record) int { r.Confirms[1] = &Confirm{}; return 0 },
		"another study's members":  func(r *Record) int { r.Group.Study[0] ^= 1; return 0 },
		"another attempt's shares": func(r *Record) int { r.Group.Attempt++; return 0 },
	} {
		r := honest.cloned().record(t)
		if faults, err := r.Examine(change(&r), honest.opening(t, 0)); err == nil {
			t.Errorf("%s: judged as %v", name, faults)
		}
	}
}

// An opening contains a private key: no verb prints it before it is posted.
func TestOpeningsAreNotPrinted(t *testing.T) {
	o := committed(t, group(2)).opening(t, 0)
	for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%s", "%d"} {
		for _, value := range []any{o, &o} {
			if got := fmt.Sprintf(verb, value); got != secret.Text {
				t.Errorf("%s prints %q", verb, got)
			}
		}
	}
	if got := fmt.Sprint([]Opening{o}); strings.Trim(got, "[]") != secret.Text {
		t.Errorf("a list of openings prints %q", got)
	}
}
