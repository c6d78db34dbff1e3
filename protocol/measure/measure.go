// Package measure has the units of numbers in results, and their texts.
package measure

// Unit is the unit of numbers in a result. Its value is the text in documents, which is compared as
// a whole.
type Unit string

// The names of units, and the definitions of encoded values.
const (
	original = "original"
	encoded  = "encoded"
	squared  = "squared " + encoded
	plain    = "plain"

	ofRange    = " over the range of bounds or over 3 spreads"
	fromOrigin = "(value - origin)" + ofRange
	fromCentre = "(value - centre)" + ofRange + ", the centre of bounds being their middle"
	ofDensity  = "the density around the neighbours over that around the record"
)

// The units.
const (
	Original Unit = original
	Encoded  Unit = encoded + ": " + fromOrigin
	NoOffset Unit = encoded + ": " + fromOrigin + ", as the sketch has no column of ones" // encoded, because originals are not available
	Centred  Unit = encoded + ": " + fromCentre
	Squared  Unit = squared + ": " + fromOrigin
	Density  Unit = plain + ": " + ofDensity
)

var names = map[Unit]string{Original: original, Encoded: encoded, NoOffset: encoded, Centred: encoded, Squared: squared, Density: plain}

// Name returns the unit in a word or two. For an unknown unit, as of a later version, it returns
// the whole text.
func (u Unit) Name() string {
	if name, ok := names[u]; ok {
		return name
	}
	return string(u)
}

// Sentence says in which unit numbers are, and what that unit is.
func (u Unit) Sentence() string {
	text, name := string(u), u.Name()
	return "In " + name + " units" + text[len(name):] + "."
}
