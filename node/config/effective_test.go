package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSettingsSayWhereTheyComeFrom(t *testing.T) {
	home(t)
	path := write(t, "datasets:\n  a:\n    source: [x.csv, y.csv]\n    caps: {record: {epsilon: 2}}\nlog:\n  level: warn\n")
	got, err := PartySettings(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []Setting{
		{"datasets.a.source", "[x.csv, y.csv]", path + ":3"},
		{"datasets.a.caps.record.epsilon", "2", path + ":4"},
		{"log.level", "warn", path + ":6"},
		{"approval.second", "nobody", FromDefault},
		{"network.roots", "the system's", FromDefault},
		{"metrics", "off", FromDefault},
		{"log.format", "text on a terminal, else json", FromDefault},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if _, err := PartySettings(write(t, "loq: {}\n")); err == nil || !strings.Contains(err.Error(), `did you mean "log"?`) {
		t.Errorf("a misspelt key: %v", err)
	}
	if _, err := AggregatorSettings(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that is not there was read")
	}
}

// The template is the manual: its defaults are those of the settings, and it lists all.
func TestTheTemplateShowsEveryDefault(t *testing.T) {
	home(t)
	path := write(t, uncomment(AggregatorTemplate()))
	filesBeside(t, path)
	shown, err := AggregatorSettings(path)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := AggregatorSettings("")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"url", "secret", "events"} { // from an example, since hooks have names
		before := len(shown)
		if shown = slices.DeleteFunc(shown, func(s Setting) bool { return s.Key == "webhooks.portal."+key }); len(shown) != before-1 {
			t.Errorf("the template does not show %s of a webhook", key)
		}
	}
	for _, d := range defaults {
		i := slices.IndexFunc(shown, func(s Setting) bool { return s.Key == d.Key })
		switch {
		case shown[i].Origin == FromDefault:
			t.Errorf("the template does not show %s", d.Key)
		case shown[i].Value != d.Value && d.Key != "log.format" && d.Value != "none":
			t.Errorf("%s: the template shows %s, the default is %s", d.Key, shown[i].Value, d.Value)
		}
	}
	if len(shown) != len(defaults) {
		t.Errorf("the template has %d settings, of which %d have a default", len(shown), len(defaults))
	}
	of, err := PartySettings(write(t, PartyTemplate()))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range of {
		_, last, _ := strings.Cut(s.Key, ".")
		there := strings.Contains(PartyTemplate(), "#  "+last+":") || strings.Contains(PartyTemplate(), "\n#"+s.Key+":")
		if s.Origin != FromDefault || !there {
			t.Errorf("%+v is not in the template", s)
		}
	}
}
