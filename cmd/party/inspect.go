package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/node/console"
	"github.com/cosketch/cosketch/node/local"
	"github.com/cosketch/cosketch/node/present"
	"github.com/cosketch/cosketch/node/store"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/fail"
	"github.com/cosketch/cosketch/protocol/study"
)

type inspectCommand struct {
	Release string `arg:"" name:"study" help:"The beginning of the study's id; or the directory of a release of a study that is here, such as a copy of releases/ID of a state directory."`
}

// Run prints what a stored release says, and fails where it is damaged.
func (cmd inspectCommand) Run(c *console.Console, g *console.Globals) error {
	st, err := g.OpenReadOnly(store.Party)
	if err != nil {
		return err
	}
	defer st.Close()
	r, err := cmd.inspect(st)
	if err != nil {
		return err
	}
	if err := c.Print(r, func(w io.Writer) { writeInspection(w, r) }); err != nil {
		return err
	}
	if !r.Intact {
		return fail.Usage.Of(errors.New("the stored release is damaged: it is not what was signed (restore the state directory from a backup)"))
	}
	return nil
}

// inspect takes a directory, or a prefix of a stored study's id.
func (cmd inspectCommand) inspect(st *store.Store) (local.Inspection, error) {
	if info, err := os.Stat(cmd.Release); err == nil {
		dir := store.ReleaseDir(cmd.Release)
		if !info.IsDir() { // one of its files
			dir = store.ReleaseDir(filepath.Dir(cmd.Release))
		}
		return inspectDir(st, dir)
	}
	s, err := console.FindStudy(st, cmd.Release)
	if err != nil {
		return local.Inspection{}, err
	}
	r, err := local.Inspect(st, s)
	if errors.Is(err, store.ErrNotFound) {
		return r, fail.NoRelease.New(s.Name, s.ID.Short())
	}
	return r, err
}

// inspectDir inspects a release where it lies. What its numbers mean is in the study's
// file, which must be in the store.
func inspectDir(st *store.Store, dir store.ReleaseDir) (local.Inspection, error) {
	id, err := local.ReleasedStudy(dir)
	if err != nil {
		return local.Inspection{}, fail.Usage.Of(fmt.Errorf("%s holds no release: reading its header: %w", dir, err))
	}
	s, err := console.FindStudy(st, id.String())
	if err != nil {
		return local.Inspection{}, fmt.Errorf("the release in %s: %w", dir, err)
	}
	return local.InspectFiles(dir, s)
}

func writeInspection(w io.Writer, r local.Inspection) {
	present.Paragraph(w, "", fmt.Sprintf("%s (study %.8s): the release of %d records by %s.", r.Name, r.Study, r.Records, r.Party))
	fmt.Fprintf(w, "  signed header  %s\n  transcript T2  %s\n", r.Envelope, r.T2)
	if r.Person != nil {
		fmt.Fprintf(w, "  per person     %v, over all of the study's releases about one\n", dp.Budget{Epsilon: dp.Epsilon(*r.Person), Delta: dp.Delta(r.Delta)})
	}
	for i, s := range r.Sketches {
		fmt.Fprintln(w)
		writeSketch(w, i, s, r.Records)
	}
	fmt.Fprintln(w)
	present.Paragraph(w, "", "Not in it: record ids and the seed. "+order(r)+values(r))
}

// order says what nobody else learns about the rows of a records-side sketch.
func order(r local.Inspection) string {
	for _, s := range r.Sketches {
		if len(s.Beside) > 0 {
			return "In place of ids, rows have pseudonyms: the aggregator sees which records other parties have too, and with any one party's help whose they are. "
		}
		if s.Side == string(sketch.Records) {
			return "Which row is which record is in a file that stays here. "
		}
	}
	return ""
}

// values says whether single values are in the release, which noise decides.
func values(r local.Inspection) string {
	for _, s := range r.Sketches {
		if s.LabelsAs == study.LabelsPlain {
			return "EVERY RECORD'S LABEL is in it as it is: see above."
		}
		switch s.Mechanism {
		case string(dp.None):
			return "WITHOUT NOISE, values may be read from it: see above."
		case string(dp.RandomisedResponse):
			return "No raw value is in it: every bit was randomised before anything was computed with it."
		}
	}
	return "No raw value is in it: noise was added to every entry."
}

func writeSketch(w io.Writer, i int, s local.InspectedSketch, records int64) {
	shape := fmt.Sprintf("k = %d", s.K)
	if s.S > 0 {
		shape += fmt.Sprintf(", s = %d", s.S)
	}
	shape = s.Family + ", " + shape
	if s.Side == string(sketch.Moments) || s.Side == string(sketch.Cells) {
		shape = "sums over all records"
	}
	present.Paragraph(w, "", fmt.Sprintf("Sketch %d: %s side, %s: %d × %d entries of %d bytes, %d bytes; values of %d bits, scale %s.",
		i+1, s.Side, shape, s.Rows, s.Cols, s.Width, s.Bytes, s.Bits, block.Brief(s.Scale)))
	present.Paragraph(w, "  ", fmt.Sprintf("Mechanism %s: %s (variance %s).", s.Mechanism, s.Noise, block.Brief(s.Variance)))
	if s.Masked > 0 {
		present.Paragraph(w, "  ", fmt.Sprintf("Masked for the sum over %d members, of which this is one: what stands here are random words, that say nothing without the others'.", s.Masked))
	}
	if s.Labels != "" {
		present.Paragraph(w, "  ", "Last column: "+s.Labels+".")
	}
	present.Paragraph(w, "  ", s.Statement)
	if len(s.Beside) > 0 {
		present.Paragraph(w, "  ", "After the entries, for each row: "+strings.Join(s.Beside, ", ")+".")
	}
	if s.Clipped != nil {
		present.Paragraph(w, "  ", fmt.Sprintf("%d of %d records were longer than the clip and cut to it; this number stays here.", *s.Clipped, records))
	}
	if s.Exposure != "" {
		present.Paragraph(w, "  ", "What it gives away: "+s.Exposure+".")
	}
	t := present.NewTable(">chunk", "SHA-256", "stored file")
	for n, chunk := range s.Chunks {
		state := "OK"
		if !chunk.Intact {
			state = "DAMAGED"
		}
		t.Add(fmt.Sprint(n+1), chunk.SHA256, state)
	}
	t.Write(w)
	if !s.Intact {
		fmt.Fprintln(w, "  The stored file is DAMAGED: its entries are not shown.")
		return
	}
	if len(s.Histogram) == 0 {
		return // of masked entries, which are random words
	}
	bars := present.NewTable(">from", ">to", ">entries", "")
	var most int64 = 1
	for _, b := range s.Histogram {
		most = max(most, b.Count)
	}
	for _, b := range s.Histogram {
		bars.Add(fmt.Sprint(b.Low), fmt.Sprint(b.High), fmt.Sprint(b.Count), strings.Repeat("█", int(float64(b.Count)/float64(most)*30)))
	}
	bars.Write(w)
}
