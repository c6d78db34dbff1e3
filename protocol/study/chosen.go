package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
)

// RecordDistance is the squared distances between chosen records, on the records side. It can only
// be asked of releases: before they are drawn, nobody knows whose record is in which row.
const RecordDistance AnalysisKind = "record-distance"

// RecordName names a record by its row in a release. Only that release's party knows whose record
// it is.
type RecordName struct {
	Party string // a party of the study
	Row   int    // row of its release, from 0
}

// String returns the name as people write it, like "north/12".
func (n RecordName) String() string { return n.Party + "/" + strconv.Itoa(n.Row) }

// RecordDistanceOptions are the options of RecordDistance.
type RecordDistanceOptions struct {
	Of []RecordName // 2 to 100 records, each once
	To To           // default ToRecords
}

// To says what the distances of chosen records are measured to.
type To string

const (
	ToRecords To = "records" // the other chosen records only
	ToParties To = "parties" // also the mean record of each party; horizontal studies
)

func ofRecordDistance() Kind {
	return Kind{
		Name: RecordDistance, Needs: one(Needs{Side: sketch.Records}),
		says: func(Analysis) string { return "squared distances between chosen records" },
		keys: optionKeys[RecordDistanceOptions]{Keys: recordDistanceKeys},
		check: func(r *schema.Reader, s *Study, a Analysis, path string) {
			o, _ := a.Options.(RecordDistanceOptions)
			checkChosen(r, s, o.Of, path)
			if o.To == ToParties && s.Partition == Vertical {
				r.Fail(path+".to", "parties of a vertical study hold the same records, and there is no mean record of each")
			}
		},
	}
}

// mostChosen bounds the number of chosen records: 4,950 pairs.
const mostChosen = 100

var recordDistanceKeys = schema.Keys[RecordDistanceOptions]{
	{
		Name: "of", Doc: "the records whose distances are asked for, as PARTY/ROW of its release",
		Form: schema.List(func(o *RecordDistanceOptions) *[]RecordName { return &o.Of }, schema.Custom("text", func(r *schema.Reader, at schema.Item, to *RecordName) {
			*to = recordName(r, at)
		}), 0, mostChosen).Encoded(func(e *schema.Encoder, _ string, o *RecordDistanceOptions) {
			e.Whole("analysis.of", len(o.Of))
			for _, name := range o.Of {
				e.Text("analysis.of", name.Party)
				e.Whole("analysis.of", name.Row)
			}
		}),
	},
	{
		Name: "to", Path: "analysis.to", Default: string(ToRecords), Doc: "records: distances of these records from each other; parties: from each party's mean record",
		Form: schema.Word(func(o *RecordDistanceOptions) *To { return &o.To }, schema.Words{What: "end of distances", Has: []string{string(ToRecords), string(ToParties)}}),
	},
}

// recordName reads a name like "north/12". The row follows the last slash.
func recordName(r *schema.Reader, it schema.Item) RecordName {
	text := r.Text(it)
	at := strings.LastIndexByte(text, '/')
	row, err := strconv.Atoi(text[at+1:])
	if at < 1 || err != nil || row < 0 || text[at+1:] != strconv.Itoa(row) {
		r.Fail(it.Path, "%s is no record", schema.Excerpt(text)).Hint = "write PARTY/ROW, as in north/12: the row of the party's release, from 0, which party result STUDY --rows FILE tells that party"
		return RecordName{}
	}
	return RecordName{Party: text[:at], Row: row}
}

// checkChosen checks the chosen records.
func checkChosen(r *schema.Reader, s *Study, of []RecordName, path string) {
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
			e.Hint = "parties are " + Listed(parties)
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

func (o RecordDistanceOptions) Encode(e *schema.Encoder) {
	recordDistanceKeys.Encode(e, &o)
}
