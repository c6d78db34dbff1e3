// Package measure has the units of numbers in results, and their words.
package measure

// Unit is what numbers are in. Its value is the text that documents hold, which is compared as a whole.
type Unit string

// The names of units, and what one of an encoded value is.
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
	NoOffset Unit = encoded + ": " + fromOrigin + ", as the sketch has no column of ones" // encoded, for want of originals
	Centred  Unit = encoded + ": " + fromCentre
	Squared  Unit = squared + ": " + fromOrigin
	Density  Unit = plain + ": " + ofDensity
)

var names = map[Unit]string{Original: original, Encoded: encoded, NoOffset: encoded, Centred: encoded, Squared: squared, Density: plain}

// Name is the unit in a word or two. A unit of a later version, or none, says all that it says.
func (u Unit) Name() string {
	if name, ok := names[u]; ok {
		return name
	}
	return string(u)
}

// Sentence says what numbers are in, and what that is.
func (u Unit) Sentence() string {
	text, name := string(u), u.Name()
	return "In " + name + " units" + text[len(name):] + "."
}
