package file

import (
	"errors"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// written is a column as in the file, before its scale is built.
type written struct {
	study.Column
	transform string
	unit      float64
	bounds    []schema.Amount
	centre    schema.Amount
	spread    float64
}

// columnForm returns the form of an entry of columns. What a kind requires or forbids is checked
// here, because afterwards only the finished Scale is left.
func columnForm() schema.Form[study.Column] {
	return schema.Made(columnKeys(), func(r *schema.Reader, at schema.Item, to *study.Column, w *written) {
		switch w.Kind {
		case study.Numeric:
			w.Scale = w.scale(r, at.Path)
		case study.Binary:
			w.Scale = w.rate(r, at.Path)
		case study.Categorical:
			w.Scale = unitScale(r, at.Path)
			if !r.Given(at.Path + ".values") {
				r.Fail(at.Path+".values", "is missing")
			}
		}
		*to = w.Column
	}).Encoded(func(e *schema.Encoder, _ string, c *study.Column) { encodeColumn(e, *c) })
}

// of returns a check: it says why a key does not belong to a column of any other kind than these.
func of(says string, kinds ...study.ColumnKind) func(*written) string {
	return func(w *written) string {
		for _, kind := range kinds {
			if w.Kind == kind || w.Kind == "" {
				return ""
			}
		}
		return says
	}
}

func columnKeys() schema.Keys[written] {
	type W = written
	ofNumbers := of("it belongs to numeric columns", study.Numeric)
	return schema.Keys[W]{
		{Name: "name", Required: true, Doc: "as the study calls it; the site file maps it to the file's", Form: schema.Text(func(w *W) *string { return &w.Name }, checkName)},
		{Name: "kind", Required: true, Doc: "binary is 0 or 1", Form: schema.Word(func(w *W) *study.ColumnKind { return &w.Kind }, columnKinds)},
		{
			Name: "transform", Forbidden: ofNumbers, Unset: "none",
			Doc:  "numeric: log (natural logarithm; values of 0 and less count as the lower bound, or as three spreads below the centre) or asinh, before encoding; answers are then of log(NAME) or asinh(NAME/UNIT)",
			Form: schema.Word(func(w *W) *string { return &w.transform }, transforms),
		},
		{
			Name: "unit", Forbidden: ofNumbers, Hint: likeUnit, Doc: "with `transform: asinh`, and needed there: the scale is nearly linear below it, nearly logarithmic above",
			Form: schema.Real(func(w *W) *float64 { return &w.unit }, "number, above 0, in the data's unit"),
		},
		{
			Name: "bounds", Forbidden: func(w *W) string {
				if w.Kind == study.Binary {
					return "a binary column is 0 or 1"
				}
				return of("the values of a categorical column are listed", study.Numeric)(w)
			},
			Doc: "numeric: least and greatest value, in the data's unit (before a transform), public; values outside are moved to the nearest bound. Of a column of dates, two dates: answers are then shown as dates",
			Form: schema.List(func(w *W) *[]schema.Amount { return &w.bounds }, schema.RealOrDate(schema.Itself[schema.Amount], "number or date"), 0, 2).Then(func(r *schema.Reader, at schema.Item, w *W) {
				if len(w.bounds) != 2 {
					r.Fail(at.Path, "want two numbers, have %d", len(w.bounds)).Hint = "like [0, 120]"
				}
			}),
		},
		{
			Name: "centre", Forbidden: of("the values of a categorical column are listed", study.Numeric, study.Binary),
			Doc:  "numeric: a public typical value (before a transform), or date; with `spread` (of dates in days), in the place of `bounds`. Binary, in vertical studies: the public share of ones",
			Form: schema.RealOrDate(func(w *W) *schema.Amount { return &w.centre }, "number, in the data's unit, or date"),
		},
		{
			Name: "spread", Forbidden: func(w *W) string {
				if w.Kind == study.Binary {
					return "a binary column is 0 or 1"
				}
				return of("the values of a categorical column are listed", study.Numeric)(w)
			},
			Doc:  "numeric: a public standard deviation, or under a transform a factor above 1. Values more than three spreads from the centre are moved to three, but where all sketches are sums under unit record with noise",
			Form: schema.Real(func(w *W) *float64 { return &w.spread }, "number, above 0, in the data's unit; with a transform above 1"),
		},
		{
			Name: "source", Doc: "where bounds, centre and spread come from",
			Form: schema.Text(func(w *W) *string { return &w.Source }, func(s string) string { return checkValue(s, maxText) }),
		},
		{
			Name: "values", Forbidden: of("it belongs to categorical columns", study.Categorical), Doc: "categorical, and needed there: all values, two at least, public",
			Form: schema.List(func(w *W) *[]string { return &w.Values }, freeText(), 0, study.MaxValues),
		},
		{Name: "owner", Doc: "vertical, and needed there: which party holds it", Form: schema.Text(func(w *W) *string { return &w.Owner }, checkName)},
		{Name: "role", Unset: "feature", Doc: "label: what classifiers predict", Form: schema.Either(func(w *W) *bool { return &w.Label }, "role", "feature", "label")},
		{
			Name: "kurtosis", Default: "3", Forbidden: of("it belongs to numeric columns", study.Numeric, study.Binary), Doc: "numeric: assumed fourth standardised moment, for intervals",
			Hint: "a normal distribution has 3; none has less than 1",
			Form: schema.Between(func(w *W) *float64 { return &w.Kurtosis }, 1, maxKurtosis),
		},
	}
}

// unitScale returns the scale of entries that are 0 or 1.
func unitScale(r *schema.Reader, path string) fixedpoint.Scale {
	scale, err := fixedpoint.Bounds(0, 1)
	if err != nil {
		r.Fail(path, "%v", err)
	}
	return scale
}

// rate returns the scale of a binary column with a centre: the public share of its ones.
func (w *written) rate(r *schema.Reader, path string) fixedpoint.Scale {
	if !r.Given(path + ".centre") {
		return unitScale(r, path)
	}
	scale, err := fixedpoint.Binary(w.centre.X)
	if err != nil || w.centre.Date {
		r.Fail(path+".centre", "%v is not between 0 and 1", w.centre.X).Hint = "the centre of a binary column is the public share of its ones, like 0.03"
	}
	return scale
}

// scale returns the scale of a numeric column, from its bounds or its centre and spread.
func (w *written) scale(r *schema.Reader, path string) fixedpoint.Scale {
	const hint = "give public numbers: bounds: [0, 120], or centre: 47 and spread: 21; never numbers computed from the private data"
	transform, ok := w.transformed(r, path)
	byBounds, centre, spread := r.Given(path+".bounds"), r.Given(path+".centre"), r.Given(path+".spread")
	w.Date = byBounds && len(w.bounds) == 2 && w.bounds[0].Date || centre && w.centre.Date
	switch {
	case !ok:
	case w.Date && !transform.IsZero():
		r.Fail(path+".transform", "does not belong to dates").Hint = "remove the key"
	case byBounds && len(w.bounds) == 2 && w.bounds[0].Date != w.bounds[1].Date:
		r.Fail(path+".bounds", "has a date and a number").Hint = "write both as dates, like [1930-01-01, 2010-12-31], or both as numbers"
	case byBounds && (centre || spread):
		r.Fail(path, "has both bounds and centre or spread").Hint = "give one of the two"
	case byBounds:
		scale, err := transform.Bounds(w.bounds[0].X, w.bounds[1].X)
		if err != nil && w.Date {
			err = errors.New("the first date must be before the second")
		}
		if err != nil {
			r.Fail(path+".bounds", "%v", err)
		}
		return scale
	case centre && spread:
		scale, err := transform.CentreSpread(w.centre.X, w.spread)
		if err != nil {
			r.Fail(path+".spread", "%v", err)
		}
		return scale
	case centre:
		r.Fail(path+".spread", "is missing")
	case spread:
		r.Fail(path+".centre", "is missing")
	default:
		r.Fail(path, "a numeric column needs bounds, or centre and spread").Hint = hint
	}
	return fixedpoint.Scale{}
}

const likeUnit = "like 100, an amount that is small among the values: the scale is nearly linear below it and nearly logarithmic above"

// transformed returns the transform of a numeric column's values before encoding; ok is false if it
// is not specified correctly.
func (w *written) transformed(r *schema.Reader, path string) (t fixedpoint.Transform, ok bool) {
	unit := path + ".unit"
	switch {
	case w.transform == "asinh" && !r.Given(unit):
		r.Fail(unit, "is missing").Hint = likeUnit
		return t, false
	case w.transform == "asinh":
		t, err := fixedpoint.Asinh(w.unit)
		if err != nil {
			r.Fail(unit, "%v", err).Hint = likeUnit
		}
		return t, err == nil
	case r.Given(unit):
		r.Fail(unit, "belongs to transform asinh").Hint = "remove the key"
		return t, false
	case w.transform == "log":
		t = fixedpoint.Log()
	}
	return t, true
}
