package networks

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Terms are what a study file needs beside the template. All but the nonce are required.
type Terms struct {
	Nonce    [16]byte          // zero: one is drawn
	ID, HPKE string            // the aggregator's peer id and key
	Address  string            // where it listens, a multiaddr
	Parties  map[string]string // the parties' peer ids by name
	Expires  time.Time         // approval closes
	Deadline time.Time         // upload closes
}

// place is what stands in a template for a term.
var place = regexp.MustCompile(`\b(NONCE|EXPIRES|DEADLINE|[A-Z0-9]+_(ID|HPKE|ADDRESS))\b`)

// Study fills the template in.
func (t Template) Study(terms Terms) ([]byte, error) {
	if terms.Nonce == ([16]byte{}) {
		rand.Read(terms.Nonce[:]) // it does not fail
	}
	known := map[string]string{
		"NONCE": fmt.Sprintf("%x", terms.Nonce), "AGGREGATOR_ID": terms.ID, "AGGREGATOR_HPKE": terms.HPKE,
		"AGGREGATOR_ADDRESS": terms.Address, "EXPIRES": instant(terms.Expires), "DEADLINE": instant(terms.Deadline),
	}
	for name, id := range terms.Parties {
		known[strings.ToUpper(name)+"_ID"] = id
	}
	var unknown string
	out := place.ReplaceAllStringFunc(t.study, func(name string) string {
		value := known[name]
		if value == "" {
			unknown = name
		}
		return value
	})
	if unknown != "" {
		return nil, fmt.Errorf("filling in the study of %s: nothing is known for %s", t.Name, unknown)
	}
	return []byte(out), nil
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// Decimal writes a number in the one form that study files read: no sign in the exponent but
// minus, and no exponent where digits do.
func Decimal(x float64) string {
	return strings.ReplaceAll(strconv.FormatFloat(x, 'g', -1, 64), "e+", "e")
}
