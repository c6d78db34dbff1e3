package local

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/journal"
	"github.com/cosketch/cosketch/protocol/ledger"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Unsigned data are compared with the journal, which was written in the same transactions and is
// protected by its chain.

// compared compares with the journal. If that fails, it reads the journal again and repeats the
// comparison: if the node is running, something may have been written since the first read.
func (f *fsck) compared(compare func() error) error {
	wrong := compare()
	if wrong == nil {
		return nil
	}
	entries, err := f.Store.Journal()
	if err != nil {
		return wrong // the journal's own check reports more
	}
	f.journal = entries
	return compare()
}

// told reports whether the journal was kept at that time: older programs kept none.
func (f *fsck) told(at protocol.Instant) bool { return len(f.journal) > 0 && at >= f.journal[0].At }

// entriesOf returns the journal's entries about a study, of these events.
func (f *fsck) entriesOf(study string, events ...journal.Event) (out []journal.Entry) {
	for _, e := range f.journal {
		if e.Study == study && slices.Contains(events, e.Event) {
			out = append(out, e)
		}
	}
	return out
}

// studies compares the list of studies with the journal.
func (f *fsck) studies() ([]store.StudyEntry, error) {
	var entries []store.StudyEntry
	var failed error
	wrong := f.compared(func() error {
		if entries, failed = f.Store.Studies(); failed != nil {
			return nil
		}
		return f.added(entries)
	})
	if failed == nil {
		f.add("studies", wrong, restoreFix, "%d, as the journal says", len(entries))
	}
	return entries, failed
}

func (f *fsck) added(entries []store.StudyEntry) error {
	stored := map[string]bool{}
	var err error
	for _, e := range entries {
		stored[e.ID.String()] = true
		told := f.entriesOf(e.ID.String(), journal.Added)
		if len(told) == 0 && f.told(e.Added) || len(told) > 0 && told[0].At != e.Added {
			err = errors.Join(err, fmt.Errorf("the journal does not say that study %s was added on %s", e.ID.Short(), e.Added))
		}
	}
	for _, e := range f.journal {
		if e.Event == journal.Added && !stored[e.Study] {
			err = errors.Join(err, fmt.Errorf("study %.8s is gone, which the journal says was added on %s", e.Study, e.At))
		}
	}
	return err
}

// suffix checks things against the journal. All must match if the journal covers the study from its
// beginning; otherwise the last ones.
func (f *fsck) suffix(id protocol.StudyID, things, told []string) error {
	whole := len(f.entriesOf(id.String(), journal.Added)) > 0
	if len(things) < len(told) || whole && len(things) != len(told) || !slices.Equal(things[len(things)-len(told):], told) {
		return fmt.Errorf("%d are here, and the journal tells of %d others", len(things), len(told))
	}
	return nil
}

// decisions compares the decisions made here with the journal.
func (f *fsck) decisions(id protocol.StudyID) {
	var all []store.Decided
	err := f.compared(func() (err error) {
		if all, err = f.Store.Decisions(id); err != nil {
			return err
		}
		var things, told []string
		for _, d := range all {
			things = append(things, fmt.Sprint(d.Decision.Event(), d.At))
		}
		for _, e := range f.entriesOf(id.String(), journal.Approved, journal.Declined, journal.Withdrawn) {
			told = append(told, fmt.Sprint(e.Event, e.At))
		}
		return f.suffix(id, things, told)
	})
	f.add("decisions", err, restoreFix, "%d, as the journal says", len(all))
}

// signed compares the list of own messages with the journal.
func (f *fsck) signed(id protocol.StudyID, own []store.SignedEnvelope) error {
	var things, told []string
	for _, o := range own {
		things = append(things, fmt.Sprint(o.Kind, len(o.Raw)))
	}
	for _, e := range f.entriesOf(id.String(), journal.Signed) {
		told = append(told, fmt.Sprint(e.Note, e.Bytes))
	}
	return f.suffix(id, things, told)
}

// cosignatures verifies the approvals of second persons.
func (f *fsck) cosignatures(id protocol.StudyID) {
	self, err := f.Store.ID()
	lines, linesErr := f.Store.Cosignatures(id)
	err = errors.Join(err, linesErr)
	for _, line := range lines {
		_, wrong := protocol.ParseCosignature(id, self, line)
		err = errors.Join(err, wrong)
	}
	if told := f.entriesOf(id.String(), journal.Cosigned); err == nil && len(lines) < len(told) {
		err = fmt.Errorf("%d are here, and the journal tells of %d", len(lines), len(told))
	}
	if err != nil || len(lines) > 0 {
		f.add("cosignatures", err, restoreFix, "%d, each signed for this study", len(lines))
	}
}

// letGo checks that the steward's release of a held sketch, as journaled, is still stored. Every
// change of the sketch revokes the decision, and the release removes both.
func (f *fsck) letGo(id protocol.StudyID) error {
	told := f.entriesOf(id.String(), journal.HeldReleased)
	manifest, err := f.Store.Held(id).Manifest()
	if errors.Is(err, store.ErrNotFound) || len(told) == 0 {
		return nil
	}
	last := told[len(told)-1]
	if err != nil || !strings.HasSuffix(last.Note, heldMark(manifest)) {
		return err
	}
	decided, err := f.Store.Held(id).Decided()
	if err == nil && !decided {
		err = fmt.Errorf("the journal says that the steward approved the release of the held sketch on %s, but this decision is not stored", last.At)
	}
	return err
}

// ledgerMark matches the journal's reference to an entry of the ledger.
var ledgerMark = regexp.MustCompile(`ledger entry ([0-9]+)(?: \(([0-9a-f]{16})\))?$`)

// ledger checks that each debit in the journal is in the ledger.
func (f *fsck) ledger(entries []ledger.Entry) error {
	for _, e := range f.journal {
		if e.Event != journal.Debited && e.Event != journal.Inherited {
			continue
		}
		mark := ledgerMark.FindStringSubmatch(e.Note)
		if mark == nil {
			continue // written by an older program
		}
		number, err := strconv.Atoi(mark[1])
		switch {
		case err != nil || number > len(entries):
			return fmt.Errorf("it has %d entries, and the journal tells of entry %s: its end was cut off", len(entries), mark[1])
		case mark[2] != "" && entries[number-1].Hash().String()[:16] != mark[2]:
			return fmt.Errorf("entry %d is not the one of which the journal tells", number)
		}
	}
	return nil
}

// retired compares with the journal whether this identity is still in use.
func (f *fsck) retired() {
	successor, err := f.Store.Retired()
	var told *journal.Entry
	for _, e := range f.journal {
		if e.Event == journal.Retired {
			told = &e
		}
	}
	switch {
	case errors.Is(err, store.ErrNotFound) && told == nil:
		return
	case errors.Is(err, store.ErrNotFound):
		err = fmt.Errorf("the journal says that this identity was %s, and nothing else does", told.Note)
	case err == nil && told == nil:
		err = errors.New("this identity is retired, of which the journal does not tell")
	case err == nil && told.Note != "succeeded by "+successor.String():
		err = fmt.Errorf("the journal says that this identity was %s", told.Note)
	}
	at, atErr := f.Store.RetiredAt()
	if err == nil && (atErr != nil || at != told.At) {
		err = errors.Join(atErr, fmt.Errorf("the journal says that this identity was retired on %s", told.At))
	}
	f.add("identity", err, restoreFix, "retired: succeeded by %s", successor)
}

// purged compares with the journal whether and when a study's sketches were removed.
func (f *fsck) purged(id protocol.StudyID, at protocol.Instant, gone bool) error {
	told := f.entriesOf(id.String(), journal.Purged)
	switch {
	case !gone && len(told) > 0:
		return fmt.Errorf("the journal says that they were purged on %s, and nothing else does", told[0].At)
	case gone && (len(told) > 0 && told[0].At != at || len(told) == 0 && f.told(at)):
		return fmt.Errorf("the journal does not say that they were purged on %s", at)
	}
	return nil
}

// heads verifies the parties' ledger heads that an aggregator keeps.
func (f *fsck) heads() {
	count := 0
	self, err := f.Store.ID()
	wrong := f.Store.LedgerHeads(func(party []byte, entries int64, raw []byte) error {
		h, err := wire.DecodeLedgerHead(raw)
		switch {
		case err != nil:
			return err
		case string(h.Party[:]) != string(party) || int64(h.Count) != entries || h.Aggregator != self:
			return fmt.Errorf("that of %s is kept as another's, or of another count", h.Party)
		}
		count++
		return protocol.VerifyLedgerHead(h)
	})
	f.add("ledger heads", errors.Join(err, wrong), restoreFix, "%d, each as its party signed it", count)
}

// keys compares this node's keys with those in a study.
func (f *fsck) keys(s *study.Study) {
	id, err := f.Store.ID()
	_, listed := s.PartyIndex(id)
	switch {
	case err != nil:
	case f.Role == store.Party && !listed:
		err = fmt.Errorf("the study does not list identity.key's peer id, %s", id)
	case f.Role == store.Aggregator && s.Aggregator.ID != id:
		err = fmt.Errorf("the study names the aggregator %s, and identity.key is of %s", s.Aggregator.ID, id)
	case f.Role == store.Aggregator && !slices.Equal(s.Aggregator.HPKE, f.Store.HPKE().PublicKey().Bytes()):
		err = fmt.Errorf("hpke.key is another than that of the study, %.16s…", base64.StdEncoding.EncodeToString(s.Aggregator.HPKE))
	}
	if err != nil {
		f.add("keys", err, restoreFix, "")
	}
}

// tokens compares the records of tokens with the journal. Backups leave them out.
func (f *fsck) tokens() {
	f.handed("tokens", handedOut{journal.TokenMade, journal.TokenRevoked, f.Store.Tokens, f.Store.Token}, "aggregator token revoke, and make another")
}

// invitations does the same for invitations and their introductions.
func (f *fsck) invitations() {
	const fix = "aggregator advanced invitation revoke, and make another"
	f.handed("invitations", handedOut{journal.InvitationMade, journal.InvitationRevoked, f.Store.Invitations, f.Store.Invitation}, fix)
	came := func() (ids []string, err error) {
		all, err := f.Store.Invitations()
		for _, id := range all {
			if _, none := f.Store.Introduction(id); !errors.Is(none, store.ErrNotFound) {
				ids = append(ids, id)
			}
		}
		return ids, err
	}
	f.handed("introductions", handedOut{journal.InvitationUsed, journal.InvitationRevoked, came, f.Store.Introduction}, fix)
}

// handedOut is a kind of record that is stored under a short id and journaled with its hash.
type handedOut struct {
	made, revoked journal.Event
	ids           func() ([]string, error)
	record        func(id string) ([]byte, error)
}

func (f *fsck) handed(what string, out handedOut, fix string) {
	ids, err := out.ids()
	made, restored := map[string]string{}, false
	for _, e := range f.journal {
		id, mark, _ := strings.Cut(e.Note, " ")
		switch e.Event {
		case out.made:
			made[id] = strings.Trim(mark, "()")
		case out.revoked:
			delete(made, id)
		case journal.Restored:
			clear(made)
			restored = true
		}
	}
	for _, id := range ids {
		record, readErr := out.record(id)
		mark, told := made[id]
		switch {
		case readErr != nil:
			err = errors.Join(err, readErr)
		case !told, mark != "" && mark != fmt.Sprintf("%x", sha256.Sum256(record)):
			err = errors.Join(err, fmt.Errorf("%s is not the one that the journal says was made", id))
		}
		delete(made, id)
	}
	for id := range made {
		err = errors.Join(err, fmt.Errorf("%s is gone, and was not revoked", id))
	}
	if err != nil || len(ids) > 0 && !restored {
		f.add(what, err, fix, "%d, as they were made", len(ids))
	}
}
