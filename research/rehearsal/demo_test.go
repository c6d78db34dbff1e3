package rehearsal_test

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/research/rehearsal"
	"github.com/cosketch/cosketch/testnet/errortable"
	"github.com/cosketch/cosketch/testnet/networks"
)

// dealt returns a study of the demonstration with its data, before it is played.
func dealt(t *testing.T, name string) errortable.Played {
	t.Helper()
	found, err := networks.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	example, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		t.Fatal(err)
	}
	terms := networks.Terms{
		ID: example.Aggregator.ID.String(), HPKE: base64.StdEncoding.EncodeToString(example.Aggregator.HPKE), Address: example.Aggregator.Addrs[0],
		Parties: map[string]string{}, Expires: time.Unix(int64(example.Expires), 0), Deadline: time.Unix(int64(example.Deadline), 0),
	}
	terms.Nonce[0] = 1
	for _, party := range found[0].Parties {
		terms.Parties[party] = protocoltest.Identity(party).ID().String()
	}
	source, err := found[0].Study(terms)
	if err != nil {
		t.Fatal(err)
	}
	p := errortable.Played{Template: found[0]}
	if p.Study, err = file.Parse(source); err != nil {
		t.Fatal(err)
	}
	pooled, err := networks.Load(found[0].Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Data, err = found[0].Deal(p.Study, pooled, 1); err != nil {
		t.Fatal(err)
	}
	return p
}

// compared compares a played study with the truth.
func compared(t *testing.T, p errortable.Played) errortable.Table {
	t.Helper()
	out, err := errortable.Make(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// rehearsed plays a dealt study in this process with the n-th seed.
func rehearsed(t *testing.T, r *rehearsal.Rehearsal, n int) *rehearsal.Answer {
	t.Helper()
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], uint64(n))
	answer, err := r.Draw(t.Context(), rand.NewChaCha8(key))
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// held returns the parties' values, in the study's order.
func held(t *testing.T, p errortable.Played) *rehearsal.Rehearsal {
	t.Helper()
	var all []rehearsal.Held
	for i, listed := range p.Study.Parties {
		var one rehearsal.Held
		for _, part := range p.Data.Parties {
			if part.Name != listed.Name {
				continue
			}
			one.IDs, one.Values = part.Rows, make([][]float64, len(part.Rows))
			for _, c := range p.Study.OwnColumns(i) {
				cells, err := p.Data.Pooled.Column(p.Study.Columns[c].Name)
				if err != nil {
					t.Fatal(err)
				}
				for at, row := range part.Rows {
					x, err := strconv.ParseFloat(cells[row], 64)
					if err != nil {
						t.Fatal(err)
					}
					one.Values[at] = append(one.Values[at], x)
				}
			}
		}
		all = append(all, one)
	}
	r, err := rehearsal.New(p.Study, all)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// seeds is the number of draws that a coverage is averaged over.
const seeds = 20

// coverage counts how often intervals contained the truth, over pairs of different parties and over
// seeds.
type coverage struct {
	perSeed []float64 // share of covered pairs, by seed
	halved  int       // pairs covered by intervals of half the width
	squares float64   // sum of squared errors
	pairs   int
}

// add adds the correlations of one draw.
func (c *coverage) add(t *testing.T, p errortable.Played, answer *rehearsal.Answer) {
	t.Helper()
	p.Result = answer.Result
	n := compared(t, p).Numbers[0]
	if n.Undefined > 0 || n.Kind != study.Correlation {
		t.Fatalf("%s: %d undefined", n.Kind, n.Undefined)
	}
	for _, e := range n.Each {
		if (e.Estimate+e.Low)/2 <= e.Truth && e.Truth <= (e.Estimate+e.High)/2 {
			c.halved++
		}
		c.squares += (e.Estimate - e.Truth) * (e.Estimate - e.Truth)
	}
	c.pairs += n.Answers
	c.perSeed = append(c.perSeed, float64(n.Covered)/float64(n.Answers))
}

// check requires a mean coverage between 0.90 and 0.99 and, as a power check, that the coverage of
// intervals of half the width is outside.
func (c *coverage) check(t *testing.T) {
	t.Helper()
	inside := func(x float64) bool { return 0.90 <= x && x <= 0.99 }
	mean, sd := stat.MeanStdDev(c.perSeed, nil)
	t.Logf("coverage %.3f with standard deviation %.3f between seeds, RMSE %.4f", mean, sd, c.rmse())
	if !inside(mean) {
		t.Errorf("intervals cover %.3f of the truths, want 0.90 to 0.99", mean)
	}
	if half := float64(c.halved) / float64(c.pairs); inside(half) {
		t.Errorf("intervals of half the width cover %.3f: the test sees no difference", half)
	}
}

func (c *coverage) rmse() float64 { return math.Sqrt(c.squares / float64(c.pairs)) }

// TestCoverageOfLaboratories averages 300 correlations over 20 seeds, each with other patients
// missing. Pairs of one seed share one R, so their errors are correlated: the share of covered
// pairs has standard deviation .052 between seeds about a mean of .946 (over 300 seeds), and the
// mean over 20 has standard error .012. Over the choice of seeds it leaves [0.90, 0.99] with
// probability about 1e-4; the seeds are fixed, so the test is deterministic.
func TestCoverageOfLaboratories(t *testing.T) {
	p := dealt(t, "laboratories")
	var c coverage
	for n := range seeds {
		var err error
		if p.Data, err = p.Template.Deal(p.Study, p.Data.Pooled, uint64(n)); err != nil {
			t.Fatal(err)
		}
		c.add(t, p, rehearsed(t, held(t, p), n))
	}
	c.check(t)
}

// TestCoverageOfRegistry averages 12 correlations at ε = 1 for whole records over 20 seeds of one
// population. The error comes from projection and noise: with 190,000 records a party, the choice
// of people hardly matters. With so few pairs the share has standard deviation .068 between seeds
// about .945 (over 200 seeds), and the mean over 20 has standard error .015. Over the choice of
// seeds it leaves [0.90, 0.99] with probability about 3e-3; the seeds are fixed, so the test is
// deterministic.
func TestCoverageOfRegistry(t *testing.T) {
	if testing.Short() {
		t.Skip("a long statistic")
	}
	p := dealt(t, "registry")
	r := held(t, p)
	var c coverage
	for n := range seeds {
		c.add(t, p, rehearsed(t, r, n))
	}
	c.check(t)
	if c.rmse() >= 0.07 {
		t.Errorf("RMSE %.4f, want below 0.07", c.rmse())
	}
}

// TestJoinedAgreesWithPooled checks that clusters of patients whose columns are spread over three
// laboratories, with every value protected, agree with those of the pooled columns: over 40 seeds
// the agreement is .94 with standard deviation .007. One cluster for everybody would agree by .66.
func TestJoinedAgreesWithPooled(t *testing.T) {
	p := dealt(t, "laboratories-joined")
	r := held(t, p)
	var mean float64
	const seeds = 5
	for n := range seeds {
		answer := rehearsed(t, r, n)
		p.Result, p.Labels = answer.Result, nil
		for _, part := range p.Data.Parties {
			listed, _ := p.Study.PartyByName(part.Name)
			own := make([]int, len(part.Rows))
			for row, record := range answer.Orders[listed] {
				own[record] = answer.Labels[listed].Columns[0].Integers[row]
			}
			p.Labels = append(p.Labels, own)
		}
		mean += compared(t, p).Groups[0].Pooled.Share / seeds
	}
	t.Logf("agreement %.3f", mean)
	if mean < 0.9 {
		t.Errorf("agreement with clusters of the pooled records is %.3f", mean)
	}
	p.Labels[0][0] = 1 - p.Labels[0][0]
	if _, err := errortable.Make(t.Context(), p); err == nil {
		t.Error("two parties are told other clusters of one patient, and nobody says so")
	}
}
