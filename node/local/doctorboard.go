package local

import (
	"context"
	"time"

	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// readBoard is a study's board as this party has stored it, and what the aggregator shows beyond
// it.
type readBoard struct {
	count uint64
	chain protocol.Digest
	stop  *session.StoppedError // nil if the study was not stopped
}

func (b *readBoard) add(s *study.Study, e protocol.Verified) error {
	b.count, b.chain = b.count+1, protocol.ExtendChain(b.chain, e.ID())
	if e.Kind() != protocol.KindStop || e.Sender() != s.Aggregator.ID {
		return nil
	}
	stop, err := wire.DecodeStop(e.Payload())
	b.stop = &session.StoppedError{Stop: stop}
	return err
}

// board reports that a study was stopped, or that the aggregator's board does not extend the stored
// one. Without a host it checks only the stored one. For a study that goes on it returns nothing.
func (o DoctorOptions) board(ctx context.Context, host *p2p.Host, s *study.Study) []Finding {
	of := func(check string, v Verdict, fix string, err error) []Finding {
		return []Finding{{Check: check, Subject: s.ID.Short(), Verdict: v, Said: err.Error(), Fix: fix}}
	}
	var b readBoard
	stored, err := stored.Board(o.Store, s.ID)
	for _, e := range stored {
		if err == nil {
			err = b.add(s, e)
		}
	}
	if err != nil {
		return of("board", Fail, "party advanced fsck says what is damaged; restore the state directory from the newest backup", err)
	}
	if host != nil && b.stop == nil {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		rewritten, err := b.follow(ctx, calls.Client{Carrier: calls.Network{Host: host, Study: s}, Study: s}, s)
		switch {
		case rewritten != nil:
			return of("board", Fail, "tell the operator: the aggregator's state was put back to an earlier one, or it shows two boards", rewritten)
		case err != nil:
			return of("board", Warn, connectionFix(err), err)
		}
	}
	if b.stop == nil {
		return nil
	}
	return of("study", Fail, "it is over for everybody; a new study can begin", b.stop)
}

// follow reads the aggregator's board beyond the stored one. rewritten reports an aggregator that
// shows another board, broke a failed connection.
func (b *readBoard) follow(ctx context.Context, from calls.Client, s *study.Study) (rewritten, broke error) {
	for {
		reply, err := from.Read(ctx, b.count, 0)
		if err != nil {
			return nil, err
		}
		if err := protocol.VerifyHead(reply.Head, s.Aggregator.ID); err != nil {
			return err, nil
		}
		if reply.From != b.count || reply.Head.Count != b.count+uint64(len(reply.Envelopes)) {
			return session.ErrBoardRewritten, nil
		}
		for _, plain := range reply.Envelopes {
			e, err := protocol.Verify(plain)
			if err == nil {
				err = b.add(s, e)
			}
			if err != nil {
				return err, nil
			}
		}
		if reply.Head.Chain != b.chain {
			return session.ErrBoardRewritten, nil
		}
		if len(reply.Envelopes) == 0 {
			return nil, nil
		}
	}
}
