package study

import (
	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/fixedpoint"
	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
)

// defaultKurtosis is that of a normal distribution.
const defaultKurtosis = 3

// column reads one entry of columns. What a kind asks for or forbids is checked here,
// because afterwards only the finished Scale is left.
func (r *reader) column(it item) Column {
	o := r.object(it.node, it.path, "name", "kind", "transform", "unit", "bounds", "centre", "spread", "source", "values", "owner", "role", "kurtosis")
	o.require("name", "kind")
	c := Column{
		Name:     o.name("name"),
		Kind:     choice(o, "kind", columnKinds, ColumnKind("")),
		Owner:    o.name("owner"),
		Label:    choice(o, "role", roles, "feature") == "label",
		Kurtosis: defaultKurtosis,
	}
	if o.has("source") {
		c.Source = r.value(item{o.values["source"], it.path + ".source"})
	}
	if o.has("kurtosis") {
		c.Kurtosis = o.number("kurtosis")
	}
	switch c.Kind {
	case Numeric:
		o.forbid("values", "belongs to categorical columns")
		c.Scale = o.scale()
	case Binary:
		o.forbid("values", "belongs to categorical columns")
		o.forbidScale("a binary column is 0 or 1", "bounds", "spread")
		c.Scale = o.rate()
	case Categorical:
		o.forbidScale("the values of a categorical column are listed", "bounds", "centre", "spread")
		o.forbid("kurtosis", "belongs to numeric columns")
		o.require("values")
		for _, v := range o.items("values", MaxValues) {
			c.Values = append(c.Values, r.value(v))
		}
		c.Scale = unitScale(r, it.path)
	}
	if c.Kind != Numeric {
		o.forbid("transform", "belongs to numeric columns")
		o.forbid("unit", "belongs to numeric columns")
	}
	return c
}

// unitScale is the scale of entries that are 0 or 1.
func unitScale(r *reader, path string) fixedpoint.Scale {
	scale, err := fixedpoint.Bounds(0, 1)
	if err != nil {
		r.fail(path, "%v", err)
	}
	return scale
}

// rate reads the centre of a binary column: the public share of its ones.
func (o object) rate() fixedpoint.Scale {
	before := o.r.failures
	if !o.has("centre") {
		return unitScale(o.r, o.path)
	}
	rate := o.number("centre")
	if o.r.failures > before {
		return fixedpoint.Scale{}
	}
	scale, err := fixedpoint.Binary(rate)
	if err != nil {
		o.fail("centre", "%v is not between 0 and 1", rate).Hint = "the centre of a binary column is the public share of its ones, like 0.03"
	}
	return scale
}

func (o object) forbid(key, why string) {
	if o.has(key) {
		o.fail(key, "does not belong here: it %s", why).Hint = "remove the key"
	}
}

func (o object) forbidScale(why string, keys ...string) {
	for _, key := range keys {
		if o.has(key) {
			o.fail(key, "does not belong here: %s", why).Hint = "remove the key"
		}
	}
}

// scale reads a numeric column's bounds, or its centre and spread.
func (o object) scale() fixedpoint.Scale {
	const hint = "give public numbers: bounds: [0, 120], or centre: 47 and spread: 21; never numbers computed from the private data"
	transform, ok := o.transform()
	byBounds, byCentre := o.has("bounds"), o.has("centre") || o.has("spread")
	switch {
	case !ok:
	case byBounds && byCentre:
		o.r.fail(o.path, "has both bounds and centre or spread").Hint = "give one of the two"
	case byBounds:
		return o.bounds(transform)
	case byCentre:
		o.require("centre", "spread")
		before := o.r.failures
		centre, spread := o.number("centre"), o.number("spread")
		if o.r.failures > before || !o.has("centre") || !o.has("spread") {
			break
		}
		scale, err := transform.CentreSpread(centre, spread)
		if err != nil {
			o.fail("spread", "%v", err)
		}
		return scale
	default:
		o.r.fail(o.path, "a numeric column needs bounds, or centre and spread").Hint = hint
	}
	return fixedpoint.Scale{}
}

// transform reads what happens to a numeric column's values before they are encoded; ok is
// false where it cannot be told.
func (o object) transform() (t fixedpoint.Transform, ok bool) {
	const hint = "like 100, an amount that is small among the values: the scale is nearly linear below it and nearly logarithmic above"
	before := o.r.failures
	word := choice(o, "transform", transforms, "")
	unit := o.number("unit")
	if o.r.failures > before {
		return t, false
	}
	switch word {
	case "asinh":
		if !o.has("unit") {
			o.fail("unit", "is missing").Hint = hint
			return t, false
		}
		t, err := fixedpoint.Asinh(unit)
		if err != nil {
			o.fail("unit", "%v", err).Hint = hint
		}
		return t, err == nil
	case "log":
		t = fixedpoint.Log()
	}
	if o.has("unit") {
		o.fail("unit", "belongs to transform asinh").Hint = "remove the key"
		return t, false
	}
	return t, true
}

func (o object) bounds(transform fixedpoint.Transform) fixedpoint.Scale {
	before := o.r.failures
	items := o.items("bounds", 2)
	if o.r.failures == before && len(items) != 2 {
		o.fail("bounds", "want two numbers, have %d", len(items)).Hint = "like [0, 120]"
	}
	if o.r.failures > before {
		return fixedpoint.Scale{}
	}
	lo, hi := o.r.number(items[0]), o.r.number(items[1])
	if o.r.failures > before {
		return fixedpoint.Scale{}
	}
	scale, err := transform.Bounds(lo, hi)
	if err != nil {
		o.fail("bounds", "%v", err)
	}
	return scale
}

// bits reads the resolution; 0 stands for auto.
func (o object) bits() fixedpoint.Bits {
	if n := o.values["bits"]; n == nil || n.Kind == yaml.ScalarNode && n.Value == "auto" {
		return 0
	}
	before := o.r.failures
	f := fixedpoint.Bits(o.integer("bits"))
	if o.r.failures > before {
		return 0
	}
	if f < 1 || f > fixedpoint.MaxBits {
		o.fail("bits", "%d is not between 1 and %d", f, fixedpoint.MaxBits).Hint = "auto chooses by the largest k"
	}
	return f
}

// share reads a sketch's part of the budget, of which only the ratio to the other
// sketches' parts matters.
func (o object) share(key string) float64 {
	const least, most = 1e-3, 1e3
	before := o.r.failures
	x := o.number(key)
	if o.r.failures == before && (x < least || x > most) {
		o.fail(key, "%v is not between %v and %v", x, least, most).Hint = "shares are divided by their sum: 1 and 1 are two halves"
	}
	return x
}

// sketch reads one entry of sketches.
func (r *reader) sketch(it item) Sketch {
	known := []string{"side", "family", "k", "s", "share", "helpers", "clip", "labels", "label_share", "matrix", "standardise"}
	for _, row := range additives() {
		known = append(known, row.keys...)
	}
	o := r.object(it.node, it.path, known...)
	o.require("side")
	sk := Sketch{Side: choice(o, "side", sides, sketch.Side("")), Share: 1}
	o.clip(&sk)
	if o.has("share") {
		sk.Share = o.share("share")
	}
	if row, ok := additiveOf(sk.Side); ok {
		o.sumsKeys(row, &sk)
		return sk
	}
	o.require("family")
	sk.Projection = projection.Spec{
		Family: choice(o, "family", families, projection.Family("")),
		K:      o.integer("k"),
		S:      o.integer("s"),
	}
	sk.Labels = choice(o, "labels", labelWords, LabelsNone)
	if o.has("label_share") {
		sk.LabelShare = o.share("label_share")
	}
	sk.Public = choice(o, "matrix", matrices, "secret") == "public"
	o.forbidSums(sk.Side)
	if o.standardise(&sk); sk.Side == sketch.Records {
		o.forbid("standardise", "belongs to sides columns and moments")
	}
	if o.has("helpers") {
		h := r.object(o.values["helpers"], it.path+".helpers", "ones", "squares")
		sk.Helpers = Helpers{Ones: h.number("ones"), Squares: h.flag("squares")}
	}
	return sk
}
