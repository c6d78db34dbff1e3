// Package figure draws results as SVG without scripts: charts of curves over linear and logarithmic
// axes, and the marks, palettes, axes and numbers of all other pictures. Whatever a figure shows by
// colour it also shows by shape, dash, hatching or text.
//
// A figure is an element of a page whose head holds Style, or a separate file. Both follow the
// reader's choice of light or dark. Equal input gives equal bytes.
package figure
