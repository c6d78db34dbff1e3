package study

import (
	"fmt"

	"github.com/cosketch/cosketch/kernel/sketch"
	"github.com/cosketch/cosketch/protocol/block"
)

// SketchHeading names a study's sketch, counted from 0, and says how it is made.
func SketchHeading(i int, side sketch.Side, made string) block.Heading {
	return block.Heading{ID: fmt.Sprintf("sketch-%d", i+1), Text: fmt.Sprintf("Sketch %d", i+1), Says: fmt.Sprintf("%s side, %s", side, made)}
}
