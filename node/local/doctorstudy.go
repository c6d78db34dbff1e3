package local

import (
	"errors"
	"fmt"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/source"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/study"
)

// identity checks that the key is the one with which this node took part in the stored studies.
func (o DoctorOptions) identity() Finding {
	f := Finding{Check: "identity", Verdict: Pass}
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err == nil {
		f.Said = signer.ID().String()
		if err = SameIdentity(o.Store); err == nil {
			err = o.listed(signer.ID())
		}
	}
	if next, retired := o.Store.Retired(); err == nil && retired == nil {
		f.Verdict, f.Said, f.Fix = Fail, "this identity was retired, and approves and releases nothing any more", "name the directory of its successor, "+next.String()+", with --state"
	}
	if err != nil {
		f.Verdict, f.Said, f.Fix = Fail, err.Error(), "put this directory's own identity.key back; if it is nowhere else, party advanced restore of the newest backup makes a directory that has it"
	}
	return f
}

// listed checks that every study lists this party: no others are kept.
func (o DoctorOptions) listed(self protocol.PeerID) error {
	for _, s := range o.Studies {
		if _, ok := s.PartyIndex(self); !ok {
			return fmt.Errorf("study %s (%s), which was kept here, does not list the peer id of identity.key, %s (were two nodes' key files swapped?)", s.Name, s.ID.Short(), self)
		}
	}
	return nil
}

// ready checks what a run of the study would check before its first message, except the data
// themselves.
func (o DoctorOptions) ready(s *study.Study, site config.Party) []Finding {
	short := s.ID.Short()
	of := func(check, said, fix string, err error) Finding {
		f := Finding{Check: check, Subject: short, Verdict: Pass, Said: said}
		if err != nil {
			f.Verdict, f.Said, f.Fix = Fail, err.Error(), fix
		}
		return f
	}
	h, err := source.Options{Env: node.PartyEnv{Now: o.Now}, Store: o.Store, Site: o.Site, Study: s}.Source()
	if err != nil {
		return []Finding{of("dataset", "", "", err)}
	}
	approval := o.approval(h)
	if _, err := site.Study(s.ID); err != nil {
		missing := fmt.Errorf("the site file does not say which data answer %s", s.Name)
		return []Finding{approval, of("dataset", "", site.Naming(s.ID), missing)}
	}
	src, err := h.Open()
	if err != nil {
		return []Finding{approval, of("dataset", "", "correct the site file", err)}
	}
	out := []Finding{approval, of("dataset", fmt.Sprintf("%q answers %s; party data check %s reads it", src.Data.Name, s.Name, short), "", nil)}
	entries, err := o.Store.Ledger()
	if err == nil {
		_, err = h.Debits(src, entries)
	}
	fix := "party budget " + src.Data.Name
	if none := (*node.NoBudgetError)(nil); errors.As(err, &none) {
		fix = "" // the error has its own remedy
	}
	out = append(out, of("budget", "the caps leave room for the release", fix, err))
	if _, err := h.Welcome(); err != nil {
		out = append(out, of("welcome", "", "correct the site file", err))
	}
	return out
}

// decided is the finding for a study that was declined or withdrawn from.
func (o DoctorOptions) decided(short string, decision store.Decision) Finding {
	if decision == store.Withdraw {
		return Finding{Check: "approval", Subject: short, Verdict: Warn, Said: "the approval was withdrawn, which is final", Fix: "party run " + short + " tells the others, where it has not"}
	}
	return Finding{Check: "approval", Subject: short, Verdict: Warn, Said: "the study is declined here: it is not served", Fix: "party study approve " + short + ", if it should be"}
}

// approval reports whether the steward has decided, and whether that is enough.
func (o DoctorOptions) approval(h *source.Source) Finding {
	short := h.Study.ID.Short()
	f := Finding{Check: "approval", Subject: short, Verdict: Pass, Said: "the study is approved here"}
	_, _, err := o.Store.Decision(h.Study.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		f.Said = "nobody has decided yet"
	case err != nil:
		f.Verdict, f.Said = Fail, err.Error()
	default:
		if err := h.Cosigned(); err != nil {
			f.Verdict, f.Said, f.Fix = Fail, err.Error(), "party study approve "+short+" --cosigned FILE, with the second person's line in FILE"
		}
	}
	return f
}
