package schema

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A file with every form, for tests.
type (
	house struct {
		name    string
		size    string
		floors  int
		height  float64
		lift    bool
		open    bool
		people  []string
		rooms   []room
		garden  garden
		pets    map[string]int
		bytes   int64
		heating string
		seen    []string
	}
	room   struct{ name, owner string }
	garden struct{ trees int }
)

func houseKeys() Keys[house] {
	return Keys[house]{
		{Name: "name", Doc: "for people", Required: true, Form: Text(func(h *house) *string { return &h.name }, nil), Path: "name", Example: "manor"},
		{Name: "size", Default: "small", Form: Word(func(h *house) *string { return &h.size }, Words{What: "size", Has: []string{"small", "large"}, Planned: []string{"huge"}}), Path: "size"},
		{Name: "floors", Doc: "above the ground", Default: "1", Form: Whole(func(h *house) *int { return &h.floors }, 1, 9), Path: "floors"},
		{Name: "height", Unset: "not told", Example: "7.5", Form: Between(func(h *house) *float64 { return &h.height }, 1, 99), Path: "height", IfSet: true},
		{Name: "lift", Default: "false", Form: Flag(func(h *house) *bool { return &h.lift }), Path: "lift", Forbidden: func(h *house) string {
			if h.floors < 2 {
				return "one floor needs none"
			}
			return ""
		}},
		{Name: "doors", Default: "shut", Form: Either(func(h *house) *bool { return &h.open }, "way of doors", "shut", "open"), Path: "doors", IfSet: true},
		{Name: "people", Default: "[cat, dog]", Form: List(func(h *house) *[]string { return &h.people }, Text(Itself[string], nil), 1, 3), Path: "people"},
		{Name: "rooms", Example: "", Form: List(func(h *house) *[]room { return &h.rooms }, Entry(Keys[room]{
			{Name: "name", Required: true, Form: Text(func(r *room) *string { return &r.name }, nil), Path: "room.name"},
			{Name: "owner", Default: "all", Form: Text(func(r *room) *string { return &r.owner }, nil), Path: "room.owner"},
		}), 0, 9), Path: "rooms"},
		{Name: "garden", Doc: "behind it", Form: Table(func(h *house) *garden { return &h.garden }, Keys[garden]{
			{Name: "trees", Default: "2", Form: Whole(func(g *garden) *int { return &g.trees }, 0, 99), Path: "garden.trees"},
		})},
		{Name: "pets", Example: "{rex: 3}", Form: Named("names", Whole(Itself[int], 0, 99), func(_ *Reader, name, _ Item, h *house, age *int) {
			if h.pets == nil {
				h.pets = map[string]int{}
			}
			h.pets[name.Node.Value] = *age
		})},
		{Name: "cellar_mib", Default: "4", Form: Mebibytes(func(h *house) *int64 { return &h.bytes }, 1)},
		{Name: "heating", Default: "auto", Form: Or("auto", Text(func(h *house) *string { return &h.heating }, nil), func(h *house) { h.heating = "by weather" })},
		{Name: "seen", Example: "[north]", Form: OneOrMore(func(h *house) *[]string { return &h.seen }, Text(Itself[string], nil), 9)},
	}
}

// parse reads a house, and returns the errors.
func parse(t *testing.T, text string, loose bool) (h house, wrong []string) {
	t.Helper()
	root, e := Document([]byte(text))
	if e != nil {
		t.Fatal(e)
	}
	r := &Reader{Lenient: loose}
	if root == nil || r.Survey(root, "") {
		houseKeys().Read(r, Item{Node: root}, &h)
	}
	if r.Failure() != nil {
		for _, e := range r.Errs {
			wrong = append(wrong, e.Error())
		}
	}
	return h, wrong
}

func TestDefaultsComeFromRows(t *testing.T) {
	want := house{name: "a", size: "small", floors: 1, people: []string{"cat", "dog"}, garden: garden{2}, bytes: 4 << 20, heating: "by weather"}
	for _, text := range []string{"name: a", "{name: a, garden: {}}", "name: a\ngarden:\n"} {
		if got, wrong := parse(t, text, true); wrong != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v %v", text, got, wrong)
		}
	}
}

func TestEveryFormIsRead(t *testing.T) {
	got, wrong := parse(t, "{name: a, size: large, floors: 3, height: 2.5, lift: true, doors: open, people: [x], rooms: [{name: r}, {name: s, owner: x}], garden: {trees: 0}, pets: {rex: 3, tom: 4}, cellar_mib: 1, heating: gas, seen: yesterday}", false)
	want := house{"a", "large", 3, 2.5, true, true, []string{"x"}, []room{{"r", "all"}, {"s", "x"}}, garden{0}, map[string]int{"rex": 3, "tom": 4}, 1 << 20, "gas", []string{"yesterday"}}
	if wrong != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, wrong)
	}
}

// Errors name the key and its position.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"floors: 2":                           "line 1, column 1: name: is missing",
		"name: a\nflors: 2":                   `line 2, column 1: flors: unknown key (did you mean "floors"?)`,
		"name: a\nsize: huge":                 `line 2, column 7: size: size "huge" is not supported by this version; it has: small, large`,
		"name: a\nsize: smal":                 `line 2, column 7: size: unknown size "smal" (did you mean "small"?)`,
		"name: a\nfloors: 10":                 "line 2, column 9: floors: 10 is not between 1 and 9",
		"name: a\nfloors: ten":                `line 2, column 9: floors: want a whole number, have the bare word "ten" (write it like 128, without quotes)`,
		"name: a\nheight: 0.5":                "line 2, column 9: height: 0.5 is not between 1 and 99",
		"name: a\nlift: true":                 "line 2, column 7: lift: does not belong here: one floor needs none (remove the key)",
		"name: a\npeople: []":                 "line 2, column 9: people: has 0 entries, at least 1",
		"name: a\npeople: [a, b, c, d]":       "line 2, column 9: people: has 4 entries, at most 3",
		"name: a\nrooms: [{name: a}, {}]":     "line 2, column 20: rooms[1].name: is missing",
		"name: a\ngarden: {tree: 1}":          `line 2, column 10: garden.tree: unknown key (did you mean "trees"?)`,
		"name: a\npets: {rex: -1}":            "line 2, column 13: pets.rex: -1 is not between 0 and 99",
		"name: a\ncellar_mib: 0":              "line 2, column 13: cellar_mib: want at least 1, not 0",
		"name: a\nname: b":                    `line 2, column 1: key "name" appears twice (first on line 1)`,
		"name: &x a\n":                        "line 1, column 7: name: anchor &x: anchors are not used (remove it)",
		"name: 12\n":                          `line 1, column 7: name: the bare word "12" where a text belongs (write it in quotes: "12")`,
		"name: a\n\"size\": small":            "line 2, column 1: a key is a plain word without quotes, tag or anchor",
		"name: a\ngarden:\n":                  "line 2, column 8: garden: want keys and values, have nothing (keys here: trees)",
		"[a]":                                 "line 1, column 1: want keys and values, have a list (keys here: name, size, floors, height, lift, doors, people, rooms, garden, pets, cellar_mib, heating, seen)",
		"name: a\npets: {rex: 1, rex: 2}":     `line 2, column 16: pets: key "rex" appears twice (first on line 2)`,
		"name: a\nrooms: [{name: a, x: 1}]\n": "line 2, column 19: rooms[0].x: unknown key (keys here: name, owner; if a newer program wrote the file, update this one)",
	} {
		if _, wrong := parse(t, text, false); !slices.Equal(wrong, []string{want}) {
			t.Errorf("%q: %q\nwant %q", text, wrong, want)
		}
	}
}

// Names may be keys of a loose file; a name with a dot is not a path.
func TestNamesInPaths(t *testing.T) {
	_, wrong := parse(t, "name: 12\npets: {a.b: x, 7: 1, \"c d\": 2}", true)
	if want := `line 2, column 13: pets."a.b": want a whole number, have the bare word "x" (write it like 128, without quotes)`; !slices.Equal(wrong, []string{want}) {
		t.Errorf("%q\nwant %q", wrong, want)
	}
}

// The encoding is in the order of the rows, whatever the file's order. Keys that are encoded only
// if set have no path otherwise.
func TestEncode(t *testing.T) {
	h, wrong := parse(t, "{garden: {trees: 3}, rooms: [{name: r}], people: [x, z], floors: 2, name: a}", false)
	if wrong != nil {
		t.Fatal(wrong)
	}
	got, want := &Encoder{}, &Encoder{}
	houseKeys().Encode(got, &h)
	want.Text("name", "a")
	want.Text("size", "small")
	want.Whole("floors", 2)
	want.Flag("lift", false)
	Texts(want, "people", []string{"x", "z"})
	want.Whole("rooms", 1)
	want.Text("room.name", "r")
	want.Text("room.owner", "all")
	want.Whole("garden.trees", 3)
	if !bytes.Equal(got.Bytes, want.Bytes) {
		t.Errorf("got  %q\nwant %q", got.Bytes, want.Bytes)
	}
	h.open, h.height = true, 2
	got = &Encoder{}
	houseKeys().Encode(got, &h)
	for _, path := range []string{"height", "doors"} {
		if !bytes.Contains(got.Bytes, []byte(path)) {
			t.Errorf("%s is set, and not encoded", path)
		}
	}
}

func TestReference(t *testing.T) {
	got := Reference("A house", houseKeys().Rows())
	for _, want := range []string{
		"### A house\n\n| key | value | what it says |\n|---|---|---|\n| `name` * | text | for people |\n",
		"| `size` | `small`, `large` | Default: small |\n",
		"| `floors` | whole number, 1 to 9 | above the ground. Default: 1 |\n",
		"| `height` | number, 1 to 99 | Default: not told |\n",
		"\n### Entries of rooms\n\n", "\n### garden\n\n| key | value | what it says |\n|---|---|---|\n| `trees` | whole number, 0 to 99 | Default: 2 |\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A drafted file shows every key, and reads like an empty one.
func TestDraft(t *testing.T) {
	rows := houseKeys().Rows()
	got := Draft("A house.", slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return row.Name == "rooms" }))
	for _, row := range rows {
		if row.Name != "rooms" && !strings.Contains(got, row.Name+":") {
			t.Errorf("no %s in\n%s", row.Name, got)
		}
	}
	root, e := Document([]byte(got))
	if e != nil {
		t.Fatal(e, got)
	}
	var h house
	r := &Reader{Lenient: true}
	if r.Survey(root, ""); true {
		houseKeys().Read(r, Item{Node: root}, &h)
	}
	if len(r.Errs) != 1 || r.Errs[0].Key != "name" || h.garden.trees != 2 {
		t.Errorf("%v, %+v of\n%s", r.Errs, h, got)
	}
}
