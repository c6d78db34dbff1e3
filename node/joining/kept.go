package joining

import (
	"context"
	"fmt"
)

// Kept gives first the answers that were taken in an earlier run, and keeps new ones. So a command that was interrupted
// goes on where it was.
type Kept struct {
	Asker                                           // of what was not answered before
	Lines map[ID][]string                           // that were taken; not nil
	Save  func(map[ID][]string) error               // is called with every line that is taken
	Tell  func(q Question, line string, over error) // of a line of an earlier run; over: it does not fit any more

	next     map[ID]int // of Lines, by question
	repeated bool       // the line that was given last is of an earlier run
	failed   error      // of Save
}

// Ready names no question that was answered before.
func (k *Kept) Ready(ids ...ID) error {
	var open []ID
	for _, id := range ids {
		if len(k.Lines[id]) == 0 {
			open = append(open, id)
		}
	}
	return k.Asker.Ready(open...)
}

// Answer is the next line that was taken before, or a new one. From one that does not fit any more, the question is
// asked anew.
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

// Ask asks until take accepts a line, which is kept then.
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

// Rewind begins anew with what was taken.
func (k *Kept) Rewind() { k.next = nil }

// Forget has a question asked again.
func (k *Kept) Forget(id ID) error {
	delete(k.Lines, id)
	delete(k.next, id)
	return k.Save(k.Lines)
}
