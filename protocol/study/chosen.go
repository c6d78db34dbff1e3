package study

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// RecordDistance is the squared distances between chosen records, on the records side. It is
// asked of releases alone: before they are drawn nobody knows which row is whose.
const RecordDistance AnalysisKind = "record-distance"

// RecordName names a record by a release that holds it. Only that release's party knows
// whose record it is.
type RecordName struct {
	Party string // of the study
	Row   int    // of its release, from 0
}

// String is the name as people write it, like "north/12".
func (n RecordName) String() string { return n.Party + "/" + strconv.Itoa(n.Row) }

// RecordDistanceOptions are those of RecordDistance.
type RecordDistanceOptions struct {
	Of []RecordName // 2 to 100, each once
	To To           // default ToRecords
}

// To says from what else the distances of chosen records are.
type To string

const (
	ToRecords To = "records" // from each other alone
	ToParties To = "parties" // from the mean record of each party, too; horizontal studies
)

var recordDistance = Kind{
	Name: RecordDistance, Needs: one(Needs{Side: sketch.Records}),
	says: func(Analysis) string { return "squared distances between chosen records" },
}

func (o RecordDistanceOptions) String() string {
	var of []string
	for _, name := range o.Of {
		of = append(of, name.String())
	}
	return fmt.Sprintf("of: [%s], to: %s", strings.Join(of, ", "), o.To)
}

func (o RecordDistanceOptions) Encode(e *schema.Encoder) {
	e.Whole("analysis.of", len(o.Of))
	for _, name := range o.Of {
		e.Text("analysis.of", name.Party)
		e.Whole("analysis.of", name.Row)
	}
	e.Text("analysis.to", string(o.To))
}
