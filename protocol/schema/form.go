package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Form says how the value of a key is written and encoded, and where in a T it is stored. The
// functions below make forms. Their argument of returns the place in a T.
type Form[T any] struct {
	is     string // for people
	read   func(r *Reader, at Item, to *T)
	encode func(e *Encoder, path string, of *T)
	set    func(of *T) bool // whether there is a value to encode
	absent func(r *Reader, path string, to *T)

	paths bool // encodes its own paths
	words bool // the value is one of the words in is
	list  bool
	inner []Row
	each  string
}

// Is returns the form with other words for people.
func (f Form[T]) Is(words string) Form[T] {
	f.is, f.words = words, false
	return f
}

// Among returns the form for one of some words.
func (f Form[T]) Among(words Words) Form[T] {
	f.is, f.words = "`"+strings.Join(words.Has, "`, `")+"`", true
	return f
}

// Then returns the form followed by a check, or a use, of a value that was read without errors.
func (f Form[T]) Then(check func(r *Reader, at Item, to *T)) Form[T] {
	read := f.read
	f.read = func(r *Reader, at Item, to *T) {
		before := r.Failures
		if read(r, at, to); r.Failures == before {
			check(r, at, to)
		}
	}
	return f
}

// Absent returns the form with a value for keys that are left out, which may depend on earlier
// rows.
func (f Form[T]) Absent(absent func(to *T)) Form[T] {
	f.absent = func(_ *Reader, _ string, to *T) { absent(to) }
	return f
}

// Encoded returns the form with an encoding of its own.
func (f Form[T]) Encoded(encode func(e *Encoder, path string, of *T)) Form[T] {
	f.encode, f.paths = encode, true
	return f
}

// Read reads a value outside a table.
func (f Form[T]) Read(r *Reader, at Item, to *T) { f.read(r, at, to) }

// Custom returns a form with its own reader.
func Custom[T any](is string, read func(r *Reader, at Item, to *T)) Form[T] {
	return Form[T]{is: is, read: read}
}

// simple returns the form of one comparable value. A value that cannot be read leaves the place
// unchanged.
func simple[T any, V comparable](of func(*T) *V, is string, read func(*Reader, Item) V, encode func(*Encoder, string, V)) Form[T] {
	return Form[T]{
		is: is,
		read: func(r *Reader, at Item, to *T) {
			before := r.Failures
			if v := read(r, at); r.Failures == before {
				*of(to) = v
			}
		},
		encode: func(e *Encoder, path string, from *T) { encode(e, path, *of(from)) },
		set: func(from *T) bool {
			var zero V
			return *of(from) != zero
		},
	}
}

// Word returns the form of one of some words.
func Word[T any, W ~string](of func(*T) *W, words Words) Form[T] {
	return simple(of, "",
		func(r *Reader, at Item) W { return W(words.Read(r, at)) },
		func(e *Encoder, path string, w W) { e.Text(path, string(w)) }).Among(words)
}

// Either returns the form of one of two words, of which the second stands for true.
func Either[T any](of func(*T) *bool, what, no, yes string) Form[T] {
	words := Words{What: what, Has: []string{no, yes}}
	return simple(of, "",
		func(r *Reader, at Item) bool { return words.Read(r, at) == yes },
		func(e *Encoder, path string, set bool) { e.Text(path, map[bool]string{false: no, true: yes}[set]) }).Among(words)
}

// Flag returns the form of true or false.
func Flag[T any](of func(*T) *bool) Form[T] {
	return simple(of, "`true` or `false`", (*Reader).Flag, (*Encoder).Flag)
}

// Whole returns the form of an integer from least to most.
func Whole[T any, N ~int | ~int64](of func(*T) *N, least, most N) Form[T] {
	return simple(of, fmt.Sprintf("whole number, %d to %d", least, most), func(r *Reader, at Item) N {
		before := r.Failures
		n := N(r.Whole(at))
		if r.Failures == before && (n < least || n > most) {
			r.Fail(at.Path, "%d is not between %d and %d", n, least, most)
		}
		return n
	}, func(e *Encoder, path string, n N) { e.Text(path, strconv.FormatInt(int64(n), 10)) })
}

// AtLeast returns the form of an integer of at least least, limited above only by 32 bits.
func AtLeast[T any, N ~int | ~int64](of func(*T) *N, least N) Form[T] {
	return Whole(of, math.MinInt32, math.MaxInt32).Is(fmt.Sprintf("whole number, at least %d", least)).Then(func(r *Reader, at Item, to *T) {
		if n := *of(to); n < least {
			r.Fail(at.Path, "want at least %d, not %d", least, n)
		}
	})
}

// Mebibytes returns the form of a size in bytes, written in units of 2²⁰ bytes.
func Mebibytes[T any](of func(*T) *int64, least int64) Form[T] {
	one := AtLeast(Itself[int64], least)
	return Form[T]{is: one.is, read: func(r *Reader, at Item, to *T) {
		var count int64
		before := r.Failures
		if one.read(r, at, &count); r.Failures == before {
			*of(to) = count << 20
		}
	}}
}

// Real returns the form of a number. Add limits with Then.
func Real[T any, F ~float64](of func(*T) *F, is string) Form[T] {
	return simple(of, is, func(r *Reader, at Item) F { return F(r.Number(at)) },
		func(e *Encoder, path string, x F) { e.Real(path, float64(x)) })
}

// RealOrDate returns the form of a number or a date.
func RealOrDate[T any](of func(*T) *Amount, is string) Form[T] {
	return simple(of, is, (*Reader).Amount, func(e *Encoder, path string, x Amount) { e.Real(path, x.X) })
}

// Between returns the form of a number from least to most, ends included.
func Between[T any, F ~float64](of func(*T) *F, least, most F) Form[T] {
	return Real(of, fmt.Sprintf("number, %v to %v", least, most)).Then(func(r *Reader, at Item, to *T) {
		if x := *of(to); !(x >= least && x <= most) {
			r.Fail(at.Path, "%v is not between %v and %v", x, least, most)
		}
	})
}

// Text returns the form of free text; wrong returns what is wrong with a text, or "".
func Text[T any, S ~string](of func(*T) *S, wrong func(string) string) Form[T] {
	return simple(of, "text", func(r *Reader, at Item) S {
		before := r.Failures
		s := r.Text(at)
		if r.Failures == before && wrong != nil {
			if why := wrong(s); why != "" {
				r.Fail(at.Path, "%s", why)
			}
		}
		return S(s)
	}, func(e *Encoder, path string, s S) { e.Text(path, string(s)) })
}

// Parsed returns the form of a word with its own grammar, such as a time.
func Parsed[T any, V comparable](of func(*T) *V, is string, parse func(string) (V, error), text func(V) string) Form[T] {
	return simple(of, is, func(r *Reader, at Item) (v V) {
		word := r.Word(at, MaxWord)
		if word == "" {
			return v
		}
		v, err := parse(word)
		if err != nil {
			r.Fail(at.Path, "%v", err)
		}
		return v
	}, func(e *Encoder, path string, v V) { e.Text(path, text(v)) })
}

// List returns the form of a list of entries of one form, whose place is Itself.
func List[T, V any](of func(*T) *[]V, entry Form[V], least, most int) Form[T] {
	is := "list"
	if entry.words {
		is = "list of " + entry.is
	}
	return Form[T]{
		is: is, list: true, inner: entry.inner, each: map[bool]string{true: "[]"}[entry.inner != nil],
		read: func(r *Reader, at Item, to *T) {
			before := r.Failures
			items := r.Items(at, most)
			if r.Failures > before {
				return
			}
			if len(items) < least {
				r.Fail(at.Path, "has %d entries, at least %d", len(items), least)
			}
			values := make([]V, len(items))
			for i, it := range items {
				entry.read(r, it, &values[i])
			}
			*of(to) = values
		},
		encode: func(e *Encoder, path string, from *T) {
			e.Whole(path, len(*of(from)))
			for i := range *of(from) {
				entry.encode(e, path, &(*of(from))[i])
			}
		},
		set: func(from *T) bool { return len(*of(from)) > 0 },
	}
}

// Itself is the place of a list's entry.
func Itself[V any](v *V) *V { return v }

// OneOrMore returns the form of a list, or of a single entry without brackets.
func OneOrMore[T, V any](of func(*T) *[]V, entry Form[V], most int) Form[T] {
	list := List(of, entry, 1, most)
	many := list.read
	list.is, list.list = entry.is+", or a list of them", false
	list.read = func(r *Reader, at Item, to *T) {
		if at.Node.Kind == yaml.SequenceNode {
			many(r, at, to)
			return
		}
		var one V
		before := r.Failures
		if entry.read(r, at, &one); r.Failures == before {
			*of(to) = []V{one}
		}
	}
	return list
}

// Table returns the form of a mapping with keys of its own, read into a part of the T.
func Table[T, U any](of func(*T) *U, keys Keys[U]) Form[T] {
	return Form[T]{
		is: "keys: below", inner: keys.Rows(), paths: true,
		read:   func(r *Reader, at Item, to *T) { keys.Read(r, at, of(to)) },
		encode: func(e *Encoder, _ string, from *T) { keys.Encode(e, of(from)) },
		absent: func(r *Reader, path string, to *T) { keys.Read(r, Item{nil, path}, of(to)) },
	}
}

// Made returns the form of a mapping with keys of its own, which is read completely before put
// stores it in the T.
func Made[T, U any](keys Keys[U], put func(r *Reader, at Item, to *T, read *U)) Form[T] {
	return Form[T]{is: "keys: below", inner: keys.Rows(), read: func(r *Reader, at Item, to *T) {
		var read U
		before := r.Failures
		if keys.Read(r, at, &read); r.Failures == before {
			put(r, at, to, &read)
		}
	}}
}

// Named returns the form of a mapping whose keys are names. each is a placeholder for them. put is
// called with every entry in the file's order.
func Named[T, U any](each string, entry Form[U], put func(r *Reader, name, value Item, to *T, read *U)) Form[T] {
	is := each + ": " + entry.is
	if entry.inner != nil {
		is = "names with keys: below"
	}
	return Form[T]{is: is, inner: entry.inner, each: each, read: func(r *Reader, at Item, to *T) {
		if r.empty(at.Node) {
			return
		}
		if at.Node.Kind != yaml.MappingNode {
			r.Fail(at.Path, "want names and values, have %s", Describe(at.Node))
			return
		}
		for i := 0; i+1 < len(at.Node.Content); i += 2 {
			name, value := at.Node.Content[i], at.Node.Content[i+1]
			path := Join(at.Path, name.Value)
			var read U
			before := r.Failures
			if entry.read(r, Item{value, path}, &read); r.Failures == before {
				put(r, Item{name, path}, Item{value, path}, to, &read)
			}
		}
	}}
}

// Entry returns the form of an entry with keys of its own.
func Entry[U any](keys Keys[U]) Form[U] { return Table(Itself[U], keys) }

// Or returns the form with a word as an alternative; the word calls set.
func Or[T any](word string, form Form[T], set func(*T)) Form[T] {
	read := form.read
	form.is += ", or `" + word + "`"
	form.words = false
	form.read = func(r *Reader, at Item, to *T) {
		if at.Node.Kind == yaml.ScalarNode && at.Node.Value == word {
			set(to)
			return
		}
		read(r, at, to)
	}
	return form
}
