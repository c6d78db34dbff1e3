package figure

import (
	"encoding/xml"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cosketch/cosketch/protocol/block"
)

var update = flag.Bool("update", false, "write the golden files")

// accuracy returns a chart with everything in it.
func accuracy() Chart {
	c := Chart{
		ID: "a", Title: "Accuracy over ε", Description: "Three ways at four ε.", Caption: "Whiskers are 95 % intervals.",
		Chart: block.Chart{
			X: block.Dimension{Label: "ε of each record", Log: true}, Y: block.Dimension{Label: "agreement with the pooled clusters"},
			References: []block.Reference{{Name: "pooled k-means", At: 0.97}, {Name: "chance & <luck>", At: 0.96}, {Name: "default", At: 1, Upright: true}},
		}}
	ours, rows, theory := block.Curve{Name: "moments and cells"}, block.Curve{Name: "row sketches"}, block.Curve{Name: "forecast", Look: block.Smooth, Band: true}
	for i, epsilon := range []float64{0.1, 0.3, 1, 3, 10} {
		y := 0.5 + 0.09*float64(i)
		ours.Points = append(ours.Points, block.Point{X: epsilon, Y: y + 0.02, Low: y - 0.03, High: y + 0.05})
		rows.Points = append(rows.Points, block.Point{X: epsilon, Y: y*y + 0.2})
		theory.Points = append(theory.Points, block.Point{X: epsilon, Y: y, Low: y - 0.07, High: y + 0.08})
	}
	rows.Points[2].Y = math.NaN()
	c.Curves = []block.Curve{ours, rows, theory}
	return c
}

func TestChart(t *testing.T) {
	path, got := filepath.Join("testdata", "chart.svg"), accuracy().Figure().File()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("the chart differs from %s (run with -update to accept):\n%s", path, got)
	}
}

// wellFormed reads an SVG as XML.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
		t.Errorf("%v:\n%s", err, svg)
	}
	if found := regexp.MustCompile(`NaN|Inf|="[^"]*\de[+-]\d`).FindString(svg); found != "" {
		t.Errorf("a number did not make it into the drawing: %s", found)
	}
}

// A point is drawn where its numbers are on the axes, and whiskers span its interval. A point
// without a number is left out and breaks the line.
func TestChartPlacesPoints(t *testing.T) {
	c := Chart{ID: "p", Title: "p", Chart: block.Chart{Width: 100, Height: 100, X: block.Dimension{Low: 0, High: 10}, Y: block.Dimension{Low: 0, High: 10},
		Curves: []block.Curve{{Points: []block.Point{{X: 0, Y: 0}, {X: 5, Y: 10, Low: 5, High: 15}, {X: 6, Y: math.NaN()}, {X: 10, Y: 2}, {X: 11, Y: 1}}}}}}
	svg := string(c.Figure().SVG())
	wellFormed(t, svg)
	left := 14 + textWidth("7.5")
	for _, want := range []string{
		fmt.Sprintf(`class="line s0" d="M%g 110L%g 10M%g 90L%g 100"`, left, left+50, left+100, left+100),
		fmt.Sprintf(`class="whisker s0" d="M%g 60V10`, left+50),
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
	if n := strings.Count(svg, "<title>"); n != 4 {
		t.Errorf("%d marks say their numbers, want 4", n)
	}
}

// Charts without points, with one point, with names and with many points can be drawn.
func TestChartsOfAnything(t *testing.T) {
	many := block.Curve{Name: "many", Look: block.Smooth}
	for i := range 10 * mostPoints {
		many.Points = append(many.Points, block.Point{X: float64(i), Y: math.Sin(float64(i))})
	}
	for name, plot := range map[string]block.Chart{
		"nothing":       {},
		"empty log":     {X: block.Dimension{Log: true}, Y: block.Dimension{Log: true}, Curves: []block.Curve{{Points: []block.Point{{X: -1, Y: 0}}}}},
		"one":           {Curves: []block.Curve{{Name: "one", Points: []block.Point{{X: 3, Y: 7}}}}},
		"log interval":  {Y: block.Dimension{Log: true}, Curves: []block.Curve{{Band: true, Points: []block.Point{{X: 1, Y: 1, Low: -1, High: 2}, {X: 2, Y: 1, Low: 0, High: 2}}}}},
		"names":         {Names: []string{"gaussian", "a sparse projection with a long name"}, Curves: []block.Curve{{Look: block.Upright, Points: []block.Point{{X: 0, Y: 1}, {X: 1, Y: -2}}}}},
		"area":          {Y: block.Dimension{Log: true}, Curves: []block.Curve{{Look: block.Area, Points: []block.Point{{X: 1, Low: 1, High: 2}, {X: 2, Low: 1, High: 3}}}}},
		"infinite":      {Curves: []block.Curve{{Points: []block.Point{{X: 1, Y: math.Inf(1)}, {X: 2, Y: 1}}}}},
		"a huge number": {Curves: []block.Curve{{Points: []block.Point{{X: 1, Y: 1e300}, {X: 2, Y: -1e300}}}}},
		"more curves":   {Curves: make([]block.Curve, 20)},
		"many":          {Curves: []block.Curve{many}},
	} {
		t.Run(name, func(t *testing.T) {
			f := New(block.Figure{ID: "c", Title: name, Plot: plot})
			wellFormed(t, string(f.SVG()))
			wellFormed(t, string(f.File()))
			if size := len(f.SVG()); size > 30_000 {
				t.Errorf("%d bytes", size)
			}
			if name == "many" && !strings.Contains(f.Caption, "Shows 1500 of the 15000 points of many.") {
				t.Errorf("the caption %q does not say what is left out", f.Caption)
			}
		})
	}
}

func TestLogAxis(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		ticks   string
	}{
		{[]float64{100, 3000}, "100 200 500 1000 2000 5000"},
		{[]float64{0.2, 1.6}, "0.2 0.5 1 2"},
		{[]float64{1e-8, 1}, "10⁻⁸ 10⁻⁶ 0.0001 0.01 1"},
		{[]float64{1, 1}, "1 2"},
		{[]float64{-3, 0}, "1 2 5 10"},
		{[]float64{3e6, 4e6}, "2·10⁶ 5·10⁶"},
	} {
		var texts []string
		a := NewLogAxis(0, 100, c.numbers...)
		for _, tick := range a.Ticks() {
			texts = append(texts, tick.Text)
		}
		if got := strings.Join(texts, " "); got != c.ticks {
			t.Errorf("%v has the ticks %s, want %s", c.numbers, got, c.ticks)
		}
	}
	if at := NewLogAxis(0, 100, 1, 100).At(10); at != 50 {
		t.Errorf("10 between 1 and 100 is at %g, want the middle", at)
	}
}

// The style sheet has everything that marks, lines and minimum widths refer to.
func TestStyle(t *testing.T) {
	css := string(Style())
	f := accuracy().Figure()
	for _, class := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(string(f.SVG()), -1) {
		for _, name := range strings.Fields(class[1]) {
			if !strings.Contains(css, "."+name) && name != "legend" {
				t.Errorf("no style for the class %q", name)
			}
		}
	}
}
