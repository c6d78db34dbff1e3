// Package show turns results into blocks: for each kind of analysis there is one function, in a file of its own, that
// says what an answer means. Package node/present makes text and pages of the blocks.
package show
