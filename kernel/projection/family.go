package projection

import "fmt"

// family is what a distribution of R has to tell and to make. Adding one means
// adding a file with its implementation and a line in Spec.family.
type family interface {
	// check refuses a spec that does not fit the family; K is in range already.
	check(Spec) error
	// norms returns the norms of integer rows.
	norms(Spec) norms
	// blank returns a row to be drawn, or nil for a family whose rows are not a
	// function of a label alone.
	blank(Spec) keyedRow
	// fix returns the rows of a list of labels.
	fix(Spec, Source, [][]byte) ([]row, error)
}

// norms of an integer row r of R: Σ|r_i|, Σ r_i², and a bound on every |r_i|. All
// rows of a family have the same two norms, or, where it is uneven, at most these.
type norms struct{ l1, l2Squared, largest int64 }

// uneven is a family whose rows differ in length.
type uneven interface {
	// scale returns 1/√E[Σ r_i²]; for the other families norms tell it.
	scale(Spec) float64
}

// row is one row r of R in its family's compact form. What it does is the inner
// loop of every sketch.
type row interface {
	// addScaled adds c·r to y, of length K.
	addScaled(y []int64, c int64)
}

// keyedRow is a row that can become that of any label.
type keyedRow interface {
	row
	draw(source Source, label []byte)
	// addOuter adds r xᵀ to u, K × len(x) row-major.
	addOuter(u, x []int64)
}

func (s Spec) family() (family, error) {
	switch s.Family {
	case Sparse:
		return sparse{}, nil
	case Rademacher:
		return rademacher{}, nil
	case Achlioptas:
		return achlioptas{}, nil
	case Gaussian:
		return gaussian{}, nil
	case Hadamard:
		return hadamard{}, nil
	case Identity:
		return identity{}, nil
	}
	return nil, fmt.Errorf("unknown projection family %q: want %s, %s, %s, %s, %s or %s",
		string(s.Family), Sparse, Rademacher, Achlioptas, Gaussian, Hadamard, Identity)
}

// drawn returns the rows of a list of labels of a keyed family.
func drawn(f family, s Spec, source Source, labels [][]byte) ([]row, error) {
	if source == nil {
		return nil, errNoSource
	}
	rows := make([]row, len(labels))
	for j, label := range labels {
		r := f.blank(s)
		r.draw(source, label)
		rows[j] = r
	}
	return rows, nil
}
