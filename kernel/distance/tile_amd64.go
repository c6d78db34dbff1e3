//go:build amd64 && !purego

package distance

import "github.com/cosketch/cosketch/kernel/cpu"

//go:noescape
func scoresAVX2(to, rows, panel *float32, n int)

//go:noescape
func scoresAVX512(to, rows, panel *float32, n int)

//go:noescape
func belowAVX2(masks *uint32, scores, limits *float32) bool

//go:noescape
func leastAVX2(to *BestRows, scores *float32, first int32)

func tileScores(l cpu.Level, to, rows, panel *float32, n int) {
	if l == cpu.AVX512 {
		scoresAVX512(to, rows, panel, n)
	} else {
		scoresAVX2(to, rows, panel, n)
	}
}

// The other functions run once, not once for each coordinate, and so have one version for both
// levels.

func tileBelow(masks *uint32, scores, limits *float32) bool {
	return belowAVX2(masks, scores, limits)
}

func tileLeast(to *BestRows, scores *float32, first int32) { leastAVX2(to, scores, first) }
