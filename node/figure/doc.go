// Package figure draws: the marks, palettes, axes and numbers that the pages of results
// share, as SVG without scripts. Whatever a figure says by colour it also says by shape,
// hatching or text.
package figure
