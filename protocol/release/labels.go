package release

import (
	"fmt"
	"io"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/room"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// Labels plans what is sent beside the rows of a records-side sketch: for each record the index of
// its label's class. They are the last column of the released sketch, so they are shuffled, stored,
// hashed and sent with their rows.
type Labels struct {
	Column   int        // index into Study.Columns
	Classes  []string   // the class names, by index
	Response dp.Classes // how they are randomised; zero if they are sent unchanged

	inputs []study.Feature // the encoded values that determine a record's class
}

// entries returns how many encoded values of a record determine its label.
func (l *Labels) entries() int {
	if l == nil {
		return 0
	}
	return len(l.inputs)
}

// labelsOf plans the labels of a party's sketch; nil if none travel with it.
func labelsOf(s *study.Study, party, index int) (*Labels, error) {
	column, ok := s.LabelOf(party, index)
	if !ok {
		return nil, nil
	}
	response, err := s.Response(index)
	if err != nil {
		return nil, err
	}
	l := &Labels{Column: column, Classes: s.Columns[column].Classes(), Response: response}
	if s.Columns[column].Kind != study.Categorical {
		l.inputs = []study.Feature{{Column: column, Kind: study.Value}}
		return l, nil
	}
	for _, v := range l.Classes {
		l.inputs = append(l.inputs, study.Feature{Column: column, Value: v, Kind: study.OneHot})
	}
	return l, nil
}

// Inputs lists what Builder.Add takes of each record, in order: the sketched values and, if labels
// travel, the values that determine the record's label.
func (p Plan) Inputs() []study.Feature {
	out := p.Features[:p.Values:p.Values]
	if p.Labels == nil {
		return out
	}
	return append(out, p.Labels.inputs...)
}

// takeLabels removes the label's entries from the records and keeps the labels.
func (b *Builder) takeLabels(records int, values []int64) ([]int64, error) {
	n, more := b.plan.Values, b.plan.Labels.entries()
	one := b.plan.Study.Bits.One()
	b.bare = b.bare[:0]
	for i := range records {
		row := values[i*(n+more) : (i+1)*(n+more)]
		class, err := study.ClassOf(row[n:], one)
		if err != nil {
			return nil, fmt.Errorf("record %d of the batch: %w", i+1, err)
		}
		b.bare = append(b.bare, row[:n]...)
		b.classes = append(b.classes, class)
	}
	return b.bare, nil
}

// widen appends a column.
func widen(s *sketch.Sketch, column []int64) {
	k := s.Cols
	s.Data = append(s.Data, make([]int64, s.Rows)...)
	s.Cols++
	for i := s.Rows - 1; i >= 0; i-- {
		copy(s.Data[i*s.Cols:], s.Data[i*k:(i+1)*k])
		s.Data[(i+1)*s.Cols-1] = column[i]
	}
}

// gather removes the last column and returns it.
func gather(s *sketch.Sketch) []int64 {
	k := s.Cols - 1
	column := make([]int64, s.Rows)
	for i := range column {
		column[i] = s.Data[(i+1)*s.Cols-1]
		copy(s.Data[i*k:(i+1)*k], s.Data[i*s.Cols:])
	}
	s.Cols, s.Data = k, s.Data[:s.Rows*k]
	return column
}

// Draw draws all noise of a release into an exact sketch, which is overwritten: the noise on its
// entries (dp.Noise.AddParallel), and the noise on labels. Entropy must be fresh and secret; each
// of the two reads 32 bytes of it, or none if nothing is drawn. After an error the sketch must not
// be used.
func (p Plan) Draw(s *sketch.Sketch, entropy io.Reader, workers int) error {
	if p.Moments != nil {
		_, err := p.drawMoments(s, entropy, workers)
		return err
	}
	if p.Head() > 0 {
		return p.drawOwn(s, entropy, workers)
	}
	if p.Labels == nil {
		return p.Noise.AddParallel(s.Data, entropy, workers)
	}
	labels := gather(s)
	if err := p.Noise.AddParallel(s.Data, entropy, workers); err != nil {
		return err
	}
	if !p.Labels.Response.Zero() {
		g, err := dp.NewGenerator(entropy)
		if err != nil {
			return fmt.Errorf("randomising labels: %w", err)
		}
		defer g.Destroy()
		for i, class := range labels {
			if labels[i], err = p.Labels.Response.Randomise(class, g); err != nil {
				return fmt.Errorf("randomising labels: %w", err)
			}
		}
	}
	widen(s, labels)
	return nil
}

// known reports whether v is the index of a class.
func (l *Labels) known(v int64) bool { return v >= 0 && v < int64(len(l.Classes)) }

func (l *Labels) unknown(row int64) error {
	return fmt.Errorf("row %d has an unknown label: the column has %d classes", row, len(l.Classes))
}

// Unpack splits a decoded release into the sketch and its labels, by row; nil if none travel. It
// refuses unknown labels. It takes over the sketch s.
func (p Plan) Unpack(s sketch.Sketch) (sketch.Sketch, []int, error) {
	if p.Moments != nil {
		_, err := p.Summed(s)
		return s, nil, err
	}
	if p.Own != nil {
		_, err := p.Owned(s.Data[:min(len(s.Data), study.OwnRows*s.Cols)])
		return s, nil, err
	}
	if p.Labels == nil {
		return s, nil, nil
	}
	column := gather(&s)
	labels := make([]int, len(column))
	for i, v := range column {
		if !p.Labels.known(v) {
			return s, nil, p.Labels.unknown(int64(i + 1))
		}
		labels[i] = int(v)
	}
	return s, labels, nil
}

// ReadRows reads the labels and rows that Unpack and DecodeRows return for a records-side sketch,
// without holding its entries. It allocates them from to; nil: in memory.
func (p Plan) ReadRows(h protocol.ReleasedSketch, r io.Reader, to room.Allocator) (labels []int, rows Rows, err error) {
	var at, wrong int64 // entries so far; the first row with an unknown label, from 1
	if err := addressable(h); err != nil {
		return nil, Rows{}, err
	}
	if p.Labels != nil {
		if labels, err = room.Of[int](to, int(h.Rows)); err != nil {
			return nil, Rows{}, err
		}
		labels = labels[:0]
	}
	err = scan(h, r, func(entries []int64) {
		if p.Labels == nil {
			return
		}
		for _, v := range entries {
			if at++; at%h.Cols != 0 {
				continue
			}
			if labels = append(labels, int(v)); wrong == 0 && !p.Labels.known(v) {
				wrong = at / h.Cols
			}
		}
	})
	if err != nil {
		return nil, Rows{}, err
	}
	if wrong > 0 {
		return nil, Rows{}, p.Labels.unknown(wrong)
	}
	var pseudonyms []Pseudonym
	if len(h.RowColumns) > 0 {
		if pseudonyms, err = room.Of[Pseudonym](to, int(h.Rows)); err != nil {
			return nil, Rows{}, err
		}
	}
	rows, err = DecodeRows(h, r, pseudonyms[:0])
	return labels, rows, err
}

// Guarantee returns the guarantee of the sketch together with its labels: what the ledger is
// debited for.
func (p Plan) Guarantee() dp.Guarantee { return p.whole }

// Statement states the guarantee in words, and what it does not cover.
func (p Plan) Statement() string {
	unit := p.Study.Privacy.Unit
	switch {
	case p.Own != nil || p.Chooses(): // each of their noises has a share of it
		return p.whole.Statement(unit) + p.exception()
	case p.Labels == nil || p.Study.Privacy.Mechanism == dp.None:
		return p.Noise.Guarantee().Statement(unit) + p.exception()
	case p.Labels.Response.Zero():
		return "Of the values: " + p.Noise.Guarantee().Statement(unit) + p.exception()
	}
	return p.whole.Statement(unit)
}

func (p Plan) exception() string {
	if p.Study.Masked() && p.Study.Privacy.Mechanism != dp.None {
		return fmt.Sprintf(" This is about the sum over all parties, and holds if no more than %d of them collude.", p.Study.Colluding)
	}
	if p.Labels == nil || !p.Labels.Response.Zero() {
		return ""
	}
	return " The labels leave as they are, and no guarantee covers them."
}

// String says how labels are randomised.
func (l *Labels) String() string {
	if l.Response.Zero() {
		return "labels as they are"
	}
	return "labels randomised: " + l.Response.String()
}
