package block

// A Plot is what a figure shows, as data.
type Plot interface{ plot() }

// Label names a row or column of a plot.
type Label struct {
	Group string // whose it is; empty: nobody's
	Name  string
}

// String is the label with its group.
func (l Label) String() string {
	switch {
	case l.Group == "":
		return l.Name
	case l.Name == "":
		return l.Group
	}
	return l.Group + ": " + l.Name
}

// Heat is numbers between −1 and 1 of pairs, as a map whose colours fade as intervals widen.
type Heat struct {
	Labels []Label
	Order  []int // of the labels; nil: by group
	Pairs  []HeatPair
}

// HeatPair is the number of two labels.
type HeatPair struct {
	I, J int
	Number
}

// Across reports a pair of different groups, or of labels without one.
func (h Heat) Across(p HeatPair) bool {
	first, second := h.Labels[p.I].Group, h.Labels[p.J].Group
	return p.I != p.J && (first == "" || first != second)
}

// Forest is intervals one under the other.
type Forest struct {
	Rows   []ForestRow // the clearest first; of many the first are drawn
	Of     int         // how many numbers there are; 0: Rows
	Common bool        // all are on one axis; else each row has its own, whose middle is 0
	Unit   string      // below the common axis
}

// ForestRow is a number with its name.
type ForestRow struct {
	Name string
	Number
}

// Tree is a dendrogram.
type Tree struct {
	Leaves []string
	Order  []int // in which leaves stand
	Joins  []Join
	Axis   string
}

// Join puts two of what was there together: leaves, then joins in their order.
type Join struct {
	A, B          int
	Height, Error float64
	Size          int  // leaves
	Open          bool // another join might have come before
}

// Scatter is points of groups in a plane, each group with a shape of its own.
type Scatter struct {
	Points  []Dot
	Groups  []string
	Centres []Centre // of the groups; nil: a legend names those
	Axes    string   // what the directions are
}

// Dot is a point.
type Dot struct {
	X, Y  float64
	Group int
}

// Centre is where the middle of a group is.
type Centre struct {
	X, Y  float64
	Title string
}

// Plane is means in a plane, each with its ellipse and a circle of one unit around it; of one direction, each has a
// line of its own.
type Plane struct {
	Means []PlaneMean
	Flat  bool
	Axes  string
}

// PlaneMean is one of them.
type PlaneMean struct {
	Name       string
	Series     int // of its shape and colour
	At, Within [2]float64
}

// Confusion is counts of classes by what they were taken for.
type Confusion struct {
	Classes []string
	Counts  [][]float64 // by true class, then by predicted one
}

// Panels are numbers between −1 and 1 of the same rows, side by side.
type Panels struct {
	Rows   []string
	Panels []Panel
}

// Panel is one of them.
type Panel struct {
	Name    string
	Values  []float64 // by row
	Numbers []Number  // with what is known of their intervals
}

// Bars are lying bars, each beside a line to compare it with.
type Bars struct {
	Rows  []Bar
	Whole bool   // of a hundred: the axis is from 0 to 100
	Axis  string // label
}

// Bar is one of them.
type Bar struct {
	Name, Text  string
	Value, Rule float64
	Title       string
	Mark        float64 // beside its end
	MarkTitle   string  // empty: there is no mark
}

// Chart is curves over two axes, with a legend. Curves differ by dash and mark as
// well as by colour.
type Chart struct {
	Width      float64 // of the area between the axes, in pixels; 0: 520
	Height     float64 // 0: 300
	X, Y       Dimension
	Names      []string // of categories at 0, 1, 2, … of X, in place of numbers
	Curves     []Curve
	References []Reference
}

// Dimension is what an axis of a chart shows.
type Dimension struct {
	Label   string
	Log     bool
	Dates   bool      // numbers are days since 1970-01-01
	Include []float64 // numbers that the axis holds besides those of the curves
	// Low and High cut the axis, at round numbers, where they are not both 0: what lies
	// beyond is drawn at its end.
	Low, High float64
}

// Look is how a curve is drawn.
type Look int

// The looks of curves.
const (
	Joined  Look = iota // marks at the points, joined by lines
	Marks               // marks alone
	Smooth              // a line without marks, as of a theory
	Upright             // upright bars from 0, or from the lower end of the axis
	Area                // nothing but the band
)

// Curve is a series of points, in order.
type Curve struct {
	Name   string // in the legend; "": not in it
	Look   Look
	Band   bool // intervals are one band along the curve, not a whisker at each point
	Points []Point
	Of     int // 1, 2, …: has the colour of that curve of the chart; 0: its own
}

// Point is a number over a number. Points of which one is not finite, or not positive on a
// logarithmic axis, are left out, and a line breaks there.
type Point struct {
	X, Y      float64
	Low, High float64 // interval of Y; none unless Low < High
	Title     string  // shows when the mark is pointed at; "": both numbers
}

// PointOf is a number over X, with its interval.
func PointOf(x float64, n Number) Point {
	if n.Undefined != "" {
		return Point{X: x}
	}
	return Point{X: x, Y: n.Value, Low: n.Low, High: n.High}
}

// Reference is a line across the area, with its name beside it.
type Reference struct {
	Name    string
	At      float64
	Upright bool // at a number of X, not of Y
}

func (Heat) plot()      {}
func (Forest) plot()    {}
func (Tree) plot()      {}
func (Scatter) plot()   {}
func (Plane) plot()     {}
func (Confusion) plot() {}
func (Panels) plot()    {}
func (Bars) plot()      {}
func (Chart) plot()     {}
