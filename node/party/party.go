package party

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/event"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/session/drive"
)

// Options configures a party's node.
type Options struct {
	node.Env[event.Progress]
	Store   node.PartyState              // required, opened for writing
	Site    func() (config.Party, error) // required: reads the site file again for each study
	Network config.Network               // how aggregators are reached
}

// Party is one organisation's node. It never listens: it only dials the aggregators of the studies
// that it serves.
type Party struct {
	Options
	signer protocol.Signer
	host   *p2p.Host

	mu          sync.Mutex
	aggregators map[protocol.PeerID]bool // of the studies being served; guarded by mu
}

// New starts a party's node. The caller must call Close.
func New(o Options) (*Party, error) {
	o.Env = o.Env.OrDefaults()
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return nil, fmt.Errorf("starting party: %w", err)
	}
	p := &Party{Options: o, signer: signer, aggregators: map[protocol.PeerID]bool{}}
	p.host, err = p2p.New(p2p.Config{Key: o.Store.Identity, Allow: p.allow, Limits: calls.WithFrames(p2p.Limits{}), Roots: o.Network.Roots, Version: o.Version, Logger: o.Log})
	if err != nil {
		return nil, fmt.Errorf("starting party: %w", err)
	}
	return p, nil
}

// Close ends the node's connections. Nothing that Run persisted is lost.
func (p *Party) Close() error { return p.host.Close() }

func (p *Party) allow(id protocol.PeerID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.aggregators[id]
}

func (p *Party) ID() protocol.PeerID { return p.signer.ID() }

// Run serves one approved study from its current state to its end, and returns nil once the result
// is stored. It reconnects until ctx ends, and then returns a *WaitError. It returns
// store.ErrLocked if another process serves the study.
func (p *Party) Run(ctx context.Context, id protocol.StudyID) error {
	unlock, err := p.Store.LockStudy(id)
	if err != nil {
		return fmt.Errorf("serving study %s: %w", id.Short(), err)
	}
	defer unlock()
	r, err := p.openSafely(id)
	if err != nil {
		return fmt.Errorf("serving study %s: %w", id.Short(), err)
	}
	p.mu.Lock()
	p.aggregators[r.Study.Aggregator.ID] = true
	p.mu.Unlock()
	err = r.serveSafely(ctx)
	if noted := r.out.sum(); noted != nil {
		if err == nil {
			err = noted
		} else {
			err = fmt.Errorf("%w; and %w", err, noted)
		}
	}
	if err != nil {
		r.tell(ctx, err)
		return fmt.Errorf("serving study %s: %w", id.Short(), err)
	}
	return nil
}

// openSafely and serveSafely turn panics into errors: this process serves other studies too.
func (p *Party) openSafely(id protocol.StudyID) (r *service, err error) {
	defer func() {
		if v := recover(); v != nil {
			r, err = nil, node.Recovered(p.Log, id, v)
		}
	}()
	return p.open(id)
}

func (r *service) serveSafely(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = node.Recovered(r.Log, r.Study.ID, v)
		}
	}()
	return r.serve(ctx)
}

// tell writes to the status why the study is no longer served, if that can be stored. It does not
// if somebody stopped the service, or if the study has ended.
func (r *service) tell(ctx context.Context, err error) {
	var waited *node.WaitError
	var clock *node.ClockError
	shown := stored.SnapshotOf(r.Study, r.status())
	switch {
	case errors.As(err, &clock) && shown.Failure != "":
		shown.Failure = clock.Error()
	case ctx.Err() != nil, errors.As(err, &waited), errors.Is(err, node.ErrNotApproved), !shown.Active():
		return
	default:
		shown.Trouble = fmt.Sprintf("%s; tried at %s", fail.Text(err), r.Now())
	}
	if err := r.Store.PutStatus(r.Study.ID, shown.Encode()); err != nil {
		r.Log.Error("the status cannot be stored", "study", r.Study.ID.Short(), "error", err)
	}
}

// service is one study being served. Run's goroutine owns it.
type service struct {
	source.Source
	machine *drive.Party
	out     *outgoing // the client's carrier
	client  calls.Client
	shown   session.Status
	vouched bool            // the aggregator has seen the ledger's head since this run began
	asking  bool            // the study waits for the steward to release the held sketch
	told    string          // the last event reported about it
	retry   node.Backoff    // of failed calls; reset by each call that makes progress
	shipped *session.Upload // the upload that has arrived, or nil
	fresh   bool            // the board was read since the start; until then the machine does nothing

	sure protocol.Instant // dates up to here are confirmed, not just due to a wrong clock

	compared time.Time // when the two clocks were last compared
	ahead    int64     // seconds by which this clock was then ahead of the aggregator's, if that is harmful
	differ   string    // the difference that the stored status reports
}

// open restores the study's machine from the store.
func (p *Party) open(id protocol.StudyID) (*service, error) {
	text, err := p.Store.Study(id)
	if err != nil {
		return nil, err
	}
	s, err := stored.Parse(id, text)
	if err != nil {
		return nil, err
	}
	r := &service{Source: source.Source{Env: p.Env, Store: p.Store, Site: p.Site, Signer: p.signer, Study: s}}
	r.out = newOutgoing(calls.Network{Host: p.host, Study: s}, &r.Source)
	r.client = calls.Client{Carrier: r.out, Study: s}
	welcome, err := r.Welcome()
	if err != nil {
		return nil, err
	}
	r.machine, err = drive.Open(session.PartyConfig{Study: s, Signer: p.signer, Entropy: p.Entropy, Welcome: welcome}, disk{r}, r.instant)
	return r, err
}

// serve consents, then posts, runs jobs and reads until the study has ended here.
func (r *service) serve(ctx context.Context) error {
	if err := r.decide(ctx); err != nil {
		return r.byClock(ctx, err)
	}
	r.retry = node.Backoff{Least: 200 * time.Millisecond, Most: 10 * time.Second}
	for {
		status := r.machine.Status()
		switch status.State {
		case session.Done:
			r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Finished})
			return nil
		case session.Failed:
			return r.byClock(ctx, &node.FailedError{Err: status.Failure})
		case session.Withdrawn:
			if post, _ := r.machine.Due(); len(post) == 0 {
				return node.ErrWithdrawn
			}
		}
		err := r.byClock(ctx, r.turn(ctx))
		if differs := r.otherFile(ctx, err); differs != nil {
			return differs
		}
		switch {
		case err == nil:
			r.retry.Reset()
		case timeIsUp(ctx):
			return &node.WaitError{For: stored.WaitText(r.Study, r.status()), Err: r.retry.Last}
		case !transient(err):
			return err
		default:
			r.Observe(event.Progress{Study: r.Study.ID, Milestone: event.Retrying, Err: err})
			r.Log.Warn("the aggregator does not answer as it should; trying again", "study", r.Study.ID.Short(), "error", err)
			if !r.retry.Wait(ctx, err) {
				return &node.WaitError{For: "the aggregator", Err: err}
			}
		}
	}
}

// otherFile asks an aggregator that does not know the study whether it hosts another file of the
// same name. Then waiting is useless. It returns nil otherwise.
func (r *service) otherFile(ctx context.Context, err error) error {
	var refusal *p2p.Refusal
	if !errors.As(err, &refusal) || refusal.Code != p2p.CodeUnknownStudy {
		return nil
	}
	hello, err := r.client.Hello(ctx)
	if err != nil || hello.Other == (protocol.StudyID{}) {
		return nil // the error of the failed call is more helpful
	}
	return &protocol.Disagreement{
		On: protocol.OnStudy, Who: "the aggregator", From: stored.Names(r.Study, []protocol.PeerID{r.Signer.ID()})[0],
		What: fmt.Sprintf("the file of study %q has id", r.Study.Name), Theirs: hello.Other.Short(), Ours: r.Study.ID.Short(),
		Do: "compare the files: all nodes need the same one, byte for byte",
	}
}

// timeIsUp reports whether ctx has ended or its deadline has come: a call can notice the deadline a
// moment before the context says so.
func timeIsUp(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// decide passes the steward's stored decision to the machine. Before the first message is sent, it
// reads the data once: a bad line must not leave the other parties waiting.
func (r *service) decide(ctx context.Context) error {
	decision, _, err := r.Store.Decision(r.Study.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	switch decision {
	case store.Withdraw:
		return r.machine.Step(session.Retract{})
	case store.Approve:
	default:
		return &node.NotApprovedError{Study: r.Study.ID}
	}
	if !r.machine.Announced() {
		if err := r.Cosigned(); err != nil {
			return err
		}
		if err := r.Check(ctx); err != nil {
			return err
		}
	}
	return r.machine.Step(session.Consent{})
}

// readWait is how long one read of the board waits for news, in seconds.
const readWait = 20

// turn posts what is due, then runs one job, or else reads the board. Before its first action it
// compares ledgers with the aggregator. Withdrawing is possible without that.
func (r *service) turn(ctx context.Context) error {
	if err := r.makeSure(ctx); err != nil {
		return err
	}
	if !r.vouched && r.machine.Status().State != session.Withdrawn {
		if err := r.vouch(ctx); err != nil {
			return err
		}
		r.vouched = true
	}
	post, run := r.machine.Due()
	switch {
	case len(post) > 0:
		return r.post(ctx, len(post))
	case len(run) > 0:
		err := r.machine.Work(ctx, called{r}, &link{service: r})
		if errors.Is(err, errUndecided) {
			return r.awaitSteward(ctx)
		}
		return err
	case !r.fresh:
		return r.read(ctx, 0)
	}
	if err := r.compareClocks(ctx); err != nil {
		return err
	}
	before := r.machine.Count()
	if err := r.read(ctx, readWait); err != nil || r.machine.Count() != before || r.shipped == nil {
		return err
	}
	return r.resend(ctx)
}

// transient reports whether an error of a call may be gone at the next attempt.
func transient(err error) bool {
	var refusal *p2p.Refusal
	if errors.As(err, &refusal) {
		switch refusal.Code {
		case p2p.CodeBusy, p2p.CodeInternal, p2p.CodeUnknownStudy, p2p.CodeNotFound:
			return true
		}
		return false
	}
	return errors.Is(err, p2p.ErrUnreachable) || errors.Is(err, p2p.ErrRefusedPeer) || errors.Is(err, p2p.ErrInterrupted) ||
		errors.Is(err, context.DeadlineExceeded)
}
