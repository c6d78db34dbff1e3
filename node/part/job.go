package part

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/private"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/seed"
)

// Job says what a worker needs to make a part. Fields are required unless they say otherwise.
type Job struct {
	Study   *study.Study
	Source  []byte          // of the study
	T2      protocol.Digest // of the seed agreement
	Party   protocol.PeerID
	Entry   Entry
	Keys    seed.Kept // keys that rows take from the seed; may have none
	Looks   bool      // the study takes a first look
	Look    []byte    // the look by which sketches are made; nil: parts are for the look
	Digests *runs.Key
	People  [32]byte // key for sampling record ids
	To      []byte   // MLKEM768-X25519 public key to which parts are sealed
}

// Entry is the part of a dataset's entry in the site file that says how rows are read.
type Entry struct {
	Dataset string               `json:"dataset"`
	Where   string               `json:"where"`        // where the data are, for people
	ID      []string             `json:"id,omitempty"` // columns, if their names differ from the study's
	Columns map[string]string    `json:"columns,omitempty"`
	CSV     dataset.Dialect      `json:"csv,omitzero"`
	Sheet   string               `json:"sheet,omitempty"`
	Words   dataset.Replacements `json:"words,omitzero"`
}

// ID identifies a job: the SHA-256 of its bytes.
type ID [32]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// head begins a job's file.
const head = "cosketch job/1\n"

// mostJob bounds a job's file; a study file is smaller.
const mostJob = 16 << 20

// edited says that a job was changed.
const edited = "it is cut off or was edited"

// warning is the first field of a job file, for people.
const warning = "as secret as the data: whoever has it can tell whose records are in a part"

// document is the JSON form of a job.
type document struct {
	Warning string `json:"warning"`
	Study   string `json:"study"`
	Meaning string `json:"meaning"`
	T2      string `json:"t2"`
	Party   string `json:"party"`
	Expires string `json:"expires"` // the study's last date, for people; the study itself has it too
	Entry   Entry  `json:"data"`
	Look    string `json:"look,omitempty"` // the drawn look; or firstLook, if this is the look's job
	Keys    string `json:"keys,omitempty"`
	Digests string `json:"digests"`
	People  string `json:"people"`
	To      string `json:"to"`
	Source  string `json:"source"`
}

// Encode encodes a job. Equal jobs have equal bytes.
func (j *Job) Encode() []byte {
	d := document{
		Warning: warning, Study: j.Study.ID.String(), Meaning: j.Study.Meaning.String(), T2: j.T2.String(), Party: j.Party.String(), Expires: j.Expires().String(),
		Entry: j.Entry, Digests: j.Digests.Text(), People: hex.EncodeToString(j.People[:]), To: hex.EncodeToString(j.To), Source: string(j.Source),
	}
	switch {
	case j.ForFirstLook():
		d.Look = firstLook
	case j.Looks:
		d.Look = hex.EncodeToString(j.Look)
	}
	if j.Keys != (seed.Kept{}) {
		d.Keys = string(j.Keys.Bytes())
	}
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		panic("part: a job holds text and numbers alone: " + err.Error())
	}
	return append(append([]byte(head), b...), '\n')
}

// firstLook takes the place of the look in the look's job.
const firstLook = "first"

// ForFirstLook reports whether parts are for the first look, after which comes another job.
func (j *Job) ForFirstLook() bool { return j.Looks && j.Look == nil }

// ID names the job.
func (j *Job) ID() ID { return sha256.Sum256(j.Encode()) }

// Expires returns when parts can no longer be used.
func (j *Job) Expires() protocol.Instant { return max(j.Study.Deadline, j.Study.LateUntil) }

// ReadJob reads a job file, which only its owner may be able to read.
func ReadJob(path string) (*Job, error) {
	data, err := private.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail.Usage.Of(fmt.Errorf("reading a job: %w", err))
	}
	if err != nil {
		return nil, fmt.Errorf("reading a job: %w", err)
	}
	j, err := DecodeJob(data)
	if err != nil {
		return nil, fmt.Errorf("reading job %s: %w", path, err)
	}
	return j, nil
}

// DecodeJob decodes a job. It refuses a study whose meaning this program understands differently.
func DecodeJob(data []byte) (*Job, error) {
	rest, ok := bytes.CutPrefix(data, []byte(head))
	if !ok || len(data) > mostJob {
		return nil, fail.BadJob.New("it is no job of this version")
	}
	var d document
	if err := json.Unmarshal(rest, &d); err != nil {
		return nil, fail.BadJob.New(edited)
	}
	id, err := protocol.ParseStudyID(d.Study)
	if err != nil {
		return nil, fail.BadJob.Of(err, edited)
	}
	if id != sha256.Sum256([]byte(d.Source)) {
		return nil, fail.BadJob.New(edited)
	}
	s, err := file.Parse([]byte(d.Source))
	if err != nil {
		return nil, fail.BadJob.Of(err, "its study cannot be read")
	}
	if s.Meaning.String() != d.Meaning {
		return nil, &protocol.Disagreement{
			On: protocol.OnVersion, Who: "the node", From: "this program", What: "meaning of the study", Theirs: d.Meaning, Ours: s.Meaning.String(), Do: "run the same version of the software at both",
		}
	}
	j := &Job{Study: s, Source: []byte(d.Source), Entry: d.Entry}
	if err := d.fill(j); err != nil {
		return nil, fail.BadJob.Of(err, edited)
	}
	if !bytes.Equal(j.Encode(), data) {
		return nil, fail.BadJob.New(edited)
	}
	return j, nil
}

// fill decodes the fields that are encoded as text.
func (d document) fill(j *Job) (err error) {
	for _, one := range []struct {
		text string
		to   []byte
	}{{d.T2, j.T2[:]}, {d.People, j.People[:]}} {
		raw, err := hex.DecodeString(one.text)
		if err != nil || len(raw) != len(one.to) {
			return errors.New("a field has the wrong length")
		}
		copy(one.to, raw)
	}
	if j.Party, err = protocol.ParsePeerID(d.Party); err != nil {
		return err
	}
	if j.To, err = hex.DecodeString(d.To); err != nil {
		return err
	}
	if j.Looks = d.Look != ""; j.Looks && d.Look != firstLook {
		if j.Look, err = hex.DecodeString(d.Look); err != nil {
			return err
		}
	}
	if j.Digests, err = runs.ParseKey(d.Digests); err != nil {
		return err
	}
	if d.Keys != "" {
		j.Keys, err = seed.ParseKept([]byte(d.Keys))
	}
	return err
}

// KeysOf derives from a seed the keys that builders of rows ask for.
func KeysOf(root seed.Seed, plans []release.Plan) (seed.Kept, error) {
	asked := &asking{root: root}
	for _, plan := range plans {
		if _, err := plan.NewBuilder(asked, 1); err != nil {
			return seed.Kept{}, err
		}
	}
	if len(asked.labels) == 0 {
		return seed.Kept{}, nil
	}
	return root.Keep(asked.labels...)
}

// asking derives keys and notes their labels.
type asking struct {
	root   seed.Seed
	labels []seed.Label
}

func (a *asking) Derive(label seed.Label) ([32]byte, error) {
	a.labels = append(a.labels, label)
	return a.root.Derive(label)
}
