package file

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/kernel/projection"
	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// onlyOf returns a check: it says why a key does not belong to a sketch of any other side than
// these.
func onlyOf(says string, sides ...sketch.Side) func(*study.Sketch) string {
	return func(sk *study.Sketch) string {
		if sk.Side == "" || slices.Contains(sides, sk.Side) {
			return ""
		}
		return says
	}
}

// projecting says why a key does not belong to a sketch that sums over records.
func projecting(sk *study.Sketch) string {
	if sk.Side.Sums() {
		return "side " + string(sk.Side) + " does not project"
	}
	return ""
}

// sketchKeys returns the keys of an entry of sketches, in the order of the meaning.
func sketchKeys() schema.Keys[study.Sketch] {
	type K = study.Sketch
	keys := schema.Keys[K]{
		{Name: "side", Required: true, Path: "sketch.side", Doc: "columns: compares columns; records: compares records; moments, cells, counts, codes, look: noisy sums of horizontal studies", Form: schema.Word(func(sk *K) *sketch.Side { return &sk.Side }, sides)},
		{
			Name: "family", Path: "sketch.family", Forbidden: projecting, Doc: "of the projection; not for moments, cells, counts, codes and look",
			Form: schema.Word(func(sk *K) *projection.Family { return &sk.Projection.Family }, families),
		},
		{
			Name: "k", Path: "sketch.k", Forbidden: projecting, Doc: "dimensions of the projection; needed, but of identity left out",
			Form: schema.Whole(func(sk *K) *int { return &sk.Projection.K }, 1, projection.MaxK),
		},
		{
			Name: "s", Path: "sketch.s", Forbidden: projecting, Doc: "sparse: non-zeros in a row of R", Unset: "1",
			Form: anyWhole(func(sk *K) *int { return &sk.Projection.S }, "whole number, 1 to k, dividing it"),
		},
		{
			Name: "matrix", Path: "sketch.matrix", Forbidden: projecting, Unset: "secret", Doc: "records side; public: the aggregator may know R, and answer vectors of its own",
			Form: schema.Either(func(sk *K) *bool { return &sk.Public }, "matrix", "secret", "public"),
		},
		{
			Name: "share", Path: "sketch.share", Default: "1", Doc: "its part of the budget, beside others'", Hint: shares,
			Form: schema.Between(func(sk *K) *float64 { return &sk.Share }, leastShare, mostShare),
		},
		{
			Name: "helpers", Doc: "columns side: derived columns", Forbidden: onlyOf("helpers are columns of a columns-side sketch", sketch.Columns),
			Form: schema.Table(func(sk *K) *study.Helpers { return &sk.Helpers }, helpersKeys()),
		},
		{
			Name: "clip", Path: "sketch.clip", Forbidden: func(sk *K) string {
				switch sk.Side {
				case sketch.Counts:
					return "it cuts records to a length, and here each counts as one"
				case sketch.Look:
					return "it cuts records to a length, and here none is cut"
				case sketch.Codes:
					return "it cuts records to a length, and here the first round says to which"
				}
				return ""
			}, Unset: "`whole` or `own` for moments that can have it, else needed",
			Doc: "unit record: the greatest length of a record's part, in units of three spreads or of the range between bounds. `whole` (moments and cells without a centre and spread) cuts nothing; with `own` (moments) each party chooses by noisy counts of its records' lengths, or with side look all parties together",
			Form: schema.Custom("number, one step of `bits` to 1000; `whole`, or `own`", readClip).Encoded(func(e *schema.Encoder, path string, sk *K) {
				e.Real(path, sk.Clip)
				e.Flag(path+".whole", sk.Whole)
				e.Flag(path+".own", sk.OwnClip)
			}),
		},
	}
	rows := additives()
	keys = append(keys, rows[0].rows()...)
	keys = append(keys,
		schema.Key[K]{
			Name: "standardise", Path: "sketch.standardise", Unset: "no", Forbidden: onlyOf("it belongs to sides columns and moments", sketch.Columns, sketch.Moments),
			Doc: "moments, and columns of vertical studies under unit record with gaussian noise: `own` centres and scales columns that have bounds by each party's own noisy mean and spread, or with side look by those of all parties, before anything is summed. In sketches of columns bits are centred, too, and correlations divide by noisy sums instead of by the sketch",
			Form: schema.Custom("`own`", func(r *schema.Reader, at schema.Item, sk *K) {
				sk.Standardise = schema.Words{What: "way to standardise", Has: []string{"own"}}.Read(r, at) != ""
			}).Encoded(func(e *schema.Encoder, path string, sk *K) { e.Flag(path, sk.Standardise) }),
		},
		schema.Key[K]{
			Name: "labels", Path: "sketch.labels", Unset: "nothing", Forbidden: onlyOf("labels go with the rows of a records-side sketch", sketch.Records),
			Doc: "records side: what of each record's label travels beside its row",
			Form: schema.Word(func(sk *K) *study.Labels { return &sk.Labels }, labelWords).Encoded(func(e *schema.Encoder, path string, sk *K) {
				if sk.Labels != study.LabelsNone || sk.LabelShare != 0 { // paths of their own, absent in other studies
					e.Text(path, string(sk.Labels))
					e.Real("sketch.label_share", sk.LabelShare)
				}
			}),
		},
		schema.Key[K]{
			Name: "label_share", Unset: "as much as `share`", Doc: "unit record: the randomised labels' part of the budget", Hint: shares,
			Forbidden: onlyOf("labels go with the rows of a records-side sketch", sketch.Records),
			Form:      schema.Between(func(sk *K) *float64 { return &sk.LabelShare }, leastShare, mostShare),
		},
	)
	for _, row := range rows[1:] {
		keys = append(keys, row.rows()...)
	}
	return keys
}

// Range of a sketch's share of the budget. Only its ratio to the other shares matters.
const (
	leastShare, mostShare = 1e-3, 1e3
	shares                = "shares are divided by their sum: 1 and 1 are two halves"
)

func helpersKeys() schema.Keys[study.Helpers] {
	type H = study.Helpers
	return schema.Keys[H]{
		{
			Name: "ones", Path: "sketch.helpers.ones", Doc: "weight of a column of ones", Unset: "1 where an analysis needs it, 0.7 under unit record, else 0",
			Hint: "it is the weight of the column of ones; 0 leaves it out",
			Form: schema.Between(func(h *H) *float64 { return &h.Ones }, 0, 1),
		},
		{
			Name: "squares", Path: "sketch.helpers.squares", Unset: "false", Doc: "squares of all values, for estimator E1",
			Form: schema.Flag(func(h *H) *bool { return &h.Squares }),
		},
	}
}

// readClip reads a length, or the words own and whole.
func readClip(r *schema.Reader, at schema.Item, sk *study.Sketch) {
	word := ""
	if at.Node.Kind == yaml.ScalarNode {
		word = at.Node.Value
	}
	switch word {
	case "own":
		if sk.OwnClip = true; sk.Side != sketch.Moments {
			r.Fail(at.Path, "own belongs to side moments").Hint = "write a length, like 0.8"
		}
	case "whole":
		if sk.Whole = true; !sk.Side.Sums() {
			r.Fail(at.Path, "whole belongs to sides moments and cells").Hint = "write a length, like 0.8"
		}
	default:
		sk.Clip = r.Number(at)
	}
}
