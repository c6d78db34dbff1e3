package local

import (
	"bytes"
	"crypto/hpke"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/part"
	"github.com/cosketch/cosketch/node/runs"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study/file"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "1.part", Err: syscall.ENOSPC}
}

// A worker refuses, by name, input of which no part can be made. Without records it makes an empty
// part.
func TestMakePart(t *testing.T) {
	example, err := os.ReadFile("../../protocol/study/testdata/registry.yaml")
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(example), "partition:")
	source := head + "partition: horizontal\nexpires: 2026-12-01T17:00:00Z\ndeadline: 2026-12-15T17:00:00Z\nrecords: {id: [id]}\n" +
		"columns: [{name: x, kind: numeric, bounds: [0, 1]}]\nsketches: [{side: moments}]\nprivacy: {mechanism: none}\nanalyses: [{kind: mean}]\n"
	s, err := file.Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	key, err := hpke.MLKEM768X25519().DeriveKeyPair(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	digests, err := runs.NewKey(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		t.Fatal(err)
	}
	job := part.Job{Study: s, Source: []byte(source), Party: s.Parties[0].ID, Entry: part.Entry{Dataset: "lake", Where: "far"}, Digests: digests, To: key.PublicKey().Bytes()}
	foreign := job
	foreign.Party = s.Aggregator.ID

	for name, c := range map[string]struct {
		text string // of the shard
		job  *part.Job
		late protocol.Instant // after the last date
		to   io.Writer
		is   fail.ID
		says string
	}{
		"a shard":                  {text: "id,x\na,1\nb,0\n"},
		"no record":                {text: "id,x\n"},
		"a column more":            {text: "y,id,x\n1,a,1\n"},
		"a column that is missing": {text: "id,y\na,1\n", says: `reading 1.csv:1: no column "x"`},
		"no id":                    {text: "x\n1\n", says: `reading 1.csv:1: no column "id"`},
		"an id twice":              {text: "id,x\na,1\na,0\n", says: "record id repeated"},
		"a job at its last date":   {text: "id,x\na,1\n", late: 1, is: fail.BadJob, says: "2026-12-15T17:00:00Z"},
		"a job of no party":        {text: "id,x\na,1\n", job: &foreign, is: fail.BadJob, says: "does not list its party"},
		"a disk that is full":      {text: "id,x\na,1\n", to: full{}, is: fail.DiskFull, says: "no space left"},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "1.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := PartOptions{
			Env: node.Env[event.Progress]{Now: func() protocol.Instant { return job.Expires() - 1 + c.late }},
			Job: &job, Shard: part.Shard{Number: 1, Of: 2}, From: dataset.Files(path), SpillDir: dir,
		}
		if c.job != nil {
			o.Job = c.job
		}
		if c.to == nil {
			c.to = io.Discard
		}
		counts, err := MakePart(t.Context(), c.to, o)
		switch {
		case c.says == "" && (err != nil || counts.Records != int64(strings.Count(c.text, "\n")-1)):
			t.Errorf("%s: %d records: %v", name, counts.Records, err)
		case c.says == "":
		case err == nil, c.is != "" && !fail.Has(err, c.is):
			t.Errorf("%s: %v", name, err)
		case !strings.Contains(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), c.says), !strings.HasPrefix(err.Error(), "making part 1 of 2 of study "):
			t.Errorf("%s: %v", name, err)
		}
	}
}
