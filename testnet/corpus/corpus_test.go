package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func open(t *testing.T) Corpus {
	t.Helper()
	c, err := Open("", os.Getenv)
	if errors.Is(err, ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestShapes checks every data set against the shape that its archive states.
func TestShapes(t *testing.T) {
	c := open(t)
	adult, err := c.Adult()
	if err != nil || len(adult.Rows) != 32561 {
		t.Errorf("adult: %d rows, %v", len(adult.Rows), err)
	}
	if ages, err := adult.Numbers("age"); err != nil || ages[0] != 39 {
		t.Errorf("adult: %v", err)
	}
	if classes, err := adult.Column("workclass"); err != nil || classes[0] != "State-gov" || classes[27] != "" {
		t.Errorf("adult: workclass %q and, missing, %q: %v", classes[0], classes[27], err)
	}
	hospitals, err := c.Heart()
	if err != nil || len(hospitals) != 4 {
		t.Fatalf("heart: %d hospitals, %v", len(hospitals), err)
	}
	for i, want := range []int{303, 294, 123, 200} {
		if got := len(hospitals[i].Rows); got != want {
			t.Errorf("heart: %s has %d patients, want %d", hospitals[i].Name, got, want)
		}
	}
	diabetes, err := c.Diabetes130()
	if err != nil || len(diabetes.Rows) != 101766 || len(diabetes.Names) != 50 {
		t.Errorf("diabetes: %d × %d, %v", len(diabetes.Rows), len(diabetes.Names), err)
	}
	iris, err := c.Iris()
	if err != nil || len(iris.Rows) != 150 {
		t.Errorf("iris: %d flowers, %v", len(iris.Rows), err)
	}
	retail, err := c.Retail()
	if err != nil || len(retail) != 88162 {
		t.Errorf("retail: %d baskets, %v", len(retail), err)
	}
	charts, err := c.SyntheticControl()
	if err != nil || len(charts) != 600 || len(charts[599]) != 60 {
		t.Errorf("control charts: %d, %v", len(charts), err)
	}
}

func TestRefused(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(empty, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open("", func(string) string { return "" }); !errors.Is(err, ErrNone) {
		t.Errorf("no folder: %v", err)
	}
	for _, dir := range []string{file, filepath.Join(empty, "missing")} {
		if _, err := Open(dir, os.Getenv); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", dir, err)
		}
	}
	c, err := Open("", func(string) string { return empty })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Iris(); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "UCI") {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(empty, "iris"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "iris", "iris.data"), []byte("5.1,3.5,1.4,0.2,Iris-setosa\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Iris(); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Errorf("another file: %v", err)
	}
}

func TestTable(t *testing.T) {
	table, err := newTable("it", []string{"a", "b"}, []string{"1, x", "2,?"})
	if err != nil {
		t.Fatal(err)
	}
	if b, err := table.Column("b"); err != nil || b[0] != "x" || b[1] != "" {
		t.Errorf("%q, %v", b, err)
	}
	if a, err := table.Numbers("a"); err != nil || a[1] != 2 {
		t.Errorf("%v, %v", a, err)
	}
	if _, err := table.Numbers("b"); err == nil {
		t.Error("text was read as a number")
	}
	if _, err := table.Column("c"); err == nil || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("no such column: %v", err)
	}
	if _, err := newTable("it", []string{"a", "b"}, []string{"1"}); err == nil {
		t.Error("a short line was read")
	}
}
