package main

import (
	"fmt"
	"strings"

	"github.com/cosketch/cosketch/testnet/scenario"
)

// site is what a party's site file says: its data, and which of them each study
// may use.
type site struct {
	datasets []scenario.Scenario // one for each dataset name
	studies  []siteStudy
}

type siteStudy struct {
	id    string
	scene scenario.Scenario
}

// add names a scenario's data and lets a study use them.
func (s *site) add(scene scenario.Scenario, id string) {
	known := false
	for _, d := range s.datasets {
		known = known || d.Dataset == scene.Dataset
	}
	if !known {
		s.datasets = append(s.datasets, scene)
	}
	s.studies = append(s.studies, siteStudy{id, scene})
}

// madeUp is why datasets of the testnet are about other people, although they share record ids.
const madeUp = "made up for a demonstration: these are nobody's data"

// apart says so of the dataset and all others.
func (s *site) apart(dataset string) string {
	var out []string
	for _, d := range s.datasets {
		if d.Dataset != dataset {
			out = append(out, fmt.Sprintf("%s: %q", d.Dataset, madeUp))
		}
	}
	return "{" + strings.Join(out, ", ") + "}"
}

// yaml is the site file.
func (s *site) yaml() []byte {
	var out strings.Builder
	out.WriteString("datasets:\n")
	for _, d := range s.datasets {
		fmt.Fprintf(&out, "  %s:\n    source: %s.csv\n    id: [%s]\n    apart_from: %s\n", d.Dataset, d.Dataset, scenario.IDColumn, s.apart(d.Dataset))
		if d.Cap > 0 {
			fmt.Fprintf(&out, "    caps: {%s: {epsilon: %g", d.Unit, d.Cap)
			if d.Delta > 0 {
				fmt.Fprintf(&out, ", delta: %s", scenario.Decimal(d.Delta))
			}
			out.WriteString("}}\n")
		}
	}
	out.WriteString("studies:\n")
	for _, study := range s.studies {
		fmt.Fprintf(&out, "  \"%s\": {dataset: %s, accept_reconstruction: %t}\n", study.id, study.scene.Dataset, study.scene.AcceptReconstruction)
	}
	return []byte(out.String())
}
