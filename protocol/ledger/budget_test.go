package ledger

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cosketch/cosketch/kernel/dp"
)

func near(a, b dp.Epsilon) bool {
	return a == b || math.Abs(float64(a-b)) < 1e-6*math.Abs(float64(b))
}

func TestTotal(t *testing.T) {
	gaussian := promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6})
	laplace := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	none := promise(t, dp.None, dp.Budget{})
	infinite := dp.Epsilon(math.Inf(1))
	for _, c := range []struct {
		name              string
		entries           []Entry
		record, attribute dp.Epsilon // at δ 1e-6
	}{
		{"nothing", nil, 0, 0},
		{"one record-level release", []Entry{entry(1, 0, dp.Record, gaussian)}, 1, 2.122857},
		{"three: μ·√3", []Entry{entry(1, 0, dp.Record, gaussian), entry(2, 0, dp.Record, gaussian), entry(3, 0, dp.Record, gaussian)}, 1.8137840, 3.904055},
		{"attribute-level, pure, three attributes", []Entry{entry(1, 0, dp.Attribute, laplace)}, 1.5, 0.5},
		{"attribute-level, gaussian: 3μ", []Entry{entry(1, 0, dp.Attribute, gaussian)}, 3.32329, 1},
		{"both mechanisms", []Entry{entry(1, 0, dp.Record, gaussian), entry(1, 1, dp.Record, laplace)}, 1.5, 3.122857},
		{"no noise, and more", []Entry{entry(1, 0, dp.Record, none), entry(2, 0, dp.Record, laplace)}, infinite, infinite},
	} {
		for unit, want := range map[dp.Unit]dp.Epsilon{dp.Record: c.record, dp.Attribute: c.attribute} {
			got := Total(c.entries, Account{Dataset: "registry", Unit: unit, Delta: 1e-6})
			if !near(got.Epsilon, want) || got.Releases != len(c.entries) || got.Unbounded != math.IsInf(float64(want), 1) {
				t.Errorf("%s, unit %s: %+v, want epsilon %.4f", c.name, unit, got, float64(want))
			}
			if other := Total(c.entries, Account{Dataset: "other", Unit: unit, Delta: 1e-6}); other.Epsilon != 0 || other.Releases != 0 {
				t.Errorf("%s: another dataset spent %+v", c.name, other)
			}
		}
	}
}

func TestTotalAtDeltaZero(t *testing.T) {
	laplace := entry(1, 0, dp.Record, promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5}))
	gaussian := entry(2, 0, dp.Record, promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6}))
	account := Account{Dataset: "registry", Unit: dp.Record}
	if got := Total([]Entry{laplace}, account); got.Epsilon != 0.5 {
		t.Errorf("pure: %v", got)
	}
	if got := Total([]Entry{laplace, gaussian}, account); !math.IsInf(float64(got.Epsilon), 1) || got.Unbounded {
		t.Errorf("gaussian at delta 0: %+v", got)
	}
}

// TestTotalOnlyGrows: no further entry lowers the total, whatever the order.
func TestTotalOnlyGrows(t *testing.T) {
	guarantees := []dp.Guarantee{
		promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6}), promise(t, dp.Gaussian, dp.Budget{Epsilon: 0.1, Delta: 1e-9}),
		promise(t, dp.Laplace, dp.Budget{Epsilon: 0.3}),
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		var entries []Entry
		for i := range n {
			e := entry(byte(i), 0, rapid.SampledFrom([]dp.Unit{dp.Record, dp.Attribute}).Draw(t, "unit"),
				rapid.SampledFrom(guarantees).Draw(t, "guarantee"))
			entries = append(entries, e)
		}
		for _, unit := range []dp.Unit{dp.Record, dp.Attribute} {
			a := Account{Dataset: "registry", Unit: unit, Delta: 1e-6}
			all, fewer := Total(entries, a), Total(entries[1:], a)
			if all.Epsilon <= fewer.Epsilon {
				t.Fatalf("unit %s: %v with an entry more than %v", unit, all, fewer)
			}
		}
	})
}

func TestCheck(t *testing.T) {
	gaussian := promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6})
	laplace := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	none := promise(t, dp.None, dp.Budget{})
	capped := func(epsilon dp.Epsilon, delta dp.Delta) *dp.Budget { return &dp.Budget{Epsilon: epsilon, Delta: delta} }
	release := func(unit dp.Unit, g dp.Guarantee) Entry { return entry(9, 0, unit, g) }
	once := []Entry{entry(1, 0, dp.Record, gaussian)}
	open := []Entry{entry(1, 0, dp.Record, none)}
	for _, c := range []struct {
		name    string
		entries []Entry
		next    Entry
		caps    Caps
		consent Consent
		refused dp.Unit // empty when allowed
	}{
		{"no caps", once, release(dp.Record, gaussian), Caps{}, Consent{}, ""},
		{"exactly the cap", nil, release(dp.Record, gaussian), Caps{Record: capped(1, 1e-6)}, Consent{}, ""},
		{"above the cap", nil, release(dp.Record, gaussian), Caps{Record: capped(0.999, 1e-6)}, Consent{}, dp.Record},
		{"second release, μ composition fits", once, release(dp.Record, gaussian), Caps{Record: capped(1.46, 1e-6)}, Consent{}, ""},
		{"second release, it does not", once, release(dp.Record, gaussian), Caps{Record: capped(1.4, 1e-6)}, Consent{}, dp.Record},
		{"other dataset spent it", []Entry{func() Entry { e := once[0]; e.Dataset = "other"; return e }()},
			release(dp.Record, gaussian), Caps{Record: capped(1, 1e-6)}, Consent{}, ""},
		{"cap at smaller delta", nil, release(dp.Record, gaussian), Caps{Record: capped(1, 1e-9)}, Consent{}, dp.Record},
		{"pure cap, gaussian release", nil, release(dp.Record, gaussian), Caps{Record: capped(100, 0)}, Consent{}, dp.Record},
		{"pure cap, pure release", nil, release(dp.Record, laplace), Caps{Record: capped(0.5, 0)}, Consent{}, ""},
		{"attribute release, record cap: 3 × 0.5", nil, release(dp.Attribute, laplace), Caps{Record: capped(1.4, 0)}, Consent{}, dp.Record},
		{"attribute release, room for it", nil, release(dp.Attribute, laplace), Caps{Record: capped(1.5, 0), Attribute: capped(0.5, 0)}, Consent{}, ""},
		{"record release, attribute cap: 2 × 0.5", nil, release(dp.Record, laplace), Caps{Attribute: capped(0.9, 0)}, Consent{}, dp.Attribute},
		{"no noise without consent", nil, release(dp.Record, none), Caps{}, Consent{}, dp.Record},
		{"no noise with consent", nil, release(dp.Record, none), Caps{Record: capped(1, 0)}, Consent{AcceptUnbounded: true}, ""},
		{"after no noise, capped", open, release(dp.Record, laplace), Caps{Record: capped(9, 0)}, Consent{}, dp.Record},
		{"after no noise, uncapped", open, release(dp.Record, laplace), Caps{}, Consent{}, ""},
		{"after no noise, consent", open, release(dp.Record, laplace), Caps{Record: capped(9, 0)}, Consent{AcceptUnbounded: true}, ""},
		{"consent lifts no cap", open, release(dp.Record, laplace), Caps{Record: capped(0.4, 0)}, Consent{AcceptUnbounded: true}, dp.Record},
	} {
		err := Check(c.entries, c.next, c.caps, c.consent)
		var exceeded *Exceeded
		switch refused := errors.As(err, &exceeded); {
		case err != nil && !refused:
			t.Errorf("%s: untyped error %v", c.name, err)
		case refused != (c.refused != ""):
			t.Errorf("%s: got %v, want refusal %t", c.name, err, c.refused != "")
		case refused && (exceeded.Unit != c.refused || exceeded.Dataset != "registry" || !strings.Contains(err.Error(), `"registry"`)):
			t.Errorf("%s: refused as %+v: %v", c.name, exceeded, err)
		}
	}
}

// TestSharesFillTheCap: a study's shares must fit a cap equal to the study's epsilon, however their
// sum rounds, and nothing must fit after them.
func TestSharesFillTheCap(t *testing.T) {
	for _, whole := range []dp.Guarantee{
		promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6}), promise(t, dp.Laplace, dp.Budget{Epsilon: 0.3}),
	} {
		caps := Caps{Record: &dp.Budget{Epsilon: whole.Epsilon(), Delta: whole.Delta()}}
		var entries []Entry
		for i := range 30 {
			part, err := whole.Share(1. / 30)
			if err != nil {
				t.Fatal(err)
			}
			next := entry(1, i, dp.Record, part)
			if err := Check(entries, next, caps, Consent{}); err != nil {
				t.Fatalf("%v, share %d: %v", whole, i, err)
			}
			entries = append(entries, next)
		}
		little, err := whole.Share(1e-4)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(entries, entry(2, 0, dp.Record, little), caps, Consent{}); err == nil {
			t.Errorf("%v: a release fits after the whole budget", whole)
		}
	}
}

// Gaussian noise needs a δ: under a cap without one, no ε is enough, so raising it would not help.
func TestACapWithoutDelta(t *testing.T) {
	whole := promise(t, dp.Gaussian, dp.Budget{Epsilon: 1, Delta: 1e-6})
	err := Check(nil, entry(1, 0, dp.Record, whole), Caps{Record: &dp.Budget{Epsilon: 5}}, Consent{})
	if err == nil || !strings.Contains(err.Error(), "give caps.record a delta in the site file") {
		t.Errorf("got %v", err)
	}
}

func TestExceededSaysWhatToDo(t *testing.T) {
	spent := []Entry{entry(1, 0, dp.Record, promise(t, dp.Laplace, dp.Budget{Epsilon: 1}))}
	whole := promise(t, dp.Laplace, dp.Budget{Epsilon: 0.5})
	next := entry(2, 0, dp.Record, whole)
	caps := Caps{Record: &dp.Budget{Epsilon: 1.2}}
	err := Check(spent, next, caps, Consent{})
	var exceeded *Exceeded
	if !errors.As(err, &exceeded) {
		t.Fatalf("got %v", err)
	}
	fit := Largest(spent, []Entry{next}, whole, caps)
	exceeded.Fits = &fit
	const want = `dataset "registry", unit record: the release asks for ε = 0.5 and would bring the total from 1 to 1.5, above the cap of ε = 1.2, of which ε = 0.2 is left; a laplace study of up to ε = 0.2 would fit (ask for less, or raise caps.record in the site file)`
	if err.Error() != want {
		t.Errorf("the error is\n%v\nwant\n%s", err, want)
	}
}
