package study

import (
	"fmt"
	"slices"
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

// mostChosen bounds the records of which distances are asked: 4,950 pairs.
const mostChosen = 100

var recordDistance = kind{
	name: RecordDistance, needs: one(needs{side: sketch.Records}),
	says: func(Analysis) string { return "squared distances between chosen records" },
}

var recordDistanceEntry = entry{
	kind: RecordDistance,
	keys: []string{"of", "to"},
	read: func(o object) Options {
		out := RecordDistanceOptions{To: schema.Choice(o.Object, "to", distancesTo, ToRecords)}
		for _, it := range o.Items("of", mostChosen) {
			if name, ok := o.reader.recordName(it); ok {
				out.Of = append(out.Of, name)
			}
		}
		return out
	},
	check: func(r *reader, s *Study, a Analysis, path string) {
		o, _ := a.Options.(RecordDistanceOptions)
		r.validateChosen(s, o.Of, path)
		if o.To == ToParties && s.Partition == Vertical {
			r.Fail(path+".to", "parties of a vertical study hold the same records, and there is no mean record of each")
		}
	},
}

// recordName reads a name like "north/12". The row stands behind the last slash.
func (r *reader) recordName(it schema.Item) (RecordName, bool) {
	text := r.Text(it)
	at := strings.LastIndexByte(text, '/')
	row, err := strconv.Atoi(text[at+1:])
	if at < 1 || err != nil || row < 0 || text[at+1:] != strconv.Itoa(row) {
		r.Fail(it.Path, "%s is no record", schema.Excerpt(text)).Hint = "write PARTY/ROW, as in north/12: the row of the party's release, from 0, which party result STUDY --rows FILE tells that party"
		return RecordName{}, false
	}
	return RecordName{text[:at], row}, true
}

// validateChosen checks the records that were chosen.
func (r *reader) validateChosen(s *Study, of []RecordName, path string) {
	if !r.Words {
		r.Fail(path, "%s names rows of releases, and there are none before the study", RecordDistance).Hint = "leave it to later, and ask aggregator analyze STUDY record-distance of=north/12,south/40 when they are in"
		return
	}
	if len(of) < 2 {
		r.Fail(path+".of", "names %d records", len(of)).Hint = "two or more make distances, as in of=north/12,south/40"
	}
	var parties []string
	for _, p := range s.Parties {
		parties = append(parties, p.Name)
	}
	for i, name := range of {
		at := fmt.Sprintf("%s.of[%d]", path, i)
		switch {
		case !slices.Contains(parties, name.Party):
			e := r.Fail(at, "no party is called %s", schema.Excerpt(name.Party))
			e.Hint = "parties are " + list(parties)
			if near := schema.Closest(name.Party, parties); near != "" {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			}
		case slices.Contains(of[:i], name):
			r.Fail(at, "%s appears twice", name)
		}
	}
}

func (o RecordDistanceOptions) String() string {
	var of []string
	for _, name := range o.Of {
		of = append(of, name.String())
	}
	return fmt.Sprintf("of: [%s], to: %s", strings.Join(of, ", "), o.To)
}

func (o RecordDistanceOptions) encode(e *schema.Encoder) {
	e.Whole("analysis.of", len(o.Of))
	for _, name := range o.Of {
		e.Text("analysis.of", name.Party)
		e.Whole("analysis.of", name.Row)
	}
	e.Text("analysis.to", string(o.To))
}
