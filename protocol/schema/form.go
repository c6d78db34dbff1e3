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
type Form[T any] struct{ form *form }

// form is a Form without its type, so that programs hold its code once, not once for each type: to
// and of are pointers to a T. Forms are not changed once they are made.
type form struct {
	is     string // for people
	read   func(r *Reader, at Item, to any)
	encode func(e *Encoder, path string, of any)
	set    func(of any) bool // whether there is a value to encode
	absent func(r *Reader, path string, to any)

	paths bool // encodes its own paths
	words bool // the value is one of the words in is
	list  bool
	inner []Row
	each  string
}

// Is returns the form with other words for people.
func (f Form[T]) Is(words string) Form[T] { return Form[T]{f.form.called(words, false)} }

// Among returns the form for one of some words.
func (f Form[T]) Among(words Words) Form[T] { return Form[T]{f.form.among(words)} }

// Then returns the form followed by a check, or a use, of a value that was read without errors.
func (f Form[T]) Then(check func(r *Reader, at Item, to *T)) Form[T] {
	return Form[T]{f.form.then(func(r *Reader, at Item, to any) { check(r, at, to.(*T)) })}
}

// Absent returns the form with a value for keys that are left out, which may depend on earlier
// rows.
func (f Form[T]) Absent(absent func(to *T)) Form[T] {
	return Form[T]{f.form.leftOut(func(_ *Reader, _ string, to any) { absent(to.(*T)) })}
}

// Encoded returns the form with an encoding of its own.
func (f Form[T]) Encoded(encode func(e *Encoder, path string, of *T)) Form[T] {
	return Form[T]{f.form.encoded(func(e *Encoder, path string, of any) { encode(e, path, of.(*T)) })}
}

// Read reads a value outside a table.
func (f Form[T]) Read(r *Reader, at Item, to *T) { f.form.read(r, at, to) }

// Custom returns a form with its own reader.
func Custom[T any](is string, read func(r *Reader, at Item, to *T)) Form[T] {
	return Form[T]{&form{is: is, read: func(r *Reader, at Item, to any) { read(r, at, to.(*T)) }}}
}

// The following return a changed copy of a form.

func (f *form) called(is string, words bool) *form {
	c := *f
	c.is, c.words = is, words
	return &c
}

func (f *form) among(words Words) *form {
	return f.called("`"+strings.Join(words.Has, "`, `")+"`", true)
}

func (f *form) then(check func(*Reader, Item, any)) *form {
	c := *f
	c.read = func(r *Reader, at Item, to any) {
		before := r.Failures
		if f.read(r, at, to); r.Failures == before {
			check(r, at, to)
		}
	}
	return &c
}

func (f *form) leftOut(absent func(*Reader, string, any)) *form {
	c := *f
	c.absent = absent
	return &c
}

func (f *form) encoded(encode func(*Encoder, string, any)) *form {
	c := *f
	c.encode, c.paths = encode, true
	return &c
}

// field is where a value stands in a T, without the type T.
type field[V any] struct {
	get func(from any) V
	put func(to any, v V)
}

func fieldOf[T, V any](of func(*T) *V) field[V] {
	return field[V]{func(from any) V { return *of(from.(*T)) }, func(to any, v V) { *of(to.(*T)) = v }}
}

func textOf[T any, S ~string](of func(*T) *S) field[string] {
	return field[string]{func(from any) string { return string(*of(from.(*T))) }, func(to any, s string) { *of(to.(*T)) = S(s) }}
}

func wholeOf[T any, N ~int | ~int64](of func(*T) *N) field[int64] {
	return field[int64]{func(from any) int64 { return int64(*of(from.(*T))) }, func(to any, n int64) { *of(to.(*T)) = N(n) }}
}

func realOf[T any, F ~float64](of func(*T) *F) field[float64] {
	return field[float64]{func(from any) float64 { return float64(*of(from.(*T))) }, func(to any, x float64) { *of(to.(*T)) = F(x) }}
}

// simple returns the form of one comparable value. A value that cannot be read leaves the place
// unchanged.
func simple[V comparable](p field[V], is string, read func(*Reader, Item) V, encode func(*Encoder, string, V)) *form {
	return &form{
		is: is,
		read: func(r *Reader, at Item, to any) {
			before := r.Failures
			if v := read(r, at); r.Failures == before {
				p.put(to, v)
			}
		},
		encode: func(e *Encoder, path string, from any) { encode(e, path, p.get(from)) },
		set: func(from any) bool {
			var zero V
			return p.get(from) != zero
		},
	}
}

// Word returns the form of one of some words.
func Word[T any, W ~string](of func(*T) *W, words Words) Form[T] {
	return Form[T]{simple(textOf(of), "", words.Read, (*Encoder).Text).among(words)}
}

// Either returns the form of one of two words, of which the second stands for true.
func Either[T any](of func(*T) *bool, what, no, yes string) Form[T] {
	words := Words{What: what, Has: []string{no, yes}}
	return Form[T]{simple(fieldOf(of), "",
		func(r *Reader, at Item) bool { return words.Read(r, at) == yes },
		func(e *Encoder, path string, set bool) { e.Text(path, map[bool]string{false: no, true: yes}[set]) }).among(words)}
}

// Flag returns the form of true or false.
func Flag[T any](of func(*T) *bool) Form[T] {
	return Form[T]{simple(fieldOf(of), "`true` or `false`", (*Reader).Flag, (*Encoder).Flag)}
}

// Whole returns the form of an integer from least to most.
func Whole[T any, N ~int | ~int64](of func(*T) *N, least, most N) Form[T] {
	return Form[T]{within(wholeOf(of), int64(least), int64(most))}
}

func within(p field[int64], least, most int64) *form {
	return simple(p, fmt.Sprintf("whole number, %d to %d", least, most), func(r *Reader, at Item) int64 {
		before := r.Failures
		n := int64(r.Whole(at))
		if r.Failures == before && (n < least || n > most) {
			r.Fail(at.Path, "%d is not between %d and %d", n, least, most)
		}
		return n
	}, func(e *Encoder, path string, n int64) { e.Text(path, strconv.FormatInt(n, 10)) })
}

// AtLeast returns the form of an integer of at least least, limited above only by 32 bits.
func AtLeast[T any, N ~int | ~int64](of func(*T) *N, least N) Form[T] {
	return Form[T]{atLeast(wholeOf(of), int64(least))}
}

func atLeast(p field[int64], least int64) *form {
	return within(p, math.MinInt32, math.MaxInt32).called(fmt.Sprintf("whole number, at least %d", least), false).then(func(r *Reader, at Item, to any) {
		if n := p.get(to); n < least {
			r.Fail(at.Path, "want at least %d, not %d", least, n)
		}
	})
}

// Mebibytes returns the form of a size in bytes, written in units of 2²⁰ bytes.
func Mebibytes[T any](of func(*T) *int64, least int64) Form[T] {
	one := AtLeast(Itself[int64], least)
	return Custom(one.form.is, func(r *Reader, at Item, to *T) {
		var count int64
		before := r.Failures
		if one.Read(r, at, &count); r.Failures == before {
			*of(to) = count << 20
		}
	})
}

// Real returns the form of a number. Add limits with Then.
func Real[T any, F ~float64](of func(*T) *F, is string) Form[T] {
	return Form[T]{number(realOf(of), is)}
}

func number(p field[float64], is string) *form {
	return simple(p, is, (*Reader).Number, (*Encoder).Real)
}

// RealOrDate returns the form of a number or a date.
func RealOrDate[T any](of func(*T) *Amount, is string) Form[T] {
	return Form[T]{simple(fieldOf(of), is, (*Reader).Amount, func(e *Encoder, path string, x Amount) { e.Real(path, x.X) })}
}

// Between returns the form of a number from least to most, ends included.
func Between[T any, F ~float64](of func(*T) *F, least, most F) Form[T] {
	return Form[T]{between(realOf(of), float64(least), float64(most))}
}

func between(p field[float64], least, most float64) *form {
	return number(p, fmt.Sprintf("number, %v to %v", least, most)).then(func(r *Reader, at Item, to any) {
		if x := p.get(to); !(x >= least && x <= most) {
			r.Fail(at.Path, "%v is not between %v and %v", x, least, most)
		}
	})
}

// Text returns the form of free text; wrong returns what is wrong with a text, or "".
func Text[T any, S ~string](of func(*T) *S, wrong func(string) string) Form[T] {
	return Form[T]{free(textOf(of), wrong)}
}

func free(p field[string], wrong func(string) string) *form {
	return simple(p, "text", func(r *Reader, at Item) string {
		before := r.Failures
		s := r.Text(at)
		if r.Failures == before && wrong != nil {
			if why := wrong(s); why != "" {
				r.Fail(at.Path, "%s", why)
			}
		}
		return s
	}, (*Encoder).Text)
}

// Parsed returns the form of a word with its own grammar, such as a time.
func Parsed[T any, V comparable](of func(*T) *V, is string, parse func(string) (V, error), text func(V) string) Form[T] {
	return Form[T]{simple(fieldOf(of), is, func(r *Reader, at Item) (v V) {
		word := r.Word(at, MaxWord)
		if word == "" {
			return v
		}
		v, err := parse(word)
		if err != nil {
			r.Fail(at.Path, "%v", err)
		}
		return v
	}, func(e *Encoder, path string, v V) { e.Text(path, text(v)) })}
}

// List returns the form of a list of entries of one form, whose place is Itself.
func List[T, V any](of func(*T) *[]V, entry Form[V], least, most int) Form[T] {
	return Form[T]{entry.form.listed(least, most,
		func(from any) entries { return listOf[V](*of(from.(*T))) },
		func(to any, n int) entries {
			values := make([]V, n)
			*of(to.(*T)) = values
			return listOf[V](values)
		})}
}

// entries are the values of a list: pointers to them, without their type.
type entries interface {
	len() int
	at(i int) any
}

type listOf[V any] []V

func (l listOf[V]) len() int     { return len(l) }
func (l listOf[V]) at(i int) any { return &l[i] }

// listed returns the form of a list of entries of form f; remade replaces the list by one of n.
func (f *form) listed(least, most int, of func(from any) entries, remade func(to any, n int) entries) *form {
	is := "list"
	if f.words {
		is = "list of " + f.is
	}
	return &form{
		is: is, list: true, inner: f.inner, each: map[bool]string{true: "[]"}[f.inner != nil],
		read: func(r *Reader, at Item, to any) {
			before := r.Failures
			items := r.Items(at, most)
			if r.Failures > before {
				return
			}
			if len(items) < least {
				r.Fail(at.Path, "has %d entries, at least %d", len(items), least)
			}
			values := remade(to, len(items))
			for i, it := range items {
				f.read(r, it, values.at(i))
			}
		},
		encode: func(e *Encoder, path string, from any) {
			values := of(from)
			e.Whole(path, values.len())
			for i := range values.len() {
				f.encode(e, path, values.at(i))
			}
		},
		set: func(from any) bool { return of(from).len() > 0 },
	}
}

// Itself is the place of a list's entry.
func Itself[V any](v *V) *V { return v }

// OneOrMore returns the form of a list, or of a single entry without brackets.
func OneOrMore[T, V any](of func(*T) *[]V, entry Form[V], most int) Form[T] {
	list := List(of, entry, 1, most)
	f := *list.form
	many := f.read
	f.is, f.list = entry.form.is+", or a list of them", false
	f.read = func(r *Reader, at Item, to any) {
		if at.Node.Kind == yaml.SequenceNode {
			many(r, at, to)
			return
		}
		var one V
		before := r.Failures
		if entry.Read(r, at, &one); r.Failures == before {
			*of(to.(*T)) = []V{one}
		}
	}
	return Form[T]{&f}
}

// Table returns the form of a mapping with keys of its own, read into a part of the T.
func Table[T, U any](of func(*T) *U, keys Keys[U]) Form[T] {
	return Form[T]{keys.table().below(func(to any) any { return of(to.(*T)) })}
}

// below returns the form of a mapping with these keys, at a place in what has the key.
func (t table) below(of func(to any) any) *form {
	return &form{
		is: "keys: below", inner: t.rows(), paths: true,
		read:   func(r *Reader, at Item, to any) { t.read(r, at, of(to)) },
		encode: func(e *Encoder, _ string, from any) { t.encode(e, of(from)) },
		absent: func(r *Reader, path string, to any) { t.read(r, Item{nil, path}, of(to)) },
	}
}

// Made returns the form of a mapping with keys of its own, which is read completely before put
// stores it in the T.
func Made[T, U any](keys Keys[U], put func(r *Reader, at Item, to *T, read *U)) Form[T] {
	all := keys.table()
	return Form[T]{&form{is: "keys: below", inner: all.rows(), read: func(r *Reader, at Item, to any) {
		var read U
		before := r.Failures
		if all.read(r, at, &read); r.Failures == before {
			put(r, at, to.(*T), &read)
		}
	}}}
}

// Named returns the form of a mapping whose keys are names. each is a placeholder for them. put is
// called with every entry in the file's order.
func Named[T, U any](each string, entry Form[U], put func(r *Reader, name, value Item, to *T, read *U)) Form[T] {
	is := each + ": " + entry.form.is
	if entry.form.inner != nil {
		is = "names with keys: below"
	}
	return Form[T]{&form{is: is, inner: entry.form.inner, each: each, read: func(r *Reader, at Item, to any) {
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
			if entry.Read(r, Item{value, path}, &read); r.Failures == before {
				put(r, Item{name, path}, Item{value, path}, to.(*T), &read)
			}
		}
	}}}
}

// Entry returns the form of an entry with keys of its own.
func Entry[U any](keys Keys[U]) Form[U] { return Table(Itself[U], keys) }

// Or returns the form with a word as an alternative; the word calls set.
func Or[T any](word string, of Form[T], set func(*T)) Form[T] {
	return Form[T]{of.form.or(word, func(to any) { set(to.(*T)) })}
}

func (f *form) or(word string, set func(any)) *form {
	c := f.called(f.is+", or `"+word+"`", false)
	c.read = func(r *Reader, at Item, to any) {
		if at.Node.Kind == yaml.ScalarNode && at.Node.Value == word {
			set(to)
			return
		}
		f.read(r, at, to)
	}
	return c
}
