package webhook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cosketch/cosketch/node/durable"
	"github.com/cosketch/cosketch/protocol"
)

// outbox is one hook's directory of sent and pending messages: one file for each study.
type outbox struct{ dir string }

// begun is a file that exists once the studies are recorded that are older than the hook. It is not
// told of them.
const begun = "begun"

// record is what is kept of a study.
type record struct {
	Announced announced `json:"announced"`
	Number    int       `json:"number"` // of the last message
	Pending   []pending `json:"pending,omitempty"`
}

// open reads all records; fresh reports whether the hook is new.
func (o outbox) open() (all map[protocol.StudyID]*record, fresh bool, err error) {
	if err := durable.Mkdir(o.dir); err != nil {
		return nil, false, err
	}
	files, err := os.ReadDir(o.dir)
	if err != nil {
		return nil, false, err
	}
	all, fresh = map[protocol.StudyID]*record{}, true
	for _, f := range files {
		if f.Name() == begun {
			fresh = false
		}
		id, err := protocol.ParseStudyID(f.Name())
		if err != nil {
			continue // left by a killed writer
		}
		text, err := os.ReadFile(filepath.Join(o.dir, f.Name()))
		if err != nil {
			return nil, false, err
		}
		one := &record{}
		if err := json.Unmarshal(text, one); err != nil {
			return nil, false, fmt.Errorf("%s is damaged: %w (remove it, and the hook is told anew where the study stands)", filepath.Join(o.dir, f.Name()), err)
		}
		all[id] = one
	}
	return all, fresh, nil
}

// begin records durably that the hook is no longer new.
func (o outbox) begin() error {
	err := durable.Create(filepath.Join(o.dir, begun), func(*os.File) error { return nil })
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// put writes a record durably.
func (o outbox) put(id protocol.StudyID, r *record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return durable.Replace(filepath.Join(o.dir, id.String()), durable.Private, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}
