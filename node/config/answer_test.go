package config

import (
	"os"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/node/dataset"
	"github.com/cosketch/cosketch/protocol"
)

func TestUseDataset(t *testing.T) {
	id, err := protocol.ParseStudyID(testID)
	if err != nil {
		t.Fatal(err)
	}
	datasets := "datasets: {patients: {source: x.csv}, visits: {source: y.csv}}\n"
	template := strings.Replace(PartyTemplate(), "datasets:\n", datasets, 1)
	plain := Answer{Dataset: "visits"}
	full := Answer{Dataset: "visits", Columns: map[string]string{"income": "INCOME: EUR", "age": "AGE"}, Release: ReleaseAsk}
	fields := `    dataset: visits
    columns: {age: AGE, income: "INCOME: EUR"}
    release: ask
`
	for name, c := range map[string]struct {
		before string
		answer Answer
		after  string
	}{
		"no studies": {datasets, plain, datasets + "studies:\n  " + testID + ":\n    dataset: visits\n"},
		"template":   {template, full, strings.Replace(template, "\nstudies:\n", "\nstudies:\n  "+testID+":\n"+fields, 1)},
		"again":      {datasets + "studies:\n  " + testID + ":\n" + fields, full, datasets + "studies:\n  " + testID + ":\n" + fields},
		"other data": {datasets + "studies:\n  " + testID + ":\n    dataset: patients # mine\n    release: ask\n", plain,
			datasets + "studies:\n  " + testID + ":\n    dataset: visits # mine\n    release: ask\n"},
		"more columns": {datasets + "studies:\n  " + testID + ":\n    dataset: patients\n    columns:\n      age: OLD\n", full,
			datasets + "studies:\n  " + testID + ":\n    release: ask\n    dataset: visits\n    columns:\n      income: \"INCOME: EUR\"\n      age: AGE\n"},
		"braces": {datasets + "studies: {" + testID + ": {dataset: patients}}\n", Answer{Dataset: "visits", Columns: map[string]string{"age": "AGE"}},
			datasets + "studies: {" + testID + ": {columns: {age: AGE}, dataset: visits}}\n"},
	} {
		path := write(t, c.before)
		if _, err := UseDataset(path, id, c.answer); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, _ := os.ReadFile(path)
		if string(got) != c.after {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.after)
		}
	}
	// What cannot be edited, or refers to nothing, is left unchanged.
	for name, c := range map[string]struct {
		before, dataset, want string
	}{
		"quoted":     {datasets + "studies:\n  " + testID + ":\n    dataset: \"patients\"\n", "visits", "Write into it:\nstudies:\n  " + testID + ":\n    dataset: visits\n"},
		"no dataset": {datasets, "visit", `dataset "visit" is not in`},
	} {
		path := write(t, c.before)
		if _, err := UseDataset(path, id, Answer{Dataset: c.dataset}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if got, _ := os.ReadFile(path); string(got) != c.before {
			t.Errorf("%s: the file was changed:\n%s", name, got)
		}
	}
	if err := full.Check([]string{"ages", "income"}); err == nil || !strings.Contains(err.Error(), `did you mean "ages"?`) {
		t.Errorf("a column that the study does not ask: %v", err)
	}
	if err := full.Check([]string{"age", "income"}); err != nil {
		t.Error(err)
	}
}

func TestAddDatabase(t *testing.T) {
	for _, q := range []dataset.SQL{
		{Driver: dataset.SQLite, Database: "/srv/a #1.db", Query: "SELECT \"a\", b\nFROM t WHERE c = 'x: {y}'"},
		{Driver: dataset.PostgreSQL, DSN: dataset.Secret{Env: "CLINIC_DSN"}, Query: "SELECT 1"},
		{Driver: dataset.PostgreSQL, DSN: dataset.Secret{File: "/srv/dsn"}, Query: "TABLE"},
	} {
		path := write(t, PartyTemplate())
		if _, err := AddDataset(path, Dataset{Name: "clinic", Source: dataset.Source{SQL: &q}, ID: []string{"a"}}, nil); err != nil {
			t.Errorf("%s: %v", q.Query, err)
			continue
		}
		if p, err := LoadParty(path); err != nil || *p.Datasets["clinic"].Source.SQL != q {
			t.Errorf("%+v, %v", p.Datasets, err)
		}
	}
}
