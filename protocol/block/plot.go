package block

// A Plot is what a figure shows, as data.
type Plot interface{ plot() }

// Label names a row or column of a plot.
type Label struct {
	Group string // owner; empty: none
	Name  string
}

// String returns the label with its group.
func (l Label) String() string {
	switch {
	case l.Group == "":
		return l.Name
	case l.Name == "":
		return l.Group
	}
	return l.Group + ": " + l.Name
}

// Heat is a map of numbers between −1 and 1 of pairs. Colours fade as intervals widen.
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

// Across reports whether a pair is of different groups, or of labels without a group.
func (h Heat) Across(p HeatPair) bool {
	first, second := h.Labels[p.I].Group, h.Labels[p.J].Group
	return p.I != p.J && (first == "" || first != second)
}

// Forest is a column of intervals, one below the other.
type Forest struct {
	Rows   []ForestRow // clearest first; if there are many, only the first are drawn
	Of     int         // how many numbers there are; 0: Rows
	Common bool        // all share one axis; otherwise each row has its own, with 0 in the middle
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
	Order  []int // of the leaves
	Joins  []Join
	Axis   string
}

// Join merges two clusters: indices of leaves, then of joins in order.
type Join struct {
	A, B          int
	Height, Error float64
	Size          int  // number of leaves
	Open          bool // another join might have come first
}

// Scatter is points of groups in a plane, each group with its own shape.
type Scatter struct {
	Points  []Dot
	Groups  []string
	Centres []Centre // of the groups; nil: a legend names the groups
	Axes    string   // what the directions are
}

// Dot is a point.
type Dot struct {
	X, Y  float64
	Group int
}

// Centre is the middle of a group.
type Centre struct {
	X, Y  float64
	Title string
}

// Plane is means in a plane, each with its ellipse and a circle of radius one around it. If there
// is one direction, each has a line of its own.
type Plane struct {
	Means []PlaneMean
	Flat  bool
	Axes  string
}

// PlaneMean is one of the means.
type PlaneMean struct {
	Name       string
	Series     int // index of its shape and colour
	At, Within [2]float64
}

// Confusion is counts of records by true and predicted class.
type Confusion struct {
	Classes []string
	Counts  [][]float64 // by true class, then by predicted class
}

// Panels are numbers between −1 and 1 of the same rows, side by side.
type Panels struct {
	Rows   []string
	Panels []Panel
}

// Panel is one of the panels.
type Panel struct {
	Name    string
	Values  []float64 // by row
	Numbers []Number  // with their intervals
}

// Bars are horizontal bars, each with a mark to compare it with.
type Bars struct {
	Rows    []Bar
	Percent bool   // percentages: the axis runs from 0 to 100
	Axis    string // label of the axis
}

// Bar is one of the bars.
type Bar struct {
	Name, Text  string
	Value, Rule float64
	Title       string
	Mark        float64 // position of the mark
	MarkTitle   string  // empty: no mark
}

// Chart is curves over two axes, with a legend. Curves differ in dash and mark as well as in
// colour.
type Chart struct {
	Width      float64 // of the area between the axes, in pixels; 0: 520
	Height     float64 // 0: 300
	X, Y       Dimension
	Names      []string // names of categories at X = 0, 1, 2, …, in place of numbers
	Curves     []Curve
	References []Reference
}

// Dimension describes an axis of a chart.
type Dimension struct {
	Label   string
	Log     bool
	Dates   bool      // numbers are days since 1970-01-01
	Include []float64 // numbers that the axis must include, besides those of the curves
	// Low and High limit the axis, at round numbers, unless both are 0. Values beyond are drawn at
	// its end.
	Low, High float64
}

// Look says how a curve is drawn.
type Look int

// The looks of curves.
const (
	Joined  Look = iota // marks at the points, joined by lines
	Marks               // marks only
	Smooth              // a line without marks, as for a theory
	Upright             // upright bars from 0, or from the lower end of the axis
	Area                // only the band
)

// Curve is a series of points, in order.
type Curve struct {
	Name   string // in the legend; "": not listed
	Look   Look
	Band   bool // intervals form one band along the curve, not a whisker at each point
	Points []Point
	Of     int // 1, 2, …: has the colour of that curve of the chart; 0: its own
}

// Point is a Y over an X. Points are left out, and a line breaks there, if either number is not
// finite, or not positive on a logarithmic axis.
type Point struct {
	X, Y      float64
	Low, High float64 // interval of Y; none unless Low < High
	Title     string  // shown when pointing at the mark; "": both numbers
}

// PointOf returns a number over X, with its interval.
func PointOf(x float64, n Number) Point {
	if n.Undefined != "" {
		return Point{X: x}
	}
	return Point{X: x, Y: n.Value, Low: n.Low, High: n.High}
}

// Reference is a line across the plot area, with its name beside it.
type Reference struct {
	Name    string
	At      float64
	Upright bool // at an X, not at a Y
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
