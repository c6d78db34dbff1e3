package file

import (
	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// defaultKurtosis is that of a normal distribution.
const defaultKurtosis = 3

// column reads one entry of columns. What a kind asks for or forbids is checked here,
// because afterwards only the finished Scale is left.
func (r *reader) column(it schema.Item) study.Column {
	o := r.object(it.Node, it.Path, "name", "kind", "transform", "unit", "bounds", "centre", "spread", "source", "values", "owner", "role", "kurtosis")
	o.Require("name", "kind")
	c := study.Column{
		Name:     o.name("name"),
		Kind:     schema.Choice(o.Object, "kind", columnKinds, study.ColumnKind("")),
		Owner:    o.name("owner"),
		Label:    schema.Choice(o.Object, "role", roles, "feature") == "label",
		Kurtosis: defaultKurtosis,
	}
	if o.Has("source") {
		c.Source = r.value(schema.Item{Node: o.Values["source"], Path: it.Path + ".source"})
	}
	if o.Has("kurtosis") {
		c.Kurtosis = o.Number("kurtosis")
	}
	switch c.Kind {
	case study.Numeric:
		o.forbid("values", "belongs to categorical columns")
		c.Scale = o.scale()
	case study.Binary:
		o.forbid("values", "belongs to categorical columns")
		o.forbidScale("a binary column is 0 or 1", "bounds", "spread")
		c.Scale = o.rate()
	case study.Categorical:
		o.forbidScale("the values of a categorical column are listed", "bounds", "centre", "spread")
		o.forbid("kurtosis", "belongs to numeric columns")
		o.Require("values")
		for _, v := range o.Items("values", study.MaxValues) {
			c.Values = append(c.Values, r.value(v))
		}
		c.Scale = unitScale(r, it.Path)
	}
	if c.Kind != study.Numeric {
		o.forbid("transform", "belongs to numeric columns")
		o.forbid("unit", "belongs to numeric columns")
	}
	return c
}

// unitScale is the scale of entries that are 0 or 1.
func unitScale(r *reader, path string) fixedpoint.Scale {
	scale, err := fixedpoint.Bounds(0, 1)
	if err != nil {
		r.Fail(path, "%v", err)
	}
	return scale
}

// rate reads the centre of a binary column: the public share of its ones.
func (o object) rate() fixedpoint.Scale {
	before := o.Failures
	if !o.Has("centre") {
		return unitScale(o.reader, o.Path)
	}
	rate := o.Number("centre")
	if o.Failures > before {
		return fixedpoint.Scale{}
	}
	scale, err := fixedpoint.Binary(rate)
	if err != nil {
		o.Fail("centre", "%v is not between 0 and 1", rate).Hint = "the centre of a binary column is the public share of its ones, like 0.03"
	}
	return scale
}

func (o object) forbid(key, why string) {
	if o.Has(key) {
		o.Fail(key, "does not belong here: it %s", why).Hint = "remove the key"
	}
}

func (o object) forbidScale(why string, keys ...string) {
	for _, key := range keys {
		if o.Has(key) {
			o.Fail(key, "does not belong here: %s", why).Hint = "remove the key"
		}
	}
}

// scale reads a numeric column's bounds, or its centre and spread.
func (o object) scale() fixedpoint.Scale {
	const hint = "give public numbers: bounds: [0, 120], or centre: 47 and spread: 21; never numbers computed from the private data"
	transform, ok := o.transform()
	byBounds, byCentre := o.Has("bounds"), o.Has("centre") || o.Has("spread")
	switch {
	case !ok:
	case byBounds && byCentre:
		o.reader.Fail(o.Path, "has both bounds and centre or spread").Hint = "give one of the two"
	case byBounds:
		return o.bounds(transform)
	case byCentre:
		o.Require("centre", "spread")
		before := o.Failures
		centre, spread := o.Number("centre"), o.Number("spread")
		if o.Failures > before || !o.Has("centre") || !o.Has("spread") {
			break
		}
		scale, err := transform.CentreSpread(centre, spread)
		if err != nil {
			o.Fail("spread", "%v", err)
		}
		return scale
	default:
		o.reader.Fail(o.Path, "a numeric column needs bounds, or centre and spread").Hint = hint
	}
	return fixedpoint.Scale{}
}

// transform reads what happens to a numeric column's values before they are encoded; ok is
// false where it cannot be told.
func (o object) transform() (t fixedpoint.Transform, ok bool) {
	const hint = "like 100, an amount that is small among the values: the scale is nearly linear below it and nearly logarithmic above"
	before := o.Failures
	word := schema.Choice(o.Object, "transform", transforms, "")
	unit := o.Number("unit")
	if o.Failures > before {
		return t, false
	}
	switch word {
	case "asinh":
		if !o.Has("unit") {
			o.Fail("unit", "is missing").Hint = hint
			return t, false
		}
		t, err := fixedpoint.Asinh(unit)
		if err != nil {
			o.Fail("unit", "%v", err).Hint = hint
		}
		return t, err == nil
	case "log":
		t = fixedpoint.Log()
	}
	if o.Has("unit") {
		o.Fail("unit", "belongs to transform asinh").Hint = "remove the key"
		return t, false
	}
	return t, true
}

func (o object) bounds(transform fixedpoint.Transform) fixedpoint.Scale {
	before := o.Failures
	items := o.Items("bounds", 2)
	if o.Failures == before && len(items) != 2 {
		o.Fail("bounds", "want two numbers, have %d", len(items)).Hint = "like [0, 120]"
	}
	if o.Failures > before {
		return fixedpoint.Scale{}
	}
	lo, hi := o.reader.Number(items[0]), o.reader.Number(items[1])
	if o.Failures > before {
		return fixedpoint.Scale{}
	}
	scale, err := transform.Bounds(lo, hi)
	if err != nil {
		o.Fail("bounds", "%v", err)
	}
	return scale
}

// bits reads the resolution; 0 stands for auto.
func (o object) bits() fixedpoint.Bits {
	if n := o.Values["bits"]; n == nil || n.Kind == yaml.ScalarNode && n.Value == "auto" {
		return 0
	}
	before := o.Failures
	f := fixedpoint.Bits(o.Whole("bits"))
	if o.Failures > before {
		return 0
	}
	if f < 1 || f > fixedpoint.MaxBits {
		o.Fail("bits", "%d is not between 1 and %d", f, fixedpoint.MaxBits).Hint = "auto chooses by the largest k"
	}
	return f
}

// share reads a sketch's part of the budget, of which only the ratio to the other
// sketches' parts matters.
func (o object) share(key string) float64 {
	const least, most = 1e-3, 1e3
	before := o.Failures
	x := o.Number(key)
	if o.Failures == before && (x < least || x > most) {
		o.Fail(key, "%v is not between %v and %v", x, least, most).Hint = "shares are divided by their sum: 1 and 1 are two halves"
	}
	return x
}

// sketch reads one entry of sketches.
func (r *reader) sketch(it schema.Item) study.Sketch {
	known := []string{"side", "family", "k", "s", "share", "helpers", "clip", "labels", "label_share", "matrix", "standardise"}
	for _, row := range additives() {
		known = append(known, row.keys...)
	}
	o := r.object(it.Node, it.Path, known...)
	o.Require("side")
	sk := study.Sketch{Side: schema.Choice(o.Object, "side", sides, sketch.Side("")), Share: 1}
	o.clip(&sk)
	if o.Has("share") {
		sk.Share = o.share("share")
	}
	if row, ok := additiveOf(sk.Side); ok {
		o.sumsKeys(row, &sk)
		return sk
	}
	o.Require("family")
	sk.Projection = projection.Spec{
		Family: schema.Choice(o.Object, "family", families, projection.Family("")),
		K:      o.Whole("k"),
		S:      o.Whole("s"),
	}
	sk.Labels = schema.Choice(o.Object, "labels", labelWords, study.LabelsNone)
	if o.Has("label_share") {
		sk.LabelShare = o.share("label_share")
	}
	sk.Public = schema.Choice(o.Object, "matrix", matrices, "secret") == "public"
	o.forbidSums(sk.Side)
	if o.standardise(&sk); sk.Side == sketch.Records {
		o.forbid("standardise", "belongs to sides columns and moments")
	}
	if o.Has("helpers") {
		h := r.object(o.Values["helpers"], it.Path+".helpers", "ones", "squares")
		sk.Helpers = study.Helpers{Ones: h.Number("ones"), Squares: h.Flag("squares")}
	}
	return sk
}
