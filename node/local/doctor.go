package local

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/node/calls"
	"github.com/cosketch/cosketch/node/config"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/release"
	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/protocol/wire"
)

// Verdict is the outcome of a check.
type Verdict string

const (
	Pass Verdict = "PASS"
	Warn Verdict = "WARN" // works, but somebody should know
	Fail Verdict = "FAIL" // a study would fail because of it
)

// Finding is the result of one check.
type Finding struct {
	Check   string // what was checked: state, ledger, disk, site file, name, connection, …
	Subject string // where: a path, an address
	Verdict Verdict
	Said    string
	Fix     string // what to do; empty if nothing
}

// DoctorOptions says what Diagnose checks.
type DoctorOptions struct {
	Store   *store.Store                 // required; may be read-only
	Site    func() (config.Party, error) // required: reads the site file
	Now     func() protocol.Instant      // required: the clock
	Version string                       // of this program
	Studies []*study.Study               // the studies to check, as stored
}

// Diagnose checks what a party needs to serve studies: its state directory and its site file, and
// for each study every address of the aggregator and the ledger head that the aggregator keeps. It
// changes nothing here and waits at most half a minute for each address.
func Diagnose(ctx context.Context, o DoctorOptions) []Finding {
	identity := o.identity()
	findings := []Finding{o.state(), identity, o.ledger(), o.disk()}
	site, err := o.Site()
	if err != nil {
		return append(findings, Finding{Check: "site file", Verdict: Fail, Said: err.Error(), Fix: "correct the line that it names"})
	}
	findings = append(findings, Finding{Check: "site file", Subject: site.Path, Verdict: Pass, Said: fmt.Sprintf("datasets: %d, studies: %d", len(site.Datasets), len(site.Studies))})
	if identity.Verdict == Fail {
		return findings // with another identity, this node has no part in the studies
	}
	for _, s := range o.Studies {
		if decision, _, err := o.Store.Decision(s.ID); err == nil && (decision == store.Decline || decision == store.Withdraw) {
			findings = append(findings, o.decided(s.ID.Short(), decision))
			continue // nothing of it is sent, so nothing more needs to be ready
		}
		findings = append(findings, o.ready(s, site)...)
		findings = append(findings, o.connections(ctx, s, site.Network)...)
	}
	return findings
}

// state checks that the directory can be written to, which opening it did not check.
func (o DoctorOptions) state() Finding {
	f := Finding{Check: "state", Subject: o.Store.Dir(), Verdict: Pass, Said: "private, and everything is there"}
	if err := o.Store.MayWrite(); err != nil {
		f.Verdict, f.Said, f.Fix = Fail, err.Error(), "make the disk writable, for this user; until then status, result and the like can be read"
	}
	return f
}

func (o DoctorOptions) ledger() Finding {
	f := Finding{Check: "ledger", Verdict: Pass}
	entries, err := o.Store.Ledger()
	if err != nil {
		f.Verdict, f.Said, f.Fix = Fail, err.Error(), "restore the state directory from the newest backup; a ledger is never started afresh"
		return f
	}
	f.Said = fmt.Sprintf("%d releases, the chain holds", len(entries))
	if len(entries) == 1 {
		f.Said = "1 release, the chain holds"
	}
	return f
}

// spare is the space that a state directory needs besides releases: database, logs, spilled ids.
const spare = 256 << 20

func (o DoctorOptions) disk() Finding {
	f := Finding{Check: "disk", Verdict: Pass}
	free, err := o.Store.Free()
	if err != nil {
		f.Verdict, f.Said = Warn, err.Error()
		return f
	}
	need := int64(spare)
	for _, s := range o.Studies {
		for i, sk := range s.Sketches {
			party, err := o.self(s)
			if err != nil || sk.Side == sketch.Records {
				continue
			}
			if plan, err := release.For(s, party, i); err == nil {
				rows, cols := plan.Shape(1)
				need += 8 * rows * cols
			}
		}
	}
	f.Said = fmt.Sprintf("%s free, %s are enough", block.Bytes(free), block.Bytes(need))
	if free < need {
		f.Verdict, f.Fix = Fail, "make room, or name another directory with --state"
	}
	return f
}

func (o DoctorOptions) self(s *study.Study) (int, error) {
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return 0, err
	}
	index, _ := s.PartyIndex(signer.ID())
	return index, nil
}

// connections tries every address of a study's aggregator. One that works is enough to serve the
// study, so failures of others are warnings.
func (o DoctorOptions) connections(ctx context.Context, s *study.Study, network config.Network) []Finding {
	to := s.Aggregator.ID
	host, err := p2p.New(p2p.Config{
		Key: o.Store.Identity, Allow: func(id protocol.PeerID) bool { return id == to },
		Limits: calls.WithFrames(p2p.Limits{}), Roots: network.Roots, Version: o.Version,
	})
	if err != nil {
		return []Finding{{Check: "connection", Verdict: Fail, Said: err.Error()}}
	}
	defer host.Close()
	var findings []Finding
	through := false
	for _, addr := range s.Aggregator.Addrs {
		at, ok := o.address(ctx, host, s, addr)
		findings, through = append(findings, at...), through || ok
	}
	for i := range findings {
		if through && findings[i].Verdict == Fail && findings[i].Check != "clock" {
			findings[i].Verdict = Warn
		}
	}
	if !through {
		host = nil
	} else {
		findings = append(findings, o.head(ctx, host, s)...)
	}
	return append(findings, o.board(ctx, host, s)...)
}

// LedgerHeadCheck is the Check of a Finding about the ledger head that an aggregator keeps.
const LedgerHeadCheck = "ledger head"

// head compares the ledger with the head that the aggregator keeps, as a run does before it sends
// anything. This detects a state directory that was restored from a backup. It returns nothing for
// a party that has released nothing to this aggregator.
func (o DoctorOptions) head(ctx context.Context, host *p2p.Host, s *study.Study) []Finding {
	f := Finding{Check: LedgerHeadCheck, Subject: s.ID.Short(), Verdict: Pass}
	signer, err := protocol.NewSigner(o.Store.Identity())
	if err != nil {
		return nil // identity reports it
	}
	entries, err := o.Store.Ledger()
	if err != nil {
		return nil // ledger reports it
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	kept, err := calls.KeptHead(ctx, calls.Client{Carrier: calls.Network{Host: host, Study: s}, Study: s}, signer, entries)
	if err == nil {
		err = calls.Covers(entries, kept)
	}
	var back *node.LedgerRolledBackError
	switch {
	case errors.As(err, &back):
		f.Verdict, f.Said, f.Fix = Fail, err.Error(), "restore the newest backup into a new directory before you run anything"
	case err != nil:
		f.Verdict, f.Said, f.Fix = Warn, err.Error(), connectionFix(err)
	case kept.Count == 0:
		return nil
	default:
		f.Said = fmt.Sprintf("releases that the aggregator knows of: %d; this ledger holds them", kept.Count)
	}
	return []Finding{f}
}

func (o DoctorOptions) address(ctx context.Context, host *p2p.Host, s *study.Study, addr string) (findings []Finding, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	reached, raw, err := host.Probe(ctx, s.Aggregator.ID, addr, calls.Hello, wire.EncodeHelloRequest(wire.HelloRequest{Study: s.ID, Name: s.Name}))
	add := func(check string, v Verdict, fix, format string, args ...any) {
		findings = append(findings, Finding{Check: check, Subject: addr, Verdict: v, Said: fmt.Sprintf(format, args...), Fix: fix})
	}
	if reached.Name != "" {
		if len(reached.Resolved) == 0 {
			add("name", Fail, "ask the operator for the right name, or this network for its name service", "%v", err)
			return findings, false
		}
		add("name", Pass, "", "%s is %s", reached.Name, strings.Join(reached.Resolved, ", "))
	}
	if reached.Transport == "" {
		check := "connection"
		if errors.Is(err, p2p.ErrRefusedPeer) { // closed so early that it looks like a failed connection
			check = "admission"
		}
		add(check, Fail, connectionFix(err), "%v", err)
		return findings, false
	}
	add("connection", Pass, "", "%s in %v, key exchange %s", reached.Transport, reached.Connected.Round(time.Millisecond), reached.KeyExchange)
	hello, err := greeted(raw, err)
	if err != nil {
		add("admission", Fail, connectionFix(err), "%v", err)
		return findings, false
	}
	if hello.Other != (protocol.StudyID{}) {
		add("admission", Fail, "compare the files: party and aggregator need the same one, byte for byte", "the aggregator hosts another file named %s: %s, here %s", s.Name, hello.Other.Short(), s.ID.Short())
		return findings, false
	}
	add("admission", Pass, "", "the aggregator hosts the study for this party; it answers in %v", reached.Answered.Round(time.Millisecond))
	if hello.Version == o.Version {
		add("version", Pass, "", "both are %s", o.Version)
	} else {
		add("version", Warn, "none while the study goes well; a study stops with exit code 8 where versions read it differently", "here %s, there %s", o.Version, hello.Version)
	}
	findings = append(findings, clock(addr, o.Now(), hello.Now))
	return findings, true
}

func greeted(raw []byte, err error) (wire.Hello, error) {
	if err != nil {
		return wire.Hello{}, err
	}
	return wire.DecodeHello(raw)
}

// connectionFix returns the remedy for an error of a call.
func connectionFix(err error) string {
	var refusal *p2p.Refusal
	switch {
	case errors.Is(err, p2p.ErrRefusedPeer):
		return "compare party identity with the study file that the aggregator was given"
	case errors.As(err, &refusal) && refusal.Code == p2p.CodeVersion:
		return "the aggregator runs an older program: update the older of the two"
	case errors.As(err, &refusal) && refusal.Code == p2p.CodeUnknownStudy:
		return "ask the operator to run aggregator study host with this very file"
	case errors.Is(err, p2p.ErrDates):
		return "compare this machine's clock with the time, and ask the operator to do the same; else a certificate has run out there"
	case errors.Is(err, p2p.ErrUncertified):
		return "the outer TLS is not certified for this machine: name the authority under network: roots"
	case errors.Is(err, p2p.ErrWrongPeer):
		return "ask the operator at which address aggregator serve listens; addresses are part of the study file, so where that is wrong a corrected file is a new study"
	case errors.Is(err, p2p.ErrUnreachable):
		return "is the aggregator serving there, and does the firewall let this port out? HTTPS_PROXY helps addresses that end in /tls/ws"
	}
	return "try again; then ask the operator for the aggregator's log"
}

func clock(addr string, here, there protocol.Instant) Finding {
	f := Finding{Check: "clock", Subject: addr, Verdict: Pass, Said: "the two clocks agree"}
	ahead := node.ClockOffset(here, there)
	if max(ahead, -ahead) <= node.Noticeable {
		return f
	}
	f.Verdict, f.Said = Warn, node.ClockOffsetText(ahead)
	f.Fix = "let a time service set it (timedatectl set-ntp true); deadlines are the aggregator's"
	if max(ahead, -ahead) > node.Harmful {
		f.Verdict = Fail
	}
	return f
}
