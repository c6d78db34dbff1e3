package console_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/release/job"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/seed/agree"
)

func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want fail.Exit
	}{
		"nothing":               {nil, fail.OK},
		"unknown error":         {errors.New("surprise"), fail.Internal},
		"disk failure":          {&fs.PathError{Op: "write", Path: "x", Err: fs.ErrInvalid}, fail.Internal},
		"no code of a peer":     {&p2p.Refusal{Code: 200}, fail.Failed},
		"stopped":               {&session.StoppedError{}, fail.Failed},
		"fault of a peer":       {&protocol.Fault{Err: errors.New("garbage")}, fail.Failed},
		"rolled back":           {session.ErrRolledBack, fail.Failed},
		"board rewritten":       {session.ErrBoardRewritten, fail.Failed},
		"peer failed":           {p2p.Refuse(p2p.CodeInternal, ""), fail.Failed},
		"invalid request":       {p2p.Refuse(p2p.CodeInvalid, ""), fail.Failed},
		"unreachable":           {p2p.ErrUnreachable, fail.Connection},
		"not admitted":          {p2p.ErrRefusedPeer, fail.Connection},
		"interrupted":           {p2p.ErrInterrupted, fail.Connection},
		"refused":               {p2p.Refuse(p2p.CodeRefused, ""), fail.Connection},
		"unknown study":         {p2p.Refuse(p2p.CodeUnknownStudy, ""), fail.Connection},
		"not found":             {p2p.Refuse(p2p.CodeNotFound, ""), fail.Connection},
		"busy":                  {p2p.Refuse(p2p.CodeBusy, ""), fail.Connection},
		"waited for others":     {&node.WaitError{For: "approvals"}, fail.Absent},
		"waited, unreachable":   {&node.WaitError{For: "it", Err: p2p.ErrUnreachable}, fail.Absent},
		"waited, unknown study": {&node.WaitError{For: "it", Err: p2p.Refuse(p2p.CodeUnknownStudy, "")}, fail.Absent},
		"waited, not admitted":  {&node.WaitError{For: "it", Err: p2p.ErrRefusedPeer}, fail.Connection},
		"deadline of the study": {&session.DeadlineError{What: "the roster"}, fail.Absent},
		"interrupted by user":   {context.Canceled, fail.Absent},
		"out of time":           {context.DeadlineExceeded, fail.Absent},
		"study file, one":       {&schema.Error{Line: 1}, fail.Usage},
		"study file, some":      {schema.Errors{{Line: 1}, {Line: 2}}, fail.Usage},
		"data":                  {&dataset.Error{File: "x", Err: fs.ErrNotExist}, fail.Usage},
		"site file":             {&node.SiteError{Err: errors.New("unknown key")}, fail.Usage},
		"not in store":          {store.ErrNotFound, fail.Usage},
		"damaged database":      {fmt.Errorf("listing studies: %w", store.ErrDamaged), fail.Usage},
		"no store":              {store.ErrNoStore, fail.Usage},
		"another layout":        {store.ErrLayout, fail.Usage},
		"ledger missing":        {store.ErrLedgerMissing, fail.Usage},
		"ledger broken":         {fmt.Errorf("reading it: %w", &ledger.BrokenChain{Sequence: 2, Err: errors.New("x")}), fail.Usage},
		"ambiguous":             {store.ErrAmbiguous, fail.Usage},
		"locked":                {store.ErrLocked, fail.Usage},
		"conflict":              {store.ErrConflict, fail.Usage},
		"not approved":          {node.ErrNotApproved, fail.Refused},
		"withdrawn":             {node.ErrWithdrawn, fail.Refused},
		"reconstruction":        {&node.ReconstructionError{}, fail.Refused},
		"after the release":     {node.ErrReleased, fail.Refused},
		"nobody left":           {node.ErrNobodyLeft, fail.Refused},
		"no seed yet":           {node.ErrNoSeed, fail.Absent},
		"nothing held yet":      {held.ErrEmpty, fail.Absent},
		"too many records":      {&job.SizeError{Records: 1, Err: errors.New("x")}, fail.Usage},
		"stale held sketch":     {&held.StaleError{Problem: "a.csv is gone"}, fail.Usage},
		"held sketch in use":    {store.ErrBusy, fail.Usage},
		"cap exceeded":          {&ledger.Exceeded{Dataset: "d"}, fail.Budget},
		"no cap":                {&node.NoBudgetError{Dataset: "d"}, fail.Budget},
		"version":               {p2p.Refuse(p2p.CodeVersion, ""), fail.Disagreement},
		"conflict of a peer":    {p2p.Refuse(p2p.CodeConflict, ""), fail.Disagreement},
		"another version":       {&protocol.Disagreement{On: protocol.OnVersion}, fail.Disagreement},
		"stop over the seed":    {&session.StoppedError{Causes: []error{&protocol.Fault{Err: agree.ErrConfirmTag}}}, fail.Disagreement},
		"other meaning":         {session.ErrMeaning, fail.Disagreement},
		"other board":           {session.ErrBoards, fail.Disagreement},
		"other seed":            {session.ErrOtherSeed, fail.Disagreement},
		"other transcript":      {agree.ErrTranscript, fail.Disagreement},
		"wrong tag, attributed": {&protocol.Fault{Err: agree.ErrConfirmTag}, fail.Disagreement},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fail.Find(c.err).Exit; got != c.want {
				t.Errorf("code %d, want %d", got, c.want)
			}
			if c.err == nil {
				return
			}
			if got := fail.Find(fmt.Errorf("serving: %w", c.err)).Exit; got != c.want {
				t.Errorf("wrapped: code %d, want %d", got, c.want)
			}
			if got := fail.Find(fmt.Errorf("serving: %w", fail.Refused.Of(c.err))).Exit; got != fail.Refused {
				t.Errorf("coded by its maker: code %d, want %d", got, fail.Refused)
			}
			if coded := fail.Refused.Of(c.err); coded.Error() != c.err.Error() {
				t.Errorf("Of says %v instead of %v", coded, c.err)
			}
		})
	}
}
