package fail_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cosketch/cosketch/protocol/fail"
)

func TestCodes(t *testing.T) {
	said := map[string]bool{}
	for i, c := range fail.Codes() {
		if c.Exit != fail.Signal && int(c.Exit) != i || c.ID == "" || c.Do == "" || said[c.Says] {
			t.Errorf("code %d is %+v", i, c)
		}
		said[c.Says] = true
	}
}

var (
	kebab  = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	verb   = regexp.MustCompile(`%[^%]*?[a-z]`)
	proper = regexp.MustCompile(`^%[.0-9]*\[[1-9]\][dqsv]$`)
)

func TestRows(t *testing.T) {
	ids := map[fail.ID]bool{}
	for _, c := range fail.Codes() {
		ids[c.ID] = true
	}
	says := map[string]bool{}
	for _, r := range fail.Rows() {
		if !kebab.MatchString(string(r.ID)) || ids[r.ID] {
			t.Errorf("id %q is taken, or not of words and hyphens", r.ID)
		}
		ids[r.ID] = true
		if r.Message == "" || says[r.Message] && !strings.HasPrefix(r.Message, "%") {
			t.Errorf("%s says %q, as another does", r.ID, r.Message)
		}
		says[r.Message] = true
		if !slices.ContainsFunc(fail.Codes()[1:], func(c fail.Code) bool { return c.Exit == r.Exit }) {
			t.Errorf("%s has exit code %d", r.ID, r.Exit)
		}
		for _, v := range verb.FindAllString(r.Message+" "+r.Remedy, -1) {
			if !proper.MatchString(v) {
				t.Errorf("%s has the argument %q, without its number", r.ID, v)
			}
		}
		full := r.ID.New("A", "B", "C", "D", "E").Error()
		if strings.Contains(full, "EXTRA") || strings.Contains(full, "MISSING") || strings.Contains(full, "BADINDEX") {
			t.Errorf("%s says %q", r.ID, full)
		}
		if found := fail.Find(r.ID); found.ID != r.ID || found.Exit != r.Exit {
			t.Errorf("%s is found as %+v", r.ID, found)
		}
		if !fail.Has(fmt.Errorf("doing it: %w", r.ID), r.ID) || !errors.Is(fmt.Errorf("doing it: %w", r.ID.New()), r.ID) || errors.Is(r.ID.New(), fail.ID("another")) {
			t.Errorf("%s is not found within another error", r.ID)
		}
	}
}

// typed is an error with fields.
type typed struct {
	dataset string
	cause   error
}

func (e *typed) Error() string     { return e.Fail().Error() }
func (e *typed) Fail() *fail.Error { return fail.NoBudget.Of(e.cause, e.dataset, "record") }
func (e *typed) Unwrap() error     { return e.cause }

// below is an error of a package that does not know the catalogue.
type below struct{}

func (below) Error() string  { return "the seeds differ" }
func (below) FailID() string { return string(fail.OtherSeed) }

const (
	noBudget = `dataset "d" has no cap, so nothing of it may be released with noise`
	capping  = "party advanced budget cap d record EPSILON DELTA"
)

// The outermost error of the catalogue counts, unless its row yields to an inner one. The remedy is
// the outermost there is, and is printed once.
func TestFind(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("doing it: %w", err) }
	status := fail.NoSeed.Remedy()
	for name, c := range map[string]struct {
		err  error
		want fail.ID
		exit fail.Exit
		hint string
		text string
	}{
		"unknown":                {errors.New("surprise"), "internal", fail.Internal, "", "surprise"},
		"a sentinel":             {wrap(fail.NoSeed), fail.NoSeed, fail.Absent, status, "doing it: " + fail.NoSeed.Error() + " (" + status + ")"},
		"with its values":        {wrap(fail.NoBudget.New("d", "record")), fail.NoBudget, fail.Budget, capping, "doing it: " + noBudget + " (" + capping + ")"},
		"of a type":              {wrap(&typed{dataset: "d"}), fail.NoBudget, fail.Budget, capping, "doing it: " + noBudget + " (" + capping + ")"},
		"with a cause":           {&typed{"d", errors.New("no site file")}, fail.NoBudget, fail.Budget, capping, noBudget + ": no site file (" + capping + ")"},
		"with its own remedy":    {fail.NoState.Of(errors.New("x is a file")).With("name a directory"), fail.NoState, fail.Usage, "name a directory", "no state directory: x is a file (name a directory)"},
		"from below":             {wrap(below{}), fail.OtherSeed, fail.Disagreement, fail.OtherSeed.Remedy(), "doing it: the seeds differ (" + fail.OtherSeed.Remedy() + ")"},
		"the outermost":          {fmt.Errorf("%w: %w", fail.Withdrawn, &typed{dataset: "d"}), fail.Withdrawn, fail.Refused, fail.Withdrawn.Remedy(), ""},
		"the first":              {errors.Join(fail.NothingHeld, fail.Withdrawn), fail.NothingHeld, fail.Absent, fail.NothingHeld.Remedy(), ""},
		"one that yields":        {fail.SiteFile.Of(&typed{dataset: "d"}), fail.NoBudget, fail.Budget, capping, ""},
		"yields to what is true": {fail.PeerFault.Of(fail.OtherBoard), fail.OtherBoard, fail.Disagreement, fail.OtherBoard.Remedy(), ""},
		"and to that alone":      {fail.PeerFault.Of(fail.NotInStore), fail.PeerFault, fail.Failed, fail.NotInStore.Remedy(), ""},
		"over two":               {fail.StudyFailed.Of(fail.PeerFault.Of(below{})), fail.OtherSeed, fail.Disagreement, fail.OtherSeed.Remedy(), ""},
		"nothing to yield to":    {fail.StudyFailed.Of(errors.New("x")), fail.StudyFailed, fail.Failed, "", ""},
		"a wait":                 {fail.Waited.Of(fail.Unreachable, "it"), fail.Waited, fail.Absent, fail.Unreachable.Remedy(), ""},
		"a wait for a decision":  {fail.Waited.Of(fail.NotApproved, "it"), fail.NotApproved, fail.Refused, fail.NotApproved.Remedy(), ""},
		"a wait, not admitted":   {fail.Waited.Of(fail.NotAdmitted, "it"), fail.NotAdmitted, fail.Connection, fail.NotAdmitted.Remedy(), ""},
		"a code":                 {fail.Refused.Of(errors.New("no")), "refused", fail.Refused, "", "no"},
		"a code of an error":     {wrap(fail.Usage.Of(wrap(fail.NoSeed))), fail.NoSeed, fail.Usage, status, "doing it: doing it: " + fail.NoSeed.Error() + " (" + status + ")"},
		"a code inside":          {fail.SiteFile.Of(fail.Budget.Of(errors.New("no"))), "budget", fail.Budget, "", ""},
		"a full disk":            {wrap(&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), fail.DiskFull, fail.Usage, fail.DiskFull.Remedy(), ""},
		"no room for this user":  {syscall.EDQUOT, fail.DiskFull, fail.Usage, fail.DiskFull.Remedy(), ""},
		"a disk that is locked":  {syscall.EROFS, fail.DiskReadOnly, fail.Usage, fail.DiskReadOnly.Remedy(), ""},
		"a disk that fails":      {syscall.EIO, fail.DiskFails, fail.Internal, fail.DiskFails.Remedy(), ""},
		"somebody's file":        {wrap(&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}), fail.NotPermitted, fail.Usage, fail.NotPermitted.Remedy(), ""},
		"interrupted":            {wrap(context.Canceled), fail.Cancelled, fail.Absent, "", ""},
		"out of time":            {context.DeadlineExceeded, fail.OutOfTime, fail.Absent, fail.OutOfTime.Remedy(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := fail.Find(c.err)
			if got.ID != c.want || got.Exit != c.exit || got.Hint != c.hint {
				t.Errorf("%v is %+v, want %s, %d, %q", c.err, got, c.want, c.exit, c.hint)
			}
			text := fail.Text(c.err)
			if c.text != "" && text != c.text {
				t.Errorf("it says\n%s, want\n%s", text, c.text)
			}
			if strings.Count(text, c.hint) != 1 && c.hint != "" {
				t.Errorf("%q does not say once %q", text, c.hint)
			}
		})
	}
	if got := fail.Find(nil); got.Exit != fail.OK || got.ID != "done" {
		t.Errorf("no error is %+v", got)
	}
}

// A row without values shows … in their place.
func TestGeneric(t *testing.T) {
	if got := fail.NoBudget.Error(); got != "dataset … has no cap, so nothing of it may be released with noise" {
		t.Errorf("it says %q", got)
	}
	if got := fail.NoBudget.Remedy(); got != "party advanced budget cap … … EPSILON DELTA" {
		t.Errorf("it proposes %q", got)
	}
}
