package networks

import (
	"crypto/rand"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Terms are the values that a study file needs besides the template. All except the nonce are
// required.
type Terms struct {
	Nonce    [16]byte          // if zero, one is drawn
	ID, HPKE string            // the aggregator's peer id and key
	Address  string            // where it listens, a multiaddr
	Parties  map[string]string // the parties' peer ids by name
	Expires  time.Time         // approval closes
	Deadline time.Time         // upload closes
}

// place matches the placeholders of a template.
var place = regexp.MustCompile(`\b(NONCE|EXPIRES|DEADLINE|[A-Z0-9]+_(ID|HPKE|ADDRESS))\b`)

// Study returns the study file: the template with its placeholders filled in.
func (t Template) Study(terms Terms) ([]byte, error) {
	if terms.Nonce == ([16]byte{}) {
		rand.Read(terms.Nonce[:]) // it never fails
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

// Decimal formats a number in the only form that study files accept: an exponent has no plus sign,
// and is used only if needed.
func Decimal(x float64) string {
	return strings.ReplaceAll(strconv.FormatFloat(x, 'g', -1, 64), "e+", "e")
}
