package part

import (
	"bufio"
	"bytes"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/bundle"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
)

// File is a part's file whose label was read.
type File struct {
	Path  string
	Label Label
}

// Look opens a file and reads its label.
func Look(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, fmt.Errorf("reading a part: %w", err)
	}
	defer f.Close()
	label, err := readLabel(bufio.NewReader(f))
	if err != nil {
		return File{}, fmt.Errorf("reading part %s: %w", path, err)
	}
	return File{path, label}, nil
}

// Sorted returns the parts of a job sorted by shard. Every shard must be there exactly once;
// otherwise the error names the file or shard at fault.
func Sorted(files []File, of *Job) ([]File, error) {
	want := of.label(Shard{})
	foreign := func(f File, why string) error {
		return fmt.Errorf("reading part %s: %w", f.Path, fail.PartForeign.New(why))
	}
	var out []File
	for _, f := range files {
		switch l := f.Label; {
		case l.Study != want.Study:
			return nil, foreign(f, fmt.Sprintf("it is of study %.8s, not %.8s", l.Study, want.Study))
		case l.Dataset != want.Dataset:
			return nil, foreign(f, fmt.Sprintf("it is of dataset %q, not %q", l.Dataset, want.Dataset))
		case l.Job != want.Job:
			return nil, foreign(f, fmt.Sprintf("it is of job %.8s, and this node's job is %.8s: after the part was made, the job was rewritten, or the data entry or the seed changed", l.Job, want.Job))
		case out == nil:
			out = make([]File, l.Of)
		case l.Of != len(out):
			return nil, fail.PartsIncomplete.New(fmt.Sprintf("%s is one of %d shards, others are of %d", f.Path, l.Of, len(out)))
		}
		if before := out[f.Label.Number-1]; before.Path != "" {
			return nil, fail.PartsIncomplete.New(fmt.Sprintf("shard %s has two parts, %s and %s", f.Label.Shard, before.Path, f.Path))
		}
		out[f.Label.Number-1] = f
	}
	var missing []string
	for i, f := range out {
		if f.Path == "" {
			missing = append(missing, fmt.Sprintf("%d/%d", i+1, len(out)))
		}
	}
	if n := len(missing); n > 0 {
		const shown = 5
		if n > shown {
			missing = append(missing[:shown], fmt.Sprintf("and %d more", n-shown))
		}
		return nil, fail.PartsIncomplete.New("no part of shard " + strings.Join(missing, ", "))
	}
	return out, nil
}

// Sink receives the content of a part.
type Sink struct {
	Run  func(runs.Source) error                 // sorted entries; must read them to the end
	IDs  func(ids [][]byte) error                // further ids, in order
	Rows func(sketch int, block []int64) error   // further rows, in order
	Sum  func(sketch int, s sketch.Sketch) error // over all records
}

// reader reads a part.
type reader struct {
	from    *bundle.Reader
	hash    hash.Hash
	name    string
	body    []byte
	entries int64
	runs    int64
	ids     int64
	rows    []int64
	sums    [][]byte
}

// errForm reports a part that opens but does not have the form of a part.
var errForm = errors.New("it can be decrypted, but its content does not have the format of a part")

// Read opens a part with the job's private key and passes its content to a sink. It returns the
// part's counts and the SHA-256 of its bytes. What the sink received is valid only if the error is
// nil.
func (f File) Read(j *Job, key hpke.PrivateKey, pass Pass, to Sink) (Counts, protocol.Digest, error) {
	counts, sum, err := f.read(j, key, pass, to)
	if err != nil {
		if errors.Is(err, bundle.ErrDamaged) || errors.Is(err, bundle.ErrTruncated) || errors.Is(err, bundle.ErrNoBundle) || errors.Is(err, errForm) || errors.Is(err, runs.ErrOrder) {
			err = fail.PartDamaged.Of(err, "it is cut off, was changed, or was sealed for another job")
		}
		return Counts{}, sum, fmt.Errorf("reading part %s (shard %s): %w", f.Path, f.Label.Shard, err)
	}
	return counts, sum, nil
}

func (f File) read(j *Job, key hpke.PrivateKey, pass Pass, to Sink) (counts Counts, sum protocol.Digest, err error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return Counts{}, sum, err
	}
	defer file.Close()
	r := &reader{hash: sha256.New(), rows: make([]int64, len(pass.Plans)), sums: make([][]byte, len(pass.Plans))}
	buffered := bufio.NewReaderSize(io.TeeReader(file, r.hash), 256<<10)
	label, err := readLabel(buffered)
	if err != nil {
		return Counts{}, sum, err
	}
	if label != f.Label {
		return Counts{}, sum, fmt.Errorf("%w: its first line changed", errForm)
	}
	of, err := bundle.ReadLabel(buffered)
	if err != nil {
		return Counts{}, sum, err
	}
	if r.from, err = bundle.Open(buffered, of, key); err != nil {
		return Counts{}, sum, err
	}
	if of.Study != j.Study.ID || of.From != j.Party || of.To != j.Party {
		return Counts{}, sum, errForm
	}
	if err := r.next(); err != nil {
		return Counts{}, sum, err
	}
	if r.name != pieceLabel || !bytes.Equal(r.body, j.label(label.Shard).line()) {
		return Counts{}, sum, fmt.Errorf("%w: its first line was changed", errForm)
	}
	if counts, err = r.each(pass, to); err != nil {
		return Counts{}, sum, err
	}
	return counts, protocol.Digest(r.hash.Sum(nil)), nil
}

// next reads a piece. The end is an error here, since the counts must come last.
func (r *reader) next() (err error) {
	r.name, r.body, err = r.from.Next()
	if err == io.EOF {
		return errForm
	}
	return err
}

// each reads everything after the label.
func (r *reader) each(pass Pass, to Sink) (Counts, error) {
	if err := r.next(); err != nil {
		return Counts{}, err
	}
	for {
		piece, number, _ := strings.Cut(r.name, " ")
		var err error
		switch piece {
		case pieceRun:
			r.runs++
			if err = to.Run(&run{r: r}); err == nil {
				continue // the run has read the next piece already
			}
		case pieceIDs:
			err = r.takeIDs(to)
		case pieceRows, pieceSum:
			i, wrong := strconv.Atoi(number)
			switch {
			case wrong != nil || i < 0 || i >= len(pass.Plans):
				err = errForm
			case piece == pieceRows:
				err = r.takeRows(i, pass, to)
			default:
				err = r.takeSum(i, pass)
			}
		case pieceCounts:
			return r.end(pass, to)
		default:
			err = errForm
		}
		if err == nil {
			err = r.next()
		}
		if err != nil {
			return Counts{}, err
		}
	}
}

func (r *reader) takeIDs(to Sink) error {
	var ids [][]byte
	for rest := r.body; len(rest) > 0; {
		id, left, ok := CutID(rest)
		if !ok {
			return errForm
		}
		ids, rest = append(ids, id), left
	}
	r.ids += int64(len(ids))
	return to.IDs(ids)
}

func (r *reader) takeRows(i int, pass Pass, to Sink) error {
	if !pass.rows(i) || len(r.body) < 5 {
		return errForm
	}
	rows, width := binary.LittleEndian.Uint32(r.body), int(r.body[4])
	_, cols := pass.Plans[i].ExactShape(int64(rows))
	s, err := sketch.Decode(sketch.Records, int(rows), int(cols), width, r.body[5:])
	if err != nil {
		return fmt.Errorf("%w: %w", errForm, err)
	}
	r.rows[i] += int64(rows)
	return to.Rows(i, s.Data)
}

func (r *reader) takeSum(i int, pass Pass) error {
	_, rows, cols, ok := pass.Sum(i)
	if !ok || int64(len(r.sums[i])+len(r.body)) > rows*cols*sketch.MaxWidth {
		return errForm
	}
	r.sums[i] = append(r.sums[i], r.body...)
	return nil
}

// end reads the counts, passes on the sums, and checks all of them against each other.
func (r *reader) end(pass Pass, to Sink) (Counts, error) {
	var c Counts
	if err := json.Unmarshal(r.body, &c); err != nil || len(c.Widths) != len(pass.Plans) || len(c.Clipped) != len(pass.Plans) {
		return c, errForm
	}
	if _, _, err := r.from.Next(); err != io.EOF {
		return c, errors.Join(errForm, err)
	}
	for i := range pass.Plans {
		if pass.rows(i) && r.rows[i] != c.Records {
			return c, errForm
		}
		side, rows, cols, ok := pass.Sum(i)
		if !ok {
			continue
		}
		s, err := sketch.Decode(side, int(rows), int(cols), c.Widths[i], r.sums[i])
		if err != nil {
			return c, fmt.Errorf("%w: %w", errForm, err)
		}
		if err := to.Sum(i, s); err != nil {
			return c, err
		}
	}
	if r.entries != c.Records || r.runs != c.Runs || pass.hasRows() && r.ids != c.Records {
		return c, errForm
	}
	return c, nil
}

// run yields the entries of a run that begins with the current piece. After the last entry, the
// current piece is the one after the run.
type run struct {
	r    *reader
	done bool
}

func (s *run) Next() (runs.Entry, error) {
	if s.done {
		return runs.Entry{}, io.EOF
	}
	for len(s.r.body) == 0 {
		if err := s.r.next(); err != nil {
			return runs.Entry{}, err
		}
		if s.r.name != pieceMore {
			s.done = true
			return runs.Entry{}, io.EOF
		}
	}
	if len(s.r.body) < runs.EntryBytes {
		return runs.Entry{}, errForm
	}
	e := runs.Decode([runs.EntryBytes]byte(s.r.body))
	s.r.body = s.r.body[runs.EntryBytes:]
	s.r.entries++
	return e, nil
}
