package local

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cosketch/cosketch/node/filename"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// resultsOn returns the results on a board, oldest first.
func resultsOn(board []protocol.Verified) (out []protocol.Result) {
	for _, e := range board {
		if r, err := wire.DecodeResult(e.Payload()); e.Kind() == protocol.KindResult && err == nil {
			out = append(out, r)
		}
	}
	return out
}

const resultFix = "fetch it again: party run, or restore the aggregator's from a backup"

// results verifies what the aggregator signed of the stored results, and that there are no other
// files.
func (f *fsck) results(s *study.Study, board []protocol.Verified) {
	known := map[string]bool{filename.Computing: true, filename.Refused: true} // for a serving aggregator to handle
	f.result(s, resultsOn(board), known)
	f.further(s, known)
	f.asked(s, known)
	names, err := f.Store.Results(s.ID)
	if err != nil {
		f.add("results", err, restoreFix, "")
	}
	for _, name := range names {
		if !known[name] && !filename.IsStep(name) {
			f.findings = append(f.findings, Finding{Check: "results", Subject: f.subject, Verdict: Warn,
				Said: name + ": no result refers to this file: a killed process left it, or the result that did is lost", Fix: restoreFix})
		}
	}
}

// result verifies the newest stored result, and the documents that only single parties may read.
func (f *fsck) result(s *study.Study, results []protocol.Result, known map[string]bool) {
	raw, err := f.Store.Result(s.ID, filename.Result)
	known[filename.Result] = true
	if errors.Is(err, store.ErrNotFound) {
		switch {
		case len(results) == 0:
		case f.Role == store.Aggregator:
			f.add("result", errors.New("the board has a result, but its document is missing"), restoreFix, "")
		default:
			f.findings = append(f.findings, Finding{Check: "result", Subject: f.subject, Verdict: Warn, Said: "the board has a result, but its document is not here", Fix: "fetch it: party run " + s.ID.Short()})
		}
		return
	}
	if err != nil {
		f.add("result", err, restoreFix, "")
		return
	}
	at := slices.IndexFunc(results, func(r protocol.Result) bool { return r.Document == stored.DocumentOf(raw) })
	if at < 0 && f.Role == store.Aggregator && len(results) == 0 {
		f.findings = append(f.findings, Finding{Check: "result", Subject: f.subject, Verdict: Warn,
			Said: "one is stored, and the board has none: the aggregator is about to sign it, or was killed before it did", Fix: "aggregator serve computes it again"})
		return
	}
	if at < 0 {
		f.add("result", stored.ErrUnsigned, resultFix, "")
		return
	}
	document, err := analysis.Decode(raw, s.ID)
	err = errors.Join(err, f.tables(s, document, known))
	err = errors.Join(err, f.perParty(s, results[at].PerParty, known, func(party protocol.PeerID) string {
		if f.Role == store.Party {
			return filename.Labels
		}
		return filename.PartyLabels(party)
	}))
	f.add("result", err, resultFix, "is what the aggregator signed")
}

// tables checks the tables of a document against the hashes in it.
func (f *fsck) tables(s *study.Study, document analysis.Result, known map[string]bool) error {
	parts, err := document.Parts()
	for _, part := range parts {
		name := filename.Table(part.Hash)
		known[name] = true
		if found, readErr := f.hashOf(s, name); readErr != nil {
			err = errors.Join(err, readErr)
		} else if found != part {
			err = errors.Join(err, fmt.Errorf("%s: %w", name, stored.ErrUnsigned))
		}
	}
	return err
}

// hashOf hashes a result file.
func (f *fsck) hashOf(s *study.Study, name string) (out protocol.Document, err error) {
	file, err := f.Store.OpenResult(s.ID, name)
	if err != nil {
		return out, err
	}
	defer file.Close()
	sum := sha256.New()
	if out.Size, err = io.Copy(sum, file); err != nil {
		return out, fmt.Errorf("reading result %q: %w", name, err)
	}
	sum.Sum(out.Hash[:0])
	return out, nil
}

// perParty checks the documents that only single parties may read against the aggregator's
// signature. A party has only its own.
func (f *fsck) perParty(s *study.Study, documents []protocol.PartyDocument, known map[string]bool, name func(protocol.PeerID) string) error {
	self, err := f.Store.ID()
	for _, d := range documents {
		if f.Role == store.Party && d.Party != self {
			continue
		}
		file := name(d.Party)
		known[file] = true
		raw, readErr := f.Store.Result(s.ID, file)
		if readErr == nil && stored.DocumentOf(raw) != d.Document {
			readErr = fmt.Errorf("%s: %w", file, stored.ErrUnsigned)
		}
		err = errors.Join(err, readErr)
	}
	return err
}

// further verifies the further results, each with its documents for single parties.
func (f *fsck) further(s *study.Study, known map[string]bool) {
	further, damaged, err := stored.FurtherResults(f.Store, s)
	err = errors.Join(err, errors.Join(damaged...))
	for _, r := range further {
		hash := r.Statement.Document.Hash
		known[filename.Further(hash)], known[filename.Further(hash)+".json"] = true, true
		err = errors.Join(err, f.tables(s, r.Result, known))
		err = errors.Join(err, f.perParty(s, r.Statement.PerParty, known, func(party protocol.PeerID) string { return filename.FurtherLabels(hash, party) }))
	}
	if err != nil || len(further) > 0 {
		f.add("further results", err, "fetch them again: party result --fetch, or restore the aggregator's from a backup", "%d, each as the aggregator signed it", len(further))
	}
}

// asked marks as known the files of queries, which were checked with their statements, and of
// parties that carry the study by hand.
func (f *fsck) asked(s *study.Study, known map[string]bool) {
	mark := func(statement string, beside ...string) {
		if _, err := f.Store.Result(s.ID, statement); err == nil {
			for _, suffix := range append(beside, "") {
				known[statement+suffix] = true
			}
		}
	}
	var wrong error
	boxes := 0
	for number := range s.Queries.Releases {
		mark(filename.QueryAnswer(number+1), ".json")
		for _, p := range s.Parties {
			mark(filename.Query(p.ID, uint32(number+1)), ".bin")
			mark(filename.Answer(p.ID, uint32(number+1)), ".json")
		}
	}
	for _, p := range s.Parties {
		raw, err := f.Store.Result(s.ID, filename.Mailbox(p.ID))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		known[filename.Mailbox(p.ID)] = true
		if err == nil {
			_, err = protocol.DecodeMailbox(s.ID, p.ID, raw)
		}
		if boxes++; err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("of %s: %w", p.Name, err))
		}
	}
	if boxes > 0 {
		f.add("mailboxes", wrong, "the party's next bundle brings it again", "%d, each as its party signed it", boxes)
	}
}
