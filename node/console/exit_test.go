package console_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/seed/agree"
)

func TestCodeOf(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want console.Code
	}{
		"nothing":               {nil, console.OK},
		"unknown error":         {errors.New("surprise"), console.Internal},
		"disk failure":          {&fs.PathError{Op: "write", Path: "x", Err: fs.ErrInvalid}, console.Internal},
		"no code of a peer":     {&p2p.Refusal{Code: 200}, console.Failed},
		"stopped":               {&session.StoppedError{}, console.Failed},
		"fault of a peer":       {&protocol.Fault{Err: errors.New("garbage")}, console.Failed},
		"rolled back":           {session.ErrRolledBack, console.Failed},
		"board rewritten":       {session.ErrBoardRewritten, console.Failed},
		"peer failed":           {p2p.Refuse(p2p.CodeInternal, ""), console.Failed},
		"invalid request":       {p2p.Refuse(p2p.CodeInvalid, ""), console.Failed},
		"unreachable":           {p2p.ErrUnreachable, console.Connection},
		"not admitted":          {p2p.ErrRefusedPeer, console.Connection},
		"interrupted":           {p2p.ErrInterrupted, console.Connection},
		"refused":               {p2p.Refuse(p2p.CodeRefused, ""), console.Connection},
		"unknown study":         {p2p.Refuse(p2p.CodeUnknownStudy, ""), console.Connection},
		"not found":             {p2p.Refuse(p2p.CodeNotFound, ""), console.Connection},
		"busy":                  {p2p.Refuse(p2p.CodeBusy, ""), console.Connection},
		"waited for others":     {&node.WaitError{For: "approvals"}, console.Absent},
		"waited, unreachable":   {&node.WaitError{For: "it", Err: p2p.ErrUnreachable}, console.Absent},
		"waited, unknown study": {&node.WaitError{For: "it", Err: p2p.Refuse(p2p.CodeUnknownStudy, "")}, console.Absent},
		"waited, not admitted":  {&node.WaitError{For: "it", Err: p2p.ErrRefusedPeer}, console.Connection},
		"deadline of the study": {&session.DeadlineError{What: "the roster"}, console.Absent},
		"interrupted by user":   {context.Canceled, console.Absent},
		"out of time":           {context.DeadlineExceeded, console.Absent},
		"study file, one":       {&schema.Error{Line: 1}, console.Usage},
		"study file, some":      {schema.Errors{{Line: 1}, {Line: 2}}, console.Usage},
		"data":                  {&dataset.Error{File: "x", Err: fs.ErrNotExist}, console.Usage},
		"site file":             {&node.SiteError{Err: errors.New("unknown key")}, console.Usage},
		"not in store":          {store.ErrNotFound, console.Usage},
		"damaged database":      {fmt.Errorf("listing studies: %w", store.ErrDamaged), console.Usage},
		"no store":              {store.ErrNoStore, console.Usage},
		"another layout":        {store.ErrLayout, console.Usage},
		"ledger missing":        {store.ErrLedgerMissing, console.Usage},
		"ledger broken":         {fmt.Errorf("reading it: %w", &ledger.BrokenChain{Sequence: 2, Err: errors.New("x")}), console.Usage},
		"ambiguous":             {store.ErrAmbiguous, console.Usage},
		"locked":                {store.ErrLocked, console.Usage},
		"conflict":              {store.ErrConflict, console.Usage},
		"not approved":          {node.ErrNotApproved, console.Refused},
		"withdrawn":             {node.ErrWithdrawn, console.Refused},
		"reconstruction":        {&node.ReconstructionError{}, console.Refused},
		"after the release":     {node.ErrReleased, console.Refused},
		"nobody left":           {node.ErrNobodyLeft, console.Refused},
		"no seed yet":           {node.ErrNoSeed, console.Absent},
		"nothing held yet":      {held.ErrEmpty, console.Absent},
		"too many records":      {&job.SizeError{Records: 1, Err: errors.New("x")}, console.Usage},
		"stale held sketch":     {&held.StaleError{Problem: "a.csv is gone"}, console.Usage},
		"held sketch in use":    {store.ErrBusy, console.Usage},
		"cap exceeded":          {&ledger.Exceeded{Dataset: "d"}, console.Budget},
		"no cap":                {&node.NoBudgetError{Dataset: "d"}, console.Budget},
		"version":               {p2p.Refuse(p2p.CodeVersion, ""), console.Disagreement},
		"conflict of a peer":    {p2p.Refuse(p2p.CodeConflict, ""), console.Disagreement},
		"another version":       {&protocol.Disagreement{On: protocol.OnVersion}, console.Disagreement},
		"stop over the seed":    {&session.StoppedError{Causes: []error{&protocol.Fault{Err: agree.ErrConfirmTag}}}, console.Disagreement},
		"other meaning":         {session.ErrMeaning, console.Disagreement},
		"other board":           {session.ErrBoards, console.Disagreement},
		"other seed":            {session.ErrOtherSeed, console.Disagreement},
		"other transcript":      {agree.ErrTranscript, console.Disagreement},
		"wrong tag, attributed": {&protocol.Fault{Err: agree.ErrConfirmTag}, console.Disagreement},
	} {
		t.Run(name, func(t *testing.T) {
			if got := console.CodeOf(c.err); got != c.want {
				t.Errorf("code %d, want %d", got, c.want)
			}
			if c.err == nil {
				return
			}
			if got := console.CodeOf(fmt.Errorf("serving: %w", c.err)); got != c.want {
				t.Errorf("wrapped: code %d, want %d", got, c.want)
			}
			if got := console.CodeOf(fmt.Errorf("serving: %w", console.WithCode(console.Refused, c.err))); got != console.Refused {
				t.Errorf("coded by its maker: code %d, want %d", got, console.Refused)
			}
			if coded := console.WithCode(console.Refused, c.err); coded.Error() != c.err.Error() {
				t.Errorf("WithCode says %v instead of %v", coded, c.err)
			}
		})
	}
}
