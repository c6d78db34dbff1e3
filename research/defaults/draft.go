package defaults

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/testnet/networks"
)

// described says what a draft knows of the columns.
type described string

const (
	bySpread described = "spread" // typical centres and spreads, both somewhat wrong
	byBounds described = "bounds" // bounds of a code book
	byRates  described = "rates"  // vertical studies: shares of ones of binary columns, somewhat wrong; other columns as bySpread
)

// Errors of what people know: of a centre, in spreads, and of a spread, relative. The sign is
// random.
const (
	centreOff = 0.3
	spreadOff = 0.22
	oddsOff   = 1.4 // factor on the odds of a rate
)

// terms returns the entries of a numeric column in the parties' column lists.
func (c column) terms(by described, mean, sd float64, rng *rand.Rand) []file.DraftTerm {
	if by == byBounds {
		return []file.DraftTerm{{Key: "bounds", Value: fmt.Sprintf("[%s, %s]", networks.Decimal(c.lo), networks.Decimal(c.hi))}}
	}
	centre, spread := centreOff, spreadOff
	if c.below || rng.IntN(2) == 0 {
		centre = -centre
	}
	if rng.IntN(2) == 0 {
		spread = -spread
	}
	return []file.DraftTerm{{Key: "centre", Value: decimal(mean + centre*sd)}, {Key: "spread", Value: decimal(sd * (1 + spread))}}
}

// decimal writes a number with four significant digits, as people do.
func decimal(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		rounded = x // unreachable: the input is FormatFloat's own
	}
	return networks.Decimal(rounded)
}

// partyName returns the name of the n-th party in every setting.
func partyName(n int) string { return "p" + strconv.Itoa(n) }

// draft returns the drafted study, given only the columns as described, the number of records of
// each party, ε and the questions. The whole table depends on this draft.
func (s setting) draft(nonce uint64, records []int, rng *rand.Rand) (*study.Study, error) {
	example, err := protocoltest.NewStudy(protocoltest.Terms{})
	if err != nil {
		return nil, err
	}
	d := file.Draft{
		Name: "drafted", Partition: s.partition, Expires: protocoltest.Expires, Deadline: protocoltest.Deadline,
		Records: []string{"id"}, Analyses: s.ask, Epsilon: networks.Decimal(s.epsilon),
		Aggregator: file.DraftAggregator{ID: example.Aggregator.ID, HPKE: base64.StdEncoding.EncodeToString(example.Aggregator.HPKE), Addrs: example.Aggregator.Addrs},
	}
	for i := range 8 {
		d.Nonce[i] = byte(nonce >> (8 * i))
	}
	d.Masked = s.masked
	if !s.planned {
		d.Rounds = 1 // Rounds measures two rounds
	}
	for p, n := range records {
		d.Parties = append(d.Parties, file.DraftParty{Name: partyName(p), ID: protocoltest.Identity(partyName(p)).ID(), Records: int64(n)})
	}
	truth := s.data.truth()
	for _, c := range s.data.columns {
		of := file.DraftColumn{Name: c.name, Kind: c.kind}
		switch c.kind {
		case study.Numeric:
			at := truth.at[[2]string{c.name, ""}]
			of.Terms = c.terms(s.by, truth.means[at], truth.sds[at], rng)
		case study.Binary:
			if s.by == byRates {
				rate := truth.means[truth.at[[2]string{c.name, ""}]]
				odds := rate / (1 - rate) * oddsOff
				if rng.IntN(2) == 0 {
					odds /= oddsOff * oddsOff
				}
				of.Terms = []file.DraftTerm{{Key: "centre", Value: decimal(odds / (1 + odds))}}
			}
		case study.Categorical:
			of.Terms = []file.DraftTerm{{Key: "values", Value: "[" + strings.Join(c.values, ", ") + "]"}}
		}
		if c.label {
			of.Role = "label"
		}
		for p := range d.Parties {
			if s.partition == study.Horizontal || c.owner == p {
				d.Parties[p].Columns = append(d.Parties[p].Columns, of)
			}
		}
	}
	text, open, err := d.Text()
	if err != nil {
		return nil, fmt.Errorf("drafting: %w", err)
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("drafting: %s is left open", strings.Join(open, ", "))
	}
	out, err := file.Parse([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("reading the draft: %w", err)
	}
	return out, nil
}
