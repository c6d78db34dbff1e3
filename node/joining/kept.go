package joining

import (
	"context"
	"fmt"
)

// Kept first replays the answers of an earlier run, and stores new ones. So an interrupted command
// continues where it was.
type Kept struct {
	Asker                                           // answers what was not answered before
	Lines map[ID][]string                           // accepted lines; not nil
	Save  func(map[ID][]string) error               // called after every accepted line
	Tell  func(q Question, line string, over error) // called for a line of an earlier run; over: why it no longer fits

	next     map[ID]int // index into Lines, by question
	repeated bool       // the last line returned is of an earlier run
	failed   error      // error of Save
}

// Ready passes on only the questions that were not answered before.
func (k *Kept) Ready(ids ...ID) error {
	var open []ID
	for _, id := range ids {
		if len(k.Lines[id]) == 0 {
			open = append(open, id)
		}
	}
	return k.Asker.Ready(open...)
}

// Answer returns the next stored line, or a new one. If a stored line no longer fits, the question
// is asked again from there.
func (k *Kept) Answer(ctx context.Context, q Question, wrong error) (string, error) {
	if k.next == nil {
		k.next = map[ID]int{}
	}
	at := k.next[q.ID]
	if k.repeated && wrong != nil {
		k.Tell(q, k.Lines[q.ID][at-1], wrong)
		k.Lines[q.ID] = k.Lines[q.ID][:at-1]
		k.next[q.ID], k.repeated = at-1, false
		return k.Asker.Answer(ctx, q, nil)
	}
	if k.repeated = at < len(k.Lines[q.ID]); !k.repeated {
		return k.Asker.Answer(ctx, q, wrong)
	}
	k.next[q.ID]++
	line := k.Lines[q.ID][at]
	if line == Proposed {
		line = ""
	}
	k.Tell(q, line, nil)
	return line, nil
}

// Ask asks until take accepts a line, and stores it.
func (k *Kept) Ask(ctx context.Context, q Question, take func(line string) error) error {
	err := Ask(ctx, k, q, func(line string) error {
		if err := take(line); err != nil || k.repeated {
			return err
		}
		if line == "" {
			line = Proposed
		}
		k.Lines[q.ID] = append(k.Lines[q.ID], line)
		if k.next == nil {
			k.next = map[ID]int{}
		}
		k.next[q.ID] = len(k.Lines[q.ID])
		k.failed = k.Save(k.Lines)
		return nil
	})
	if err == nil && k.failed != nil {
		err = fmt.Errorf("keeping the answer to %s: %w", q.ID, k.failed)
	}
	return err
}

// Rewind replays the stored answers from the beginning.
func (k *Kept) Rewind() { k.next = nil }

// Forget deletes a question's answers, so that it is asked again.
func (k *Kept) Forget(id ID) error {
	delete(k.Lines, id)
	delete(k.next, id)
	return k.Save(k.Lines)
}
