package local

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/block"
	"github.com/cosketch/cosketch/protocol/study"
)

// Findings shows checks in their order, under their subjects.
func Findings(all []Finding) (out []block.Block) {
	subject, checks := "", block.Checks{}
	for _, f := range all {
		if f.Subject != subject && f.Subject != "" {
			if len(checks.Items) > 0 {
				out = append(out, checks)
			}
			subject, checks = f.Subject, block.Checks{}
			out = append(out, block.Text{Text: subject})
		}
		checks.Items = append(checks.Items, block.Check{Verdict: string(f.Verdict), Text: f.Check + ": " + f.Said, Fix: f.Fix})
	}
	return append(out, checks)
}

// said collects blocks.
type said []block.Block

func (s *said) say(format string, args ...any) {
	*s = append(*s, block.Text{Text: fmt.Sprintf(format, args...)})
}

// size describes the size of a sketch.
func size(rows, cols int64, width int, bytes int64) string {
	return fmt.Sprintf("%d × %d entries of %s, %s", rows, cols, block.Bytes(int64(width)), block.Bytes(bytes))
}

// Blocks shows what would be released, what the study does to the data, and what that costs.
func (r Rehearsal) Blocks() []block.Block {
	var out said
	out.say("%s (study %.8s): %s would leave, made of %s of dataset %q; %s left out for a missing value.",
		r.Name, r.Study, block.Bytes(r.Bytes), block.Counted(r.Records, "record", "records"), r.Dataset, block.Counted(r.Skipped, "record", "records"))
	for i, s := range r.Sketches {
		out = append(out, study.SketchHeading(i, sketch.Side(s.Side), s.Projection))
		out.say("%s; %s clipped.", size(s.Rows, s.Cols, s.Width, s.Bytes), block.Counted(s.Clipped, "record", "records"))
		where := "entry"
		if s.Bits {
			where = "bit"
		}
		out.say("%s: a standard deviation of %s units in each %s.", capital(s.Noise), block.Brief(s.Deviation), where)
		if s.Labels != "" {
			out.say("Last column: %s.", s.Labels)
		}
		out.say("%s", s.Statement)
	}
	out = append(append(out, block.Heading{ID: "effect", Text: "What the study does to the data"}), r.Effect.Blocks()...)
	out = append(out, block.Heading{ID: "budget", Text: "Budget"}, Spendings(r.Budget))
	t := r.Seconds
	out.say("Reading and projecting took %.2f s (%.2f s of it projecting), noise %.2f s, encoding %.2f s.", t.Pass, t.Project, t.Noise, t.Encode)
	out.say("%s Nothing was spent, nothing is kept, nothing has left.", Allowed(r.Allowed))
	return out
}

// Allowed says whether a release would be allowed.
func Allowed(allowed bool) string {
	if allowed {
		return "Policy and budget would allow the release."
	}
	return "Policy or budget would refuse the release."
}

// Spending is the total budget of a dataset's releases, before and after a study.
type Spending struct {
	Dataset string   `json:"dataset"`
	Unit    dp.Unit  `json:"unit"`
	Delta   float64  `json:"delta"`  // for both ε
	Before  *float64 `json:"before"` // null: unbounded
	After   *float64 `json:"after"`
	Cap     *float64 `json:"cap"` // null: counted but not limited
}

// Refused reports whether the cap forbids the spending.
func (s Spending) Refused() bool {
	return s.Cap != nil && (s.After == nil || *s.After > *s.Cap*(1+1e-9))
}

// Spendings is a table of spendings.
func Spendings(all []Spending) block.Table {
	t := block.Table{Columns: block.Headed("dataset", "unit", ">ε before", ">ε after", ">of cap", ">at δ", ""), AllRows: true}
	for _, s := range all {
		note := ""
		if s.Refused() {
			note = "REFUSED: above the cap"
		}
		t.Rows = append(t.Rows, block.Cells(s.Dataset, string(s.Unit), Spent(s.Before), Spent(s.After), Capped(s.Cap), block.Brief(s.Delta), note))
	}
	return t
}

// Spent formats an ε, rounded up; nil is infinite.
func Spent(epsilon *float64) string {
	if epsilon == nil {
		return "unbounded"
	}
	return dp.AtMost(*epsilon, 4)
}

// Capped formats a cap on ε; nil means no cap.
func Capped(epsilon *float64) string {
	if epsilon == nil {
		return "no cap"
	}
	return block.Brief(*epsilon)
}

// capital capitalises the first character, which must be ASCII.
func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return string(text[0]-'a'+'A') + text[1:]
}

// Blocks shows what a release holds and whether it matches its signature.
func (r Inspection) Blocks() []block.Block {
	var out said
	out.say("%s (study %.8s): the release of %s by %s.", r.Name, r.Study, block.Counted(r.Records, "record", "records"), r.Party)
	facts := block.Facts{Items: []block.Fact{{Name: "signed header", Text: r.Envelope, Code: true}, {Name: "transcript T2", Text: r.T2, Code: true}}}
	if r.Person != nil {
		facts.Items = append(facts.Items, block.Fact{Name: "per person", Text: dp.Budget{Epsilon: dp.Epsilon(*r.Person), Delta: dp.Delta(r.Delta)}.String(), More: "over all of the study's releases about one"})
	}
	out = append(out, facts)
	out.say("Not in it: record ids and the seed. %s%s", r.order(), r.values())
	for i, s := range r.Sketches {
		out = append(append(out, study.SketchHeading(i, sketch.Side(s.Side), s.Projection)), s.blocks(r.Records)...)
	}
	return out
}

// order says what nobody else learns about the rows of a records-side sketch.
func (r Inspection) order() string {
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

// values says whether single values can be read from the release, which depends on the noise.
func (r Inspection) values() string {
	for _, s := range r.Sketches {
		if s.LabelsAs == study.LabelsPlain {
			return "EVERY RECORD'S LABEL is in it as it is: see below."
		}
		switch s.Mechanism {
		case string(dp.None):
			return "WITHOUT NOISE, values may be read from it: see below."
		case string(dp.RandomisedResponse):
			return "No raw value is in it: every bit was randomised before anything was computed with it."
		}
	}
	return "No raw value is in it: noise was added to every entry."
}

func (s InspectedSketch) blocks(records int64) []block.Block {
	var out said
	out.say("%s; values of %d bits, scale %s.", size(s.Rows, s.Cols, s.Width, s.Bytes), s.Bits, block.Brief(s.Scale))
	out.say("Mechanism %s: %s (variance %s).", s.Mechanism, s.Noise, block.Brief(s.Variance))
	if s.Masked > 0 {
		out.say("Masked for the sum over %d members, of which this is one: what stands here are random words, that say nothing without the others'.", s.Masked)
	}
	if s.Labels != "" {
		out.say("Last column: %s.", s.Labels)
	}
	out.say("%s", s.Statement)
	if len(s.Beside) > 0 {
		out.say("After the entries, for each row: %s.", strings.Join(s.Beside, ", "))
	}
	if s.Clipped != nil {
		out.say("%d of %d records were longer than the clip and cut to it; this number stays here.", *s.Clipped, records)
	}
	if s.Exposure != "" {
		out.say("What it gives away: %s.", s.Exposure)
	}
	count := func(n int64) string { return strconv.FormatInt(n, 10) }
	chunks := block.Table{Columns: block.Headed(">chunk", "SHA-256", "stored file"), AllRows: true}
	for n, chunk := range s.Chunks {
		state := "OK"
		if !chunk.Intact {
			state = "DAMAGED"
		}
		chunks.Rows = append(chunks.Rows, block.Cells(count(int64(n+1)), chunk.SHA256, state))
	}
	out = append(out, chunks)
	if !s.Intact {
		return append(out, block.Text{Tone: block.Warn, Text: "The stored file is DAMAGED: its entries are not shown."})
	}
	if len(s.Histogram) == 0 {
		return out // masked entries are random words
	}
	bars := block.Table{Columns: block.Headed(">from", ">to", ">entries", ""), AllRows: true}
	var most int64
	for _, b := range s.Histogram {
		most = max(most, b.Count)
	}
	for _, b := range s.Histogram {
		bars.Rows = append(bars.Rows, block.Cells(count(b.Low), count(b.High), count(b.Count), block.BarText(b.Count, most)))
	}
	return append(out, bars)
}
