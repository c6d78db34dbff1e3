package protocol_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"testing/cryptotest"

	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/protocoltest"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/session"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/agree"
)

// runCase is a whole study without failures.
type runCase struct {
	Study      string     `json:"study"`      // the file
	Aggregator hexed      `json:"aggregator"` // its Ed25519 private key
	Parties    []runParty `json:"parties"`    // by raw public key
	Board      []hexed    `json:"board"`      // every envelope, in order

	StudyID  hexed            `json:"study id"`
	Meaning  hexed            `json:"meaning"`
	IDs      []hexed          `json:"ids"` // of the envelopes
	Chain    hexed            `json:"chain"`
	Head     hexed            `json:"head"` // signed, over the whole board
	T1       hexed            `json:"t1"`
	T2       hexed            `json:"t2"`
	Seed     hexed            `json:"seed"`
	Keys     map[string]hexed `json:"keys"`
	Document hexed            `json:"document"` // hash of the result that all parties may read
}

// runParty is one party: its randomness, its data, and what is computed from them.
type runParty struct {
	Name     string      `json:"name"`
	Identity hexed       `json:"identity"` // Ed25519 private key
	Entropy  hexed       `json:"entropy"`  // contribution, blinder, pair key, input of DeriveKeyPair
	Noise    hexed       `json:"noise"`    // 32 bytes for the noise of the first sketch, the order of rows and the noise of the second
	IDs      []string    `json:"ids"`
	Values   [][]float64 `json:"values"` // of the study's columns, one row per record

	Encoded  []string `json:"encoded"` // the records' integers
	Tag      hexed    `json:"tag"`
	Exact    []hexed  `json:"exact"`    // SHA-256 of each sketch before noise, encoded at its smallest width
	Released []hexed  `json:"released"` // SHA-256 of each as released
	Labels   hexed    `json:"labels"`   // hash of its own document
}

func runs() vectors {
	return cases[runCase]{
		file: "runs",
		about: "A whole study of three parties. Given: the study file, all private keys and all that parties draw, their data, and the board. " +
			"To be found: everything else. Board entries can be made again, but for sealed shares, which open; the documents' hashes are those of floating point on amd64.",
		given: givenRun,
		fill:  fillRun,
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a run under construction.
type world struct {
	*testing.T
	*runCase
	study   *study.Study
	signers []protocol.Signer
	secrets []*agree.Secrets
}

func open(t *testing.T, c *runCase) *world {
	t.Helper()
	s, err := file.Parse([]byte(c.Study))
	must(t, err)
	w := &world{T: t, runCase: c, study: s}
	for i, p := range c.Parties {
		w.signers = append(w.signers, signerOf(t, p.Identity))
		if s.Parties[i].ID != w.signers[i].ID() || s.Parties[i].Name != p.Name {
			t.Fatalf("party %d is not %s", i, p.Name)
		}
		secrets, err := agree.Begin(s.ID, 1, w.signers[i].ID(), bytes.NewReader(p.Entropy))
		must(t, err)
		w.secrets = append(w.secrets, secrets)
	}
	return w
}

func (w *world) envelopes() (out []protocol.Verified) {
	w.Helper()
	for _, raw := range w.Board {
		e, err := wire.DecodeEnvelope(raw)
		must(w.T, err)
		v, err := protocol.Verify(e)
		must(w.T, err)
		out = append(out, v)
	}
	return out
}

// agreed is the board's state of attempt 1.
type agreed struct {
	group    agree.Group
	commits  []agree.Posted[agree.Commit]
	shares   []agree.Posted[agree.Share]
	confirms []protocol.Confirm
	headers  []protocol.Verified
	result   protocol.Result
}

func (w *world) agreed() (a agreed) {
	w.Helper()
	a.group = agree.Group{Study: w.study.ID, Attempt: 1}
	for _, s := range w.signers {
		a.group.Members = append(a.group.Members, s.ID())
	}
	board := w.envelopes()
	slices.SortStableFunc(board, func(e, f protocol.Verified) int { return e.Sender().Compare(f.Sender()) })
	for _, e := range board {
		var err error
		switch e.Kind() {
		case protocol.KindRoster:
			a.group.Roster = e.ID()
		case protocol.KindCommit:
			var c agree.Commit
			c, err = wire.DecodeCommit(e.Payload())
			a.commits = append(a.commits, agree.Posted[agree.Commit]{ID: e.ID(), Message: c})
		case protocol.KindShare:
			var s agree.Share
			s, err = wire.DecodeShare(e.Payload())
			a.shares = append(a.shares, agree.Posted[agree.Share]{ID: e.ID(), Message: s})
		case protocol.KindConfirm:
			var c protocol.Confirm
			c, err = wire.DecodeConfirm(e.Payload())
			a.confirms = append(a.confirms, c)
		case protocol.KindRelease:
			a.headers = append(a.headers, e)
		case protocol.KindResult:
			a.result, err = wire.DecodeResult(e.Payload())
		}
		must(w.T, err)
	}
	return a
}

// encode returns a party's records as integers.
func (w *world) encode(party int) (ids [][]byte, values [][]int64) {
	p := &w.Parties[party]
	for i, id := range p.IDs {
		ids = append(ids, []byte(id))
		var row []int64
		for j, x := range p.Values[i] {
			v, clamped := w.study.Columns[j].Scale.Encode(x, w.study.Bits)
			if clamped {
				w.Fatalf("%s: %v is out of bounds", p.Name, x)
			}
			row = append(row, v)
		}
		values = append(values, row)
	}
	return ids, values
}

// release makes a party's release and fills in what is computed from it.
func (w *world) release(party int, root seed.Seed, t2 protocol.Digest) (protocol.Release, analysis.Contribution) {
	w.Helper()
	p := &w.Parties[party]
	ids, values := w.encode(party)
	p.Encoded, p.Exact, p.Released = nil, nil, nil
	for _, row := range values {
		p.Encoded = append(p.Encoded, fmt.Sprint(row))
	}
	entropy := bytes.NewReader(p.Noise)
	header := protocol.Release{T2: t2, Records: int64(len(ids))}
	contribution := analysis.Contribution{Party: party, Records: header.Records}
	for i := range w.study.Sketches {
		plan, err := release.For(w.study, party, i)
		must(w.T, err)
		builder, err := plan.NewBuilder(root, 1)
		must(w.T, err)
		must(w.T, builder.Add(ids, slices.Concat(values...)))
		exact, err := builder.Finish(entropy)
		must(w.T, err)
		before, err := exact.Sketch.Encode(exact.Sketch.Width())
		must(w.T, err)
		must(w.T, plan.Noise.Add(exact.Sketch.Data, entropy))
		one, data, err := release.Encode(exact.Sketch)
		must(w.T, err)
		header.Sketches = append(header.Sketches, one)
		contribution.Sketches, contribution.Bytes = append(contribution.Sketches, exact.Sketch), contribution.Bytes+one.Size()
		p.Exact, p.Released = append(p.Exact, hexedOf(sha256.Sum256(before))), append(p.Released, hexedOf(sha256.Sum256(data)))
	}
	if entropy.Len() != 0 {
		w.Errorf("%s: %d bytes of entropy are left", p.Name, entropy.Len())
	}
	return header, contribution
}

// documents runs the study's analyses and returns the hashes of their documents.
func (w *world) documents(t2 protocol.Digest, contributions []analysis.Contribution) (all protocol.Document, own []protocol.PartyDocument) {
	w.Helper()
	result, labels := w.analysed(t2, contributions)
	hash := func(document any) protocol.Document {
		data, err := json.MarshalIndent(document, "", " ")
		must(w.T, err)
		data = append(data, '\n')
		return protocol.Document{Hash: sha256.Sum256(data), Size: int64(len(data))}
	}
	for i, l := range labels {
		own = append(own, protocol.PartyDocument{Party: w.signers[i].ID(), Document: hash(l)})
	}
	return hash(result), own
}

func (w *world) analysed(t2 protocol.Digest, contributions []analysis.Contribution) (analysis.Result, []analysis.Labels) {
	w.Helper()
	result, labels, err := analysis.Run(context.Background(), analysis.Options{Study: w.study, Attempt: 1, T2: t2, Complete: true, Contributions: contributions})
	must(w.T, err)
	return result, labels
}

func fillRun(t *testing.T, c *runCase) {
	w := open(t, c)
	c.StudyID, c.Meaning = hexedOf(w.study.ID), hexedOf(w.study.Meaning)
	var chain protocol.Digest
	c.IDs = nil
	board := w.envelopes()
	for _, e := range board {
		c.IDs, chain = append(c.IDs, hexedOf(e.ID())), protocol.ExtendChain(chain, e.ID())
	}
	aggregator := signerOf(t, c.Aggregator)
	machine, err := session.NewAggregator(session.AggregatorConfig{Study: w.study, Signer: aggregator})
	must(t, err)
	must(t, machine.Restore(board))
	if state := machine.Status().State; state != session.Closed || machine.Head().Chain != chain {
		t.Errorf("the board leads to %s and chain %s", state, machine.Head().Chain)
	}
	c.Chain, c.Head = chain[:], wire.EncodeHead(aggregator.SignHead(w.study.ID, uint64(len(board)), chain))

	a := w.agreed()
	var contributions []analysis.Contribution
	for i, secrets := range w.secrets {
		o, err := secrets.Open(a.group, a.commits, a.shares)
		must(t, err)
		if root := o.Seed.Bytes(); i > 0 && !bytes.Equal(c.Seed, root[:]) {
			t.Errorf("%s comes to another seed", c.Parties[i].Name)
		}
		c.T1, c.T2, c.Seed, c.Keys = hexedOf(o.T1), hexedOf(o.T2), hexedOf(o.Seed.Bytes()), derivedKeys(t, o.Seed)
		proof, err := o.Confirm(w.signers[i].ID())
		must(t, err)
		if c.Parties[i].Tag = hexedOf(proof.Tag); !reflect.DeepEqual(proof, a.confirms[i].Confirm) {
			t.Errorf("%s confirms otherwise on the board", c.Parties[i].Name)
		}
		header, contribution := w.release(i, o.Seed, o.T2)
		if !bytes.Equal(wire.EncodeRelease(header), a.headers[i].Payload()) {
			t.Errorf("%s releases otherwise on the board", c.Parties[i].Name)
		}
		contribution.Header = a.headers[i].ID()
		contributions = append(contributions, contribution)
	}
	// Estimates are floating point, whose last digits differ on other architectures.
	if runtime.GOARCH != "amd64" {
		return
	}
	document, own := w.documents(protocol.Digest(c.T2), contributions)
	c.Document = hexedOf(document.Hash)
	if document != a.result.Document || !slices.Equal(own, a.result.PerParty) {
		t.Error("the result on the board is another")
	}
	for i := range own {
		c.Parties[i].Labels = hexedOf(own[i].Hash)
	}
}

// givenRun simulates the study: honest parties around the aggregator's state machine.
func givenRun(t *testing.T) []runCase {
	cryptotest.SetGlobalRandom(t, 2026)
	s, err := protocoltest.NewStudy(protocoltest.Terms{Nonce: 0x42})
	must(t, err)
	c := runCase{Study: string(s.Source), Aggregator: identitySeed("aggregator")}
	for i, p := range s.Parties {
		c.Parties = append(c.Parties, givenParty(t, i, p))
	}
	w := open(t, &c)
	machine, err := session.NewAggregator(session.AggregatorConfig{Study: w.study, Signer: signerOf(t, c.Aggregator)})
	must(t, err)
	var jobs []session.Job
	step := func(event session.AggregatorEvent) {
		effects, err := machine.Step(event)
		must(t, err)
		jobs = append(jobs, effects.Run...)
		for _, r := range effects.Persist {
			c.Board = append(c.Board, wire.EncodeEnvelope(r.(session.SaveEnvelope).Envelope.Envelope()))
		}
	}
	post := func(kind protocol.Kind, attempt uint32, payload func(i int) []byte) {
		for i, signer := range w.signers {
			step(session.Post{Envelope: protocoltest.Sealed(signer.Seal(w.study.ID, kind, attempt, payload(i)))})
		}
	}
	step(session.Tick{Now: protocoltest.Start})
	post(protocol.KindApprove, 0, func(int) []byte { return wire.EncodeApprove(protocol.Approve{Meaning: w.study.Meaning}) })
	post(protocol.KindCommit, 1, func(i int) []byte { return wire.EncodeCommit(w.secrets[i].Commit()) })
	a := w.agreed()
	post(protocol.KindShare, 1, func(i int) []byte {
		share, err := w.secrets[i].Share(a.group, a.commits)
		must(t, err)
		return wire.EncodeShare(share)
	})
	a = w.agreed()
	root := make([]agree.Outcome, len(w.signers))
	post(protocol.KindConfirm, 1, func(i int) []byte {
		root[i], err = w.secrets[i].Open(a.group, a.commits, a.shares)
		must(t, err)
		proof, err := root[i].Confirm(w.signers[i].ID())
		must(t, err)
		head := machine.Head()
		return wire.EncodeConfirm(protocol.Confirm{Confirm: proof, Count: head.Count, Chain: head.Chain})
	})
	contributions := make([]analysis.Contribution, len(w.signers))
	post(protocol.KindRelease, 1, func(i int) []byte {
		var header protocol.Release
		header, contributions[i] = w.release(i, root[i].Seed, root[i].T2)
		return wire.EncodeRelease(header)
	})
	for i, e := range w.agreed().headers {
		contributions[i].Header = e.ID()
	}
	for _, signer := range w.signers {
		step(session.Collected{Party: signer.ID()})
	}
	job := jobs[len(jobs)-1].(session.Compute)
	done := session.Computed{Releases: job.Releases}
	done.Document, done.PerParty = w.documents(job.T2, contributions)
	step(done)
	return []runCase{c}
}

func givenParty(t *testing.T, i int, p study.Party) runParty {
	t.Helper()
	out := runParty{Name: p.Name}
	for n := range 26 { // protocoltest names parties in the order of their keys
		if key := identitySeed(fmt.Sprintf("party %d", n)); signerOf(t, key).ID() == p.ID {
			out.Identity = key
			break
		}
	}
	draw := func(what string, n int) hexed {
		part := sha256.Sum256(fmt.Appendf(nil, "%s %d of party %d", what, n, i))
		return part[:]
	}
	for n := range 4 {
		out.Entropy = append(out.Entropy, draw("agreement", n)...)
	}
	for n := range 3 {
		out.Noise = append(out.Noise, draw("noise", n)...)
	}
	for r := range 8 {
		b := draw("record", r)
		out.IDs = append(out.IDs, fmt.Sprintf("record %d", r+1))
		out.Values = append(out.Values, []float64{float64(b[0]) / 256, float64(b[1] & 1)})
	}
	return out
}
