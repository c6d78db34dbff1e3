package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/plan"
	"github.com/cosketch/cosketch/protocol/study"
)

// PlanFlags are the public numbers from which a plan is made, besides the study.
type PlanFlags struct {
	Records string  `placeholder:"N|NAME=N,…" help:"Records at each party, at single ones by name. Default: what a party's own data have, then what the study file says, and else 10000."`
	Overlap float64 `placeholder:"SHARE" help:"Vertical studies: the share of the smaller party's records that two parties have in common. Default: 0.9."`
	Spread  string  `placeholder:"COLUMN=SD,…" help:"Standard deviations of columns, in their own units (of log(NAME) under transform: log), if you know better than the study file."`
}

// Make plans a study for a party, or for study.Everyone. Bad flags are a Usage error.
func (f PlanFlags) Make(s *study.Study, party int) (plan.Plan, error) {
	o := plan.Options{Study: s, Party: party, Overlap: f.Overlap, Spreads: map[string]float64{}}
	var err error
	if o.Records, err = Records(f.Records); err != nil {
		return plan.Plan{}, err
	}
	err = each(f.Spread, func(name, value string) error {
		spread, err := strconv.ParseFloat(value, 64)
		if name == "" || err != nil {
			return fmt.Errorf("--spread: want COLUMN=SD, like age=21, not %q", strings.TrimPrefix(name+"="+value, "="))
		}
		o.Spreads[name] = spread
		return nil
	})
	if err != nil {
		return plan.Plan{}, fail.Usage.Of(err)
	}
	p, err := plan.Make(o)
	if err != nil {
		return plan.Plan{}, fail.Usage.Of(err)
	}
	return p, nil
}

// Records parses N|NAME=N,…: numbers of records by party, with "" for all others. Bad input is a
// Usage error.
func Records(list string) (map[string]int64, error) {
	out := map[string]int64{}
	err := each(list, func(name, value string) error {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("--records: %q is not a whole number, written like 5000", value)
		}
		if _, twice := out[name]; twice {
			return fmt.Errorf("--records: %q appears twice", name)
		}
		out[name] = n
		return nil
	})
	if err != nil {
		return nil, fail.Usage.Of(err)
	}
	return out, nil
}

// each calls do for every item of a list NAME=VALUE,…; without "=", name is empty.
func each(list string, do func(name, value string) error) error {
	if list == "" {
		return nil
	}
	for item := range strings.SplitSeq(list, ",") {
		name, value := "", item
		if at := strings.LastIndexByte(item, '='); at >= 0 {
			name, value = item[:at], item[at+1:]
		}
		if err := do(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return err
		}
	}
	return nil
}
