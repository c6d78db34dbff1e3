package console

import (
	"cmp"
	"fmt"
	"io"
	"math"
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
			epsilon, delta = Brief(s.Epsilon), Brief(s.Delta)
		}
		if s.EpsilonPerPerson != nil {
			person = Brief(*s.EpsilonPerPerson)
		}
		t.Add(strconv.Itoa(i+1), s.Side, s.Family, strconv.Itoa(s.K), s.Mechanism, s.Unit, epsilon, delta, person)
	}
	t.Write(w)
	said := map[string]bool{}
	for _, s := range r.Sketches {
		if !said[s.Statement] {
			said[s.Statement] = true
			Paragraph(w, "  ", s.Statement)
		}
	}
}

// Brief prints a number with at most four significant digits.
func Brief(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

func writeAnalysis(w io.Writer, a analysis.Analysis) {
	fmt.Fprintln(w)
	Paragraph(w, "", title(a))
	if a.Undefined != "" {
		Paragraph(w, "  ", "no answer: "+a.Undefined)
		return
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
	writePairs(w, a, a.Pairs)
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
	if a.Assumption == "" {
		return text + "."
	}
	who, assumes := "It", "assumes that "
	if a.Estimator != "" {
		who = "Estimator " + string(a.Estimator)
	}
	if strings.HasPrefix(a.Assumption, "nothing") {
		assumes = "assumes "
	}
	return text + ". " + who + " " + assumes + a.Assumption + "."
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
		text += "The estimates have none, so it is equal to them. "
	} else {
		text += fmt.Sprintf("The estimates have %d, the least %s; it is %s away from them, %.2g %% of their size (Frobenius norm, encoded units). ",
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

func writePairs(w io.Writer, a analysis.Analysis, pairs []analysis.Pair) {
	t := NewTable("of", "and", ">estimate", ">interval")
	var undefined []string
	first, order := strongest, "the strongest"
	if a.Units != "" { // sizes in different units say little beside each other
		first, order = clearest, "the clearest"
	}
	for _, p := range first(pairs) {
		number, between := "undefined", ""
		switch {
		case p.Estimate == nil && !slices.Contains(undefined, p.Undefined):
			undefined = append(undefined, p.Undefined)
		case p.Estimate != nil && p.Low != nil && p.High != nil:
			number, between = interval(*p.Estimate, *p.Low, *p.High)
		}
		other := "itself"
		if p.I != p.J {
			other = featureText(a.Features, p.J)
		}
		t.Add(featureText(a.Features, p.I), other, number, between)
	}
	t.Write(w)
	for _, why := range undefined {
		Paragraph(w, "  ", "undefined: "+why)
	}
	omitted(w, len(pairs), "pairs, "+order+" first")
}

func omitted(w io.Writer, count int, what string) {
	if count > mostRows {
		fmt.Fprintf(w, "  … %d of %d %s; --format json prints all\n", mostRows, count, what)
	}
}

// strongest returns the pairs of greatest absolute estimate, the first first.
func strongest(all []analysis.Pair) []analysis.Pair {
	return greatest(all, func(estimate, _ float64) float64 { return estimate })
}

// clearest returns the pairs whose estimate is largest beside its interval.
func clearest(all []analysis.Pair) []analysis.Pair {
	return greatest(all, func(estimate, width float64) float64 { return estimate / width })
}

func greatest(all []analysis.Pair, of func(estimate, width float64) float64) []analysis.Pair {
	size := func(p analysis.Pair) float64 {
		if p.Estimate == nil || p.Low == nil || p.High == nil {
			return -1
		}
		return math.Abs(of(*p.Estimate, *p.High-*p.Low))
	}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b analysis.Pair) int { return cmp.Compare(size(b), size(a)) })
	return sorted[:min(len(sorted), mostRows)]
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
