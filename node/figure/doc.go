// Package figure draws: charts of curves over linear and logarithmic axes, and the marks,
// palettes, axes and numbers of all other pictures of results, as SVG without scripts.
// Whatever a figure says by colour it also says by shape, dash, hatching or text.
//
// A figure is an element of a page, whose head holds Style, or a file of its own. Both
// follow the reader's choice of light or dark. The same input gives the same bytes.
package figure
