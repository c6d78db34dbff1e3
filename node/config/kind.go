package config

import (
	"fmt"
	"regexp"
)

// Kind says which of the files of this program one is, in words that go on after "it is".
type Kind string

// The kinds of files that are taken for each other; others have none.
const (
	KindStudy      Kind = "a study file, which study add takes in"
	KindParty      Kind = "a party's site file, which party --config names"
	KindAggregator Kind = "an aggregator's configuration, which aggregator --config names"
	KindColumns    Kind = "a column list, of which aggregator study new drafts a study"
	KindBundle     Kind = "a bundle, which import takes in"
	KindBackup     Kind = "a backup, of which restore makes a state directory"
	KindKey        Kind = "a key, which stays where it is and is given to nobody"
	KindDatabase   Kind = "a database"
)

// beginnings are how files of each kind begin, or what a line of them begins with.
var beginnings = []struct {
	kind Kind
	form *regexp.Regexp
}{
	{KindBundle, regexp.MustCompile(`\Acosketch bundle/`)},
	{KindBackup, regexp.MustCompile(`\Acosketch-backup\x00`)},
	{KindKey, regexp.MustCompile(`\A-----BEGIN `)},
	{KindDatabase, regexp.MustCompile(`\ASQLite format 3\x00`)},
	{KindColumns, regexp.MustCompile(`(?m)^cosketch: columns/`)},
	{KindStudy, regexp.MustCompile(`(?m)^cosketch: study/`)},
	{KindParty, regexp.MustCompile(`(?m)^(datasets|studies):`)},
	{KindAggregator, regexp.MustCompile(`(?m)^(listen|http|limits|analysis):`)},
}

// KindOf tells a file's kind by how it begins; empty where it is none of them.
func KindOf(text []byte) Kind {
	text = text[:min(len(text), maxBytes)]
	for _, b := range beginnings {
		if b.form.Match(text) {
			return b.kind
		}
	}
	return ""
}

// expect refuses a file of another kind than the one that is to be read. A file of no kind
// is for its parser to judge.
func (s source) expect(data []byte, want Kind) error {
	got, hint := KindOf(data), "--config names this node's own settings, of which config init writes an example"
	if want == KindColumns {
		hint = "party data columns writes a column list"
	}
	if got == "" || got == want {
		return nil
	}
	return fmt.Errorf("reading %s %s: it is %s; %s", s.what, s.path, got, hint)
}
