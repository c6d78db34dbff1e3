package console

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cosketch/cosketch/kernel/dp"
	"github.com/cosketch/cosketch/protocol/analysis"
	"github.com/cosketch/cosketch/protocol/study"
)

// writeResult prints a result for people, in lines of at most 100 columns: who is in
// it, what was promised, then the numbers with their intervals. The document comes
// from an aggregator, so nothing in it is taken to be sound: indices may point
// nowhere, and text is made printable.
func writeResult(w io.Writer, r analysis.Result) {
	if nothing := r.Nothing(); nothing != "" {
		Paragraph(w, "", nothing)
		fmt.Fprintln(w)
	}
	Paragraph(w, "", headline(r))
	fmt.Fprintln(w)
	parties := NewTable("party", ">records", ">shipped")
	for _, p := range r.Parties {
		parties.Add(p.Name, strconv.FormatInt(p.Records, 10), bytesText(p.Bytes))
	}
	parties.Write(w)
	writePromises(w, r)
	for _, a := range r.Analyses {
		writeAnalysis(w, a)
	}
}

// headline answers what most readers want to know first.
func headline(r analysis.Result) string {
	text := fmt.Sprintf("%s (study %.8s): %d of %d parties are in this result", r.Name, r.Study, len(r.Parties), len(r.Parties)+len(r.Absent))
	if len(r.Absent) > 0 {
		text += "; without " + strings.Join(r.Absent, ", ")
	}
	if m := r.Masked; m != nil {
		text += fmt.Sprintf("; masked: the aggregator saw their sum alone, if no more than %d of them collude with it", m.Colluding)
	}
	for _, s := range r.Sketches {
		if s.Mechanism == string(dp.None) {
			return text + ". NOTHING WAS PROMISED: the sketches carry no noise."
		}
	}
	return text + "."
}

// writePromises says for each sketch how it was made, and what was promised.
func writePromises(w io.Writer, r analysis.Result) {
	fmt.Fprintln(w)
	t := NewTable(">sketch", "side", "family", ">k", "noise", "unit", ">ε", ">δ", ">ε per person")
	for i, s := range r.Sketches {
		epsilon, delta, person := "none", "none", "none"
		if s.Mechanism != string(dp.None) {
			epsilon, delta = dp.AtMost(s.Epsilon, 4), dp.AtMost(s.Delta, 4)
		}
		if s.EpsilonPerPerson != nil {
			person = dp.AtMost(*s.EpsilonPerPerson, 4)
		}
		t.Add(strconv.Itoa(i+1), s.Side, s.Family, strconv.Itoa(s.K), s.Mechanism, s.Unit, epsilon, delta, person)
	}
	t.Write(w)
	for _, text := range r.Promises() {
		Paragraph(w, "  ", text)
	}
}

// Brief prints a number with at most four significant digits.
func Brief(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

func writeAnalysis(w io.Writer, a analysis.Analysis) {
	fmt.Fprintln(w)
	if caution := a.Warned(); caution != "" {
		Paragraph(w, "", fmt.Sprintf("CAUTION, %s: %s", a.Kind, caution))
	}
	Paragraph(w, "", title(a))
	if a.Undefined != "" {
		Paragraph(w, "  ", "no answer: "+a.Undefined)
		return
	}
	if nothing := a.Nothing(); nothing != "" {
		Paragraph(w, "  ", nothing)
	}
	if a.Joined != nil {
		writeJoined(w, *a.Joined)
	}
	switch {
	case a.KMeans != nil:
		writeClusters(w, *a.KMeans)
		return
	case a.Neighbors != nil:
		writeNeighbors(w, a)
		return
	case a.Outliers != nil:
		writeOutliers(w, a)
		return
	}
	if a.Classifier != nil {
		writeClassifier(w, *a.Classifier)
		return
	}
	if writeColumns(w, a) {
		return
	}
	if a.CellMeans != nil {
		writeCellMeans(w, a)
		return
	}
	if a.Means != nil {
		writeMeans(w, a)
		return
	}
	if a.RecordDistances != nil && len(a.Features) > len(a.RecordDistances.Records) {
		Paragraph(w, "  ", "Records are named by their party and their row in its release, from 0; a party's name alone stands for the mean of its records.")
	} else if a.RecordDistances != nil {
		Paragraph(w, "  ", "Records are named by their party and their row in its release, from 0.")
	}
	if a.Dense != nil {
		writeDense(w, a)
	} else {
		writePairs(w, a, a.Pairs)
	}
	if len(a.Shifts) > 0 {
		Paragraph(w, "", "Squared distances between the mean records of two parties:")
		writePairs(w, a, a.Shifts)
	}
	if a.Repaired != nil {
		writeRepaired(w, *a.Repaired)
	}
}

// title says what was computed, in which units, and what intervals and estimates
// hold for.
func title(a analysis.Analysis) string {
	text := strings.ToUpper(string(a.Kind))
	units, meaning, explained := strings.Cut(a.Units, ":")
	if units != "" {
		text += ", in " + units + " units"
	}
	if explained {
		text += " (" + strings.TrimSpace(meaning) + ")"
	}
	switch {
	case a.Level != 0 && a.Intervals == study.IntervalsAll:
		text += fmt.Sprintf(", with %s %% intervals that hold all together (each by itself at %.6g %%)", Brief(100*a.Level), 100*a.EachLevel)
	case a.Level != 0:
		text += fmt.Sprintf(", with %s %% intervals", Brief(100*a.Level))
	}
	text += "."
	if covered := a.Covered(); covered != "" {
		text += " " + covered
	}
	if assumes := a.Assumes(); assumes != "" {
		text += " " + assumes
	}
	return text
}

// writeRepaired says that there is a repaired matrix and how far it is from the
// estimates, which it must not be taken for. Its entries are in the document.
func writeRepaired(w io.Writer, r analysis.Repaired) {
	if r.Undefined != "" {
		Paragraph(w, "  ", fmt.Sprintf("%s is undefined: %s", r.Name, r.Undefined))
		return
	}
	text := fmt.Sprintf("%s (in the document) is the nearest matrix without negative eigenvalues. ", r.Name)
	if r.Negative == 0 {
		text += "The estimates have none either, so both are equal. "
	} else {
		text += fmt.Sprintf("The estimates have %d, the least %s. The two matrices differ by %s, %.2g %% of the estimates (Frobenius norm, encoded units). ",
			r.Negative, threeDigits(r.Least), threeDigits(r.Moved), 100*r.Moved/r.Norm)
	}
	Paragraph(w, "  ", text+r.Statement)
}

func threeDigits(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }

// mostRows bounds how many rows of one analysis are printed.
const mostRows = 20

// writeJoined says which records an answer is about, of how many.
func writeJoined(w io.Writer, j analysis.Joined) {
	var parts []string
	for i, n := range j.In {
		switch {
		case i == len(j.In)-1:
			parts = append(parts, fmt.Sprintf("%d in all %d", n, i+1))
		case i == 0:
			parts = append(parts, fmt.Sprintf("%d in one party's release alone", n))
		default:
			parts = append(parts, fmt.Sprintf("%d in those of %d", n, i+1))
		}
	}
	about := "records that every party has"
	if j.Join == study.JoinAny {
		about = "records that some party has; for a party that lacks one, its columns count as their centres"
	}
	Paragraph(w, "  ", fmt.Sprintf("About %d records: %s. There are %s.", j.Records, about, strings.Join(parts, ", ")))
}

// writePairs prints the first pairs of those that can be told from 0 most clearly; last come
// those without an answer.
func writePairs(w io.Writer, a analysis.Analysis, pairs []analysis.Pair) {
	people := a.People()
	t := NewTable(heads(people, "of", "and", ">estimate")...)
	var undefined []string
	for _, p := range a.Clearest(pairs)[:min(len(pairs), mostRows)] {
		number, between := "undefined", ""
		switch {
		case p.Estimate == nil && !slices.Contains(undefined, p.Undefined):
			undefined = append(undefined, p.Undefined)
		case p.Estimate != nil && p.Low != nil && p.High != nil:
			number, between = interval(*p.Estimate, *p.Low, *p.High)
		}
		if a.Unanswered(p.Number) {
			number = "no answer"
		}
		other := "itself"
		if p.I != p.J {
			other = featureText(a.Features, p.J)
		}
		t.Add(cells(people, p.Number, featureText(a.Features, p.I), other, number, between)...)
	}
	t.Write(w)
	for _, why := range undefined {
		Paragraph(w, "  ", "undefined: "+why)
	}
	omitted(w, len(pairs), "pairs, the clearest first")
}

// writeDense prints the clearest pairs of a dense table, and counts the others.
func writeDense(w io.Writer, a analysis.Analysis) {
	g := a.Dense.Gist
	writePairs(w, a, g.Clearest[:min(len(g.Clearest), mostRows)])
	Paragraph(w, "  ", fmt.Sprintf("… the clearest of %d pairs of different %s: %d clearly differ from 0, %d are undefined. All %d pairs are in %s beside the document: -o DIR writes them as an array, with --format csv or parquet as a table.",
		g.Compared, a.Compared(), g.Clear, g.Undefined, a.Dense.Pairs, bytesText(a.Dense.Bytes())))
}

func omitted(w io.Writer, count int, what string) {
	if count > mostRows {
		fmt.Fprintf(w, "  … %d of %d %s; --format json prints all\n", mostRows, count, what)
	}
}

// featureText names a row or column of a matrix of pairs; "?" where the document
// names none.
func featureText(features []analysis.Feature, at int) string {
	if at < 0 || at >= len(features) {
		return "?"
	}
	f := features[at]
	name := f.Column
	if f.Value != "" {
		name += "=" + f.Value
	}
	switch {
	case f.Party == "":
		return name
	case name == "":
		return f.Party
	}
	return f.Party + ": " + name
}

// bytesText shows a number of bytes.
func bytesText(n int64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
