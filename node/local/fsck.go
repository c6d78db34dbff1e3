package local

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cosketch/cosketch/node/held"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// FsckOptions says what Fsck checks.
type FsckOptions struct {
	Store *store.Store // required; may be read-only
	Role  store.Role   // required: role of the state's node
}

// Fsck recomputes every hash, signature and chain of a node's state, from the database's pages to
// the chunks of releases. It reports what it checked and what is wrong. It changes nothing. If the
// node is running, data being written may look incomplete.
func Fsck(ctx context.Context, o FsckOptions) ([]Finding, error) {
	f := &fsck{FsckOptions: o}
	f.database()
	f.files()
	f.chains()
	f.local()
	entries, err := f.studies()
	if errors.Is(err, store.ErrDamaged) {
		f.add("studies", err, restoreFix, "")
		return f.findings, nil
	}
	if err != nil {
		return f.findings, err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return f.findings, err
		}
		f.study(ctx, e.ID)
	}
	return f.findings, nil
}

type fsck struct {
	FsckOptions
	findings []Finding
	subject  string          // study being checked
	journal  []journal.Entry // up to where its chain is valid
}

// add reports a check: what it found, or its failure.
func (f *fsck) add(check string, err error, fix, said string, args ...any) {
	finding := Finding{Check: check, Subject: f.subject, Verdict: Pass, Said: fmt.Sprintf(said, args...)}
	if err != nil {
		finding.Verdict, finding.Said, finding.Fix = Fail, err.Error(), fix
	}
	f.findings = append(f.findings, finding)
}

const restoreFix = "restore the state directory from its newest backup into a new one, and compare"

func (f *fsck) database() {
	wrong, err := f.Store.Integrity()
	if err == nil && len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "; "))
	}
	if err == nil {
		err = f.Store.CheckSchema()
	}
	f.add("database", err, restoreFix, "pages, indexes, references and guards are sound")
}

func (f *fsck) files() {
	strays, err := f.Store.Strays()
	if err != nil {
		f.add("files", err, "", "")
		return
	}
	for _, s := range strays {
		finding := Finding{Check: "files", Verdict: Warn, Said: s.Path + ": " + s.Why}
		if s.Open {
			finding.Verdict = Fail
		}
		f.findings = append(f.findings, finding)
	}
	if len(strays) == 0 {
		f.add("files", nil, "", "private, and none that does not belong here")
	}
}

func (f *fsck) chains() {
	entries, err := f.Store.Journal()
	f.journal = entries
	if f.Role == store.Party {
		debits, err := f.Store.Ledger()
		if err == nil {
			err = f.ledger(debits)
		}
		f.add("ledger", err, restoreFix, "%d releases, the chain holds", len(debits))
		f.beside(debits)
	}
	f.add("journal", err, "what stands before the break is still proved; keep the directory as evidence", "%d entries, the chain holds", len(entries))
}

// beside checks what is kept beside the ledger: the ledger's stored head, and the people of its
// datasets.
func (f *fsck) beside(debits []ledger.Entry) {
	if len(debits) == 0 {
		return
	}
	if there, err := f.Store.LedgerHeadKept(); err != nil || !there {
		f.add("ledger head", cmp.Or(err, errors.New("ledger.head is gone: a lost end of the ledger would not be noticed until the next debit writes it anew")), restoreFix, "")
	}
	known, err := f.Store.People()
	if err == nil {
		_, err = f.Store.PeopleKey()
	}
	for _, e := range debits {
		if _, sampled := known[e.Dataset]; err == nil && !sampled {
			err = fmt.Errorf("the sample of the people of dataset %q is missing: until the next study of it runs, they could get a second budget under another dataset name", e.Dataset)
		}
	}
	f.add("people", err, restoreFix, "datasets whose people are recognised: %d", len(known))
}

// local checks what belongs to no study.
func (f *fsck) local() {
	f.retired()
	if f.Role == store.Aggregator {
		f.heads()
		f.tokens()
		f.invitations()
		return
	}
	count, err := f.Store.CheckSecrets()
	f.add("secrets", err, "nothing brings them back: a study that wants them takes no further part here", "%d files, each as it was written", count)
	summed := store.Summed(f.journal)
	count, err = f.Store.CheckReleases(func(dir string) bool { return summed[dir] })
	f.add("releases", err, restoreFix+"; a release is never drawn a second time", "%d stored, each file as it was written", count)
}

func (f *fsck) study(ctx context.Context, id protocol.StudyID) {
	f.subject = id.String()
	before := len(f.findings)
	if ended, over := stored.Abandoned(f.Store, id); over { // its damage is known, and nothing depends on it
		defer func() {
			for i := range f.findings[before:] {
				if one := &f.findings[before+i]; one.Verdict == Fail {
					one.Verdict, one.Fix = Warn, ""
					one.Said += "; it was given up: " + ended.Failure
				}
			}
		}()
	}
	source, err := f.Store.Study(id)
	if err == nil && sha256.Sum256(source) != id {
		err = errors.New("the stored file does not have the study's id")
	}
	var s *study.Study
	if err == nil {
		s, err = file.Parse(source)
	}
	if err != nil {
		f.add("study file", err, restoreFix, "")
		return
	}
	f.add("study file", nil, "", "%s: its bytes have its id", s.Name)
	f.keys(s)
	f.shown(id)
	if f.Role == store.Party {
		f.decisions(id)
		f.cosignatures(id)
	}
	board, err := stored.Board(f.Store, id)
	if err == nil {
		err = f.board(s, board)
	}
	f.add("board", err, restoreFix, "%d messages: signatures, order and head hold", len(board))
	if err != nil {
		return
	}
	if f.Role == store.Party {
		f.own(s)
		if count, err := held.Check(f.Store.Held(s.ID)); err != nil || count > 0 {
			f.add("held sketch", err, "", "%d files, each as it was written", count)
		}
		if err := f.letGo(s.ID); err != nil {
			f.add("steward's release", err, "party advanced release "+s.ID.Short()+" says it again, where the steward still wants it", "")
		}
		f.release(s)
		f.queries(s, func(number int) (protocol.PeerID, storedQuery) { return f.ownQuery(s, number) })
	} else {
		f.uploads(ctx, s, board)
		for _, p := range s.Parties {
			f.queries(s, func(number int) (protocol.PeerID, storedQuery) { return p.ID, f.keptQuery(s, p.ID, uint32(number)) })
		}
	}
	f.results(s, board)
}

// shown checks the stored status, which is written anew with every step of the study.
func (f *fsck) shown(id protocol.StudyID) {
	raw, err := f.Store.Status(id)
	if errors.Is(err, store.ErrNotFound) {
		return
	}
	if err == nil {
		_, err = stored.DecodeSnapshot(raw)
	}
	if err != nil {
		f.add("status", err, "nothing is lost: it is written anew when the study is served", "")
	}
}

// board checks a stored board. An aggregator's is replayed through its machine, which checks all
// rules of the protocol again. A party's must match the head that the aggregator signed.
func (f *fsck) board(s *study.Study, board []protocol.Verified) error {
	signer, err := protocol.NewSigner(f.Store.Identity())
	if err != nil {
		return err
	}
	if f.Role == store.Aggregator {
		machine, err := session.NewAggregator(session.AggregatorConfig{Study: s, Signer: signer})
		if err != nil {
			return err
		}
		return machine.Restore(board)
	}
	if len(board) == 0 {
		return nil
	}
	raw, err := f.Store.Head(s.ID)
	if err != nil {
		return err
	}
	head, err := wire.DecodeHead(raw, s.ID)
	if err != nil {
		return err
	}
	chain := protocol.Digest{}
	for _, e := range board {
		chain = protocol.ExtendChain(chain, e.ID())
	}
	if head.Count != uint64(len(board)) || head.Chain != chain {
		return fmt.Errorf("the head that the aggregator signed is of %d other messages", head.Count)
	}
	return protocol.VerifyHead(head, s.Aggregator.ID)
}

// own checks what this node signed.
func (f *fsck) own(s *study.Study) {
	self, err := f.Store.ID()
	own, ownErr := f.Store.Own(s.ID)
	for _, o := range own {
		e, wrong := stored.DecodeVerified(o.Raw)
		if wrong == nil && (e.Sender() != self || e.Study() != s.ID || stored.OwnKind(e) != o.Kind || e.Attempt() != o.Attempt) {
			wrong = errors.New("it is not this node's, or of another kind")
		}
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("own %s of attempt %d: %w", o.Kind, o.Attempt, wrong))
		}
	}
	if err == nil && ownErr == nil {
		err = f.compared(func() error {
			if own, err = f.Store.Own(s.ID); err != nil {
				return err
			}
			return f.signed(s.ID, own)
		})
	}
	f.add("own messages", errors.Join(ownErr, err), restoreFix, "%d, each signed by this node", len(own))
}

func (f *fsck) release(s *study.Study) {
	report, err := Inspect(f.Store, s)
	if errors.Is(err, store.ErrNotFound) {
		var at protocol.Instant
		var unknown error
		wrong := f.compared(func() error {
			at, unknown = f.Store.Purged(s.ID)
			return f.purged(s.ID, at, unknown == nil)
		})
		switch {
		case unknown == nil || wrong != nil:
			f.add("release", wrong, restoreFix, "purged on %s", at)
		case !errors.Is(unknown, store.ErrNotFound):
			f.add("release", unknown, restoreFix, "")
		case f.posted(s):
			f.add("release", errors.New("it is gone, and this node signed one"), restoreFix+"; a release is never drawn a second time", "")
		}
		return
	}
	if err == nil && !report.Intact {
		err = errors.New("a sketch is not as it was signed (party advanced inspect shows which chunk)")
	}
	f.add("release", err, restoreFix+"; a release is never drawn a second time", "%d sketches, every chunk has its signed hash", len(report.Sketches))
}

// posted reports whether this node signed a release that must be stored: a masked one may have been
// dropped with its sum.
func (f *fsck) posted(s *study.Study) bool {
	own, err := f.Store.Own(s.ID)
	return err == nil && !s.Masked() && slices.ContainsFunc(own, func(o store.SignedEnvelope) bool { return o.Kind == protocol.KindRelease })
}

// uploads compares the stored chunks of each posted release with its signed header.
func (f *fsck) uploads(ctx context.Context, s *study.Study, board []protocol.Verified) {
	var at protocol.Instant
	var err error
	wrong := f.compared(func() error {
		at, err = f.Store.Purged(s.ID)
		return f.purged(s.ID, at, err == nil)
	})
	if wrong != nil && (err == nil || errors.Is(err, store.ErrNotFound)) {
		f.add("uploads", wrong, restoreFix, "")
		return
	}
	if err == nil {
		var left int64
		if left, err = f.Store.UploadSize(s.ID); err == nil && left > 0 {
			err = fmt.Errorf("%d bytes are here, of a study that was purged", left)
		}
		f.add("uploads", err, "aggregator purge "+s.ID.Short()+" removes them", "purged on %s", at)
		return
	}
	if !errors.Is(err, store.ErrNotFound) {
		f.add("uploads", err, restoreFix, "")
		return
	}
	used := map[protocol.Digest]bool{}
	for _, r := range resultsOn(board) {
		for _, id := range r.Releases {
			used[id] = true
		}
	}
	for _, e := range board {
		if e.Kind() != protocol.KindRelease {
			continue
		}
		index, _ := s.PartyIndex(e.Sender())
		release, err := wire.DecodeRelease(e.Payload())
		arrived, total := 0, 0
		if err == nil {
			arrived, err = f.chunks(ctx, s, e.Sender(), session.Header{Attempt: e.Attempt(), Release: release})
		}
		for _, sketch := range release.Sketches {
			total += len(sketch.Chunks)
		}
		if err == nil && used[e.ID()] && arrived < total {
			err = fmt.Errorf("%d of %d chunks are here, and the result was computed from all of them", arrived, total)
		}
		if _, headErr := f.Store.LedgerHead(e.Sender()); err == nil && headErr != nil {
			f.findings = append(f.findings, Finding{Check: "ledger heads", Subject: f.subject, Verdict: Warn,
				Said: fmt.Sprintf("that of %s is not kept, which has posted a release: it has never sent one, or it is gone", s.Parties[index].Name), Fix: restoreFix})
		}
		f.add("release of "+s.Parties[index].Name, err, "while its party still has its release: remove the chunk, and the party sends it again", "%d of %d chunks are here, each with its signed hash", arrived, total)
	}
}

func (f *fsck) chunks(ctx context.Context, s *study.Study, party protocol.PeerID, header session.Header) (arrived int, err error) {
	for i, sketch := range header.Release.Sketches {
		have, err := f.Store.FirstMissing(s.ID, party, stored.Uploaded(header, i), len(sketch.Chunks))
		if err != nil {
			return arrived, err
		}
		for c := range have {
			if err := ctx.Err(); err != nil {
				return arrived, err
			}
			data, err := f.Store.Chunk(s.ID, party, stored.Uploaded(header, i), c)
			if err != nil {
				return arrived, fmt.Errorf("sketch %d, chunk %d: %w", i+1, c+1, err)
			}
			if sha256.Sum256(data) != sketch.Chunks[c] {
				return arrived, fmt.Errorf("sketch %d, chunk %d does not have the hash that its party signed", i+1, c+1)
			}
			arrived++
		}
	}
	return arrived, nil
}
