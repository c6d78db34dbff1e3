package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/testnet/outcome"
)

// row is one analysis of one study. What does not apply is null.
type row struct {
	Name      string   `json:"name"`
	Partition string   `json:"partition"`
	Side      string   `json:"side"`
	Family    string   `json:"family"`
	K         int      `json:"k"`
	Unit      *string  `json:"unit"`
	Mechanism string   `json:"mechanism"`
	Epsilon   *float64 `json:"epsilon"`
	Delta     *float64 `json:"delta"`
	PerPerson *float64 `json:"epsilon_per_person"`
	Analysis  string   `json:"analysis"`

	RMSE              *float64 `json:"rmse"`
	Coverage          *float64 `json:"coverage"`
	Agreement         *float64 `json:"agreement"` // with k-means on the pooled records
	Baseline          *float64 `json:"baseline"`  // share of its larger cluster
	AgreementTruth    *float64 `json:"agreement_diagnosis"`
	BaselineDiagnosis *float64 `json:"baseline_diagnosis"`

	BytesRaw     int64   `json:"bytes_raw"`
	BytesShipped int64   `json:"bytes_shipped"`
	Seconds      float64 `json:"seconds"`
}

// JSON writes the run as one object, {"studies": […]}, with a row for each study
// and analysis.
func JSON(w io.Writer, run Run) error {
	rows := []row{}
	for _, s := range run.Studies {
		for _, m := range s.Matrices {
			r := studyRow(s)
			covered, pairs := m.Coverage()
			r.Analysis = string(m.Kind)
			r.RMSE = some(m.RMSE())
			r.Coverage = some(float64(covered) / float64(pairs))
			rows = append(rows, r)
		}
		if c := s.Clusters; c != nil {
			r := studyRow(s)
			r.Analysis = string(s.Scenario.Analyses[0].Kind)
			r.Agreement, r.Baseline = some(c.Pooled.Agreement), some(c.Pooled.Baseline)
			r.AgreementTruth, r.BaselineDiagnosis = some(c.Known.Agreement), some(c.Known.Baseline)
			rows = append(rows, r)
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	if err := out.Encode(map[string]any{"studies": rows}); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

func studyRow(s outcome.Study) row {
	r := row{
		Name:         s.Scenario.Name,
		Partition:    string(s.Scenario.Partition),
		Side:         string(s.Scenario.Side),
		Family:       string(s.Scenario.Projection.Family),
		K:            s.Scenario.Projection.K,
		Mechanism:    string(s.Scenario.Mechanism),
		PerPerson:    perPerson(s),
		BytesRaw:     s.RawBytes,
		BytesShipped: s.ShippedBytes(),
		Seconds:      s.Elapsed.Seconds(),
	}
	if s.Scenario.Mechanism != dp.None {
		r.Unit = some(string(s.Scenario.Unit))
		r.Epsilon = some(s.Scenario.Epsilon)
	}
	if s.Scenario.Mechanism == dp.Gaussian {
		r.Delta = some(s.Scenario.Delta)
	}
	return r
}

func some[T any](value T) *T { return &value }
