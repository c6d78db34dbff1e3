package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/aggregator"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/node/stored"
	"github.com/cosketch/cosketch/node/views"
	"github.com/cosketch/cosketch/protocol"
	"github.com/cosketch/cosketch/protocol/fail"
	studyfile "github.com/cosketch/cosketch/protocol/study/file"
	"github.com/cosketch/cosketch/protocol/wire"
)

// spoil adds to the aggregator a study with an unreadable board, and one with an unreadable file.
func (b *bench) spoil() (board, file protocol.StudyID) {
	b.t.Helper()
	st := b.open("agg")
	defer st.Close()
	source := strings.Replace(string(b.study.Source), "nonce: 0001", "nonce: ffff", 1)
	s, err := studyfile.Parse([]byte(source))
	check(b.t, err)
	check(b.t, st.PutStudy(s.ID, s.Source, b.now()))
	check(b.t, st.AppendBoard(s.ID, 0, [][]byte{{0xff}}, nil))
	file = protocol.StudyID{0xfe}
	check(b.t, st.PutStudy(file, []byte("cosketch: study/2"), b.now()))
	return s.ID, file
}

// A study that can no longer be read is shown as damaged and harms no other. Lists, readiness and
// the other studies go on. Its parties are told, and its operator can give it up.
func TestDamagedStudyHarmsNoOther(t *testing.T) {
	t.Parallel()
	b := newBench(t, smallSketch, uniform(50))
	board, file := b.spoil()
	beside := b.open("agg")
	defer beside.Close()
	views := views.New(beside)
	stop := b.serveObserved(views.Observe)
	defer stop()
	b.runAll(b.context(), b.parties...)

	all, err := views.Studies()
	check(t, err)
	if len(all) != 3 {
		t.Fatalf("%d studies are listed", len(all))
	}
	for _, l := range all {
		shown, err := views.Study(l.ID)
		if err != nil {
			t.Errorf("study %s: %v", l.ID.Short(), err)
			continue
		}
		damaged := l.ID != b.study.ID
		if shown.File.ID != l.ID || shown.Damaged != damaged || (shown.Status.State == stored.Damaged) != damaged || damaged && !strings.Contains(shown.Status.Trouble, "is damaged") {
			t.Errorf("study %s: %s %q, damaged %t", l.ID.Short(), shown.Status.State, shown.Status.Trouble, shown.Damaged)
		}
	}
	check(t, views.Ready())
	snapshots, err := console.Overview{Store: beside}.Snapshots()
	check(t, err)
	states := map[string]string{}
	for _, s := range snapshots {
		states[s.Study] = s.State
	}
	if states[board.String()] != stored.Damaged || states[file.String()] != stored.Damaged || states[b.study.ID.String()] == stored.Damaged {
		t.Errorf("status says %v", states)
	}

	a := b.hostile("a")
	told := func(want string) {
		t.Helper()
		_, err := a.call(b.context(), "read", wire.EncodeRead(wire.Read{Study: board}))
		var refusal *p2p.Refusal
		if !errors.As(err, &refusal) || refusal.Code != p2p.CodeRefused || !strings.Contains(refusal.Message, want) {
			t.Errorf("a party of it is told %v, want %q", err, want)
		}
	}
	told("is damaged at the aggregator")
	failures := func() (n int) {
		findings, err := local.Fsck(b.context(), local.FsckOptions{Store: beside, Role: store.Aggregator})
		check(t, err)
		for _, one := range findings {
			if one.Verdict == local.Fail {
				n++
			}
		}
		return n
	}
	if n := failures(); n != 2 {
		t.Errorf("fsck finds %d faults", n)
	}
	for _, id := range []protocol.StudyID{board, file} {
		got, err := aggregator.Cancel(b.context(), b.deskOptions(beside), beside, id, "lost")
		if err != nil || got.Damage == nil || got.Before || got.Stop.At == 0 {
			t.Fatalf("cancelling %s: %+v, %v", id.Short(), got, err)
		}
		again, err := aggregator.Cancel(b.context(), b.deskOptions(beside), beside, id, "other")
		if err != nil || !again.Before || again.Stop.At != got.Stop.At || again.Stop.Reason != got.Stop.Reason {
			t.Errorf("cancelling %s again: %+v, %v", id.Short(), again, err)
		}
		shown, err := views.Study(id)
		check(t, err)
		if shown.Status.Active() || shown.Status.Trouble != "" || !strings.Contains(shown.Status.Failure, `"lost"`) {
			t.Errorf("given up, %s is shown as %+v", id.Short(), shown.Status)
		}
	}
	told(`is over: cancelled by the aggregator's operator: "lost"`)
	if n := failures(); n != 0 {
		t.Errorf("fsck finds %d faults in what was given up", n)
	}
}

// The same command gives up a damaged study while no aggregator serves it.
func TestDamagedStudyIsGivenUpOffline(t *testing.T) {
	b := newBench(t, smallSketch, uniform(50))
	board, _ := b.spoil()
	st := b.open("agg")
	defer st.Close()
	if _, err := aggregator.OpenOffline(b.context(), b.deskOptions(st), board); !errors.As(err, new(*stored.DamagedError)) || fail.Find(err).Exit != fail.Usage {
		t.Errorf("opened with %v", err)
	}
	got, err := aggregator.Cancel(b.context(), b.deskOptions(st), st, board, "")
	if err != nil || got.Damage == nil || got.Name != "bench" {
		t.Fatalf("%+v, %v", got, err)
	}
	s, err := studyfile.Parse([]byte(strings.Replace(string(b.study.Source), "nonce: 0001", "nonce: ffff", 1)))
	check(t, err)
	if e, err := local.EndingOf(st, s); err != nil || !e.Over {
		t.Errorf("its ending: %+v, %v", e, err)
	}
}

// spoilFurther damages the files of a further result one by one. Only that result is lost, and
// named, until it is made again.
func (b *bench) spoilFurther(st *store.Store, name string, again func()) {
	b.t.Helper()
	for _, file := range []string{name, name + ".json"} {
		raw, err := st.Result(b.study.ID, file)
		check(b.t, err)
		check(b.t, st.PutResult(b.study.ID, file, append([]byte{raw[0] ^ 1}, raw[1:]...)))
		kept, damaged, err := stored.FurtherResults(st, b.study)
		if err != nil || len(kept) != 0 || len(damaged) != 1 {
			b.t.Errorf("%s is damaged: %d are read and %v are not, %v", file, len(kept), damaged, err)
		}
		shown, err := views.New(st).Study(b.study.ID)
		if err != nil || len(shown.Lost) != 1 || !strings.Contains(shown.Lost[0], "further result "+strings.TrimPrefix(name, "further-")[:8]) || len(shown.Results) != 1 {
			b.t.Errorf("%s is damaged: %d results are shown and %q are lost, %v", file, len(shown.Results), shown.Lost, err)
		}
		again()
		if kept, damaged, err := stored.FurtherResults(st, b.study); err != nil || len(kept) != 1 || len(damaged) != 0 {
			b.t.Errorf("%s was made again: %d are read and %v are not, %v", file, len(kept), damaged, err)
		}
	}
}
