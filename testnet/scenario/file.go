package scenario

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/study"
)

// IDColumn is the header of the record id in every data file.
const IDColumn = "patient"

// WriteCSV writes a data file: the id column, then the table's columns, each
// value in the shortest form that reads back to the same number.
func (t Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := append([]string{IDColumn}, t.Columns...)
	if err := out.Write(line); err != nil {
		return fmt.Errorf("writing a data file: %w", err)
	}
	for i, id := range t.IDs {
		line[0] = id
		for j, x := range t.Values[i] {
			line[j+1] = strconv.FormatFloat(x, 'g', -1, 64)
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("writing a data file: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("writing a data file: %w", err)
	}
	return nil
}

// Terms are what a study file needs besides the scenario. All are required.
type Terms struct {
	Nonce     [16]byte
	HPKE      string          // the aggregator's key, in base64
	Aggregate string          // the aggregator's peer id
	Address   string          // where it listens, a multiaddr
	Parties   [Parties]string // the parties' peer ids
	Now       time.Time
	Lifetime  time.Duration // from Now to the upload deadline; approval closes at three quarters of it
}

// StudyFile renders the study file of a scenario.
func (s Scenario) StudyFile(terms Terms) ([]byte, error) {
	var file bytes.Buffer
	err := studyTemplate.Execute(&file, struct {
		Scenario
		Terms
		Names             [Parties]string
		Expires, Deadline string
	}{
		Scenario: s,
		Terms:    terms,
		Names:    PartyNames,
		Expires:  instant(terms.Now.Add(terms.Lifetime * 3 / 4)),
		Deadline: instant(terms.Now.Add(terms.Lifetime)),
	})
	if err != nil {
		return nil, fmt.Errorf("writing the study file of %s: %w", s.Name, err)
	}
	return file.Bytes(), nil
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// Decimal writes a number in the one form that study files read: no sign in the
// exponent but minus, and no exponent where digits do.
func Decimal(x float64) string {
	return strings.ReplaceAll(strconv.FormatFloat(x, 'g', -1, 64), "e+", "e")
}

var studyTemplate = template.Must(template.New("study").Funcs(template.FuncMap{
	"decimal":   Decimal,
	"party":     func(owner int) string { return PartyNames[owner] },
	"isSparse":  func(p projection.Spec) bool { return p.Family == projection.Sparse },
	"projects":  func(p projection.Spec) bool { return p.Family != projection.Identity },
	"noised":    func(m dp.Mechanism) bool { return m != dp.None },
	"isColumns": func(side sketch.Side) bool { return side == sketch.Columns },
	"vertical":  func(p study.Partition) bool { return p == study.Vertical },
	"centred":   func(r Range) bool { return r.Spread != 0 },
}).Parse(`cosketch: study/2
name: {{.Name}}
nonce: "{{printf "%x" .Nonce}}"
aggregator:
  id: {{.Aggregate}}
  hpke: {{.HPKE}}
  addrs: [{{.Address}}]
parties:
{{- range $i, $id := .Terms.Parties}}
  - {name: {{index $.Names $i}}, id: {{$id}}}
{{- end}}
partition: {{.Partition}}
quorum: {{len .Terms.Parties}}
expires: {{.Expires}}
deadline: {{.Deadline}}
records: {id: [patient], missing: refuse{{with .Join}}, join: {{.}}{{end}}}
columns:
{{- range .Columns}}
  - {name: {{.Name}}, kind: numeric, {{with .Range}}{{if centred .}}centre: {{decimal .Centre}}, spread: {{decimal .Spread}}{{else}}bounds: [{{decimal .Lo}}, {{decimal .Hi}}]{{end}}{{end}}, source: "{{.Source}}"{{if vertical $.Partition}}, owner: {{party .Owner}}{{end}}{{with .Kurtosis}}, kurtosis: {{decimal .}}{{end}}}
{{- end}}
bits: auto
sketches:
{{- range .Sketches}}
  - {{.}}
{{- else}}
  - {side: {{.Side}}, family: {{.Projection.Family}}{{if projects .Projection}}, k: {{.Projection.K}}{{end}}{{if isSparse .Projection}}, s: {{.Projection.S}}{{end}}{{if isColumns .Side}}, helpers: {ones: {{decimal .Ones}}}{{end}}{{if .Clip}}, clip: {{decimal .Clip}}{{end}}}
{{- end}}
{{if noised .Mechanism -}}
privacy: {unit: {{.Unit}}, mechanism: {{.Mechanism}}, epsilon: {{decimal .Epsilon}}{{if .Delta}}, delta: {{decimal .Delta}}{{end}}}
{{else -}}
privacy: {mechanism: none}
{{end -}}
analyses:
{{- range .Analyses}}
  - {kind: {{.Kind}}{{with .Options}}, {{.}}{{end}}}
{{- end}}
`))
