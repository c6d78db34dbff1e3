package file

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// mostChosen bounds the records of which distances are asked: 4,950 pairs.
const mostChosen = 100

var recordDistanceEntry = entry{
	kind: study.RecordDistance,
	keys: []string{"of", "to"},
	read: func(o object) study.Options {
		out := study.RecordDistanceOptions{To: schema.Choice(o.Object, "to", distancesTo, study.ToRecords)}
		for _, it := range o.Items("of", mostChosen) {
			if name, ok := o.reader.recordName(it); ok {
				out.Of = append(out.Of, name)
			}
		}
		return out
	},
	check: func(r *reader, s *study.Study, a study.Analysis, path string) {
		o, _ := a.Options.(study.RecordDistanceOptions)
		r.validateChosen(s, o.Of, path)
		if o.To == study.ToParties && s.Partition == study.Vertical {
			r.Fail(path+".to", "parties of a vertical study hold the same records, and there is no mean record of each")
		}
	},
}

// recordName reads a name like "north/12". The row stands behind the last slash.
func (r *reader) recordName(it schema.Item) (study.RecordName, bool) {
	text := r.Text(it)
	at := strings.LastIndexByte(text, '/')
	row, err := strconv.Atoi(text[at+1:])
	if at < 1 || err != nil || row < 0 || text[at+1:] != strconv.Itoa(row) {
		r.Fail(it.Path, "%s is no record", schema.Excerpt(text)).Hint = "write PARTY/ROW, as in north/12: the row of the party's release, from 0, which party result STUDY --rows FILE tells that party"
		return study.RecordName{}, false
	}
	return study.RecordName{Party: text[:at], Row: row}, true
}

// validateChosen checks the records that were chosen.
func (r *reader) validateChosen(s *study.Study, of []study.RecordName, path string) {
	if !r.Words {
		r.Fail(path, "%s names rows of releases, and there are none before the study", study.RecordDistance).Hint = "leave it to later, and ask aggregator analyze STUDY record-distance of=north/12,south/40 when they are in"
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
			e.Hint = "parties are " + study.Listed(parties)
			if near := schema.Closest(name.Party, parties); near != "" {
				e.Hint = fmt.Sprintf("did you mean %q?", near)
			}
		case slices.Contains(of[:i], name):
			r.Fail(at, "%s appears twice", name)
		}
	}
}
