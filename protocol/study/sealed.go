package study

// Sealed says how the sealed texts of the seed agreement travel.
type Sealed string

const (
	SealedWhole Sealed = ""      // in the share: every member reads those of all
	SealedApart Sealed = "apart" // beside it: each member reads the one that is sealed to it
)

// MostWhole is the most parties of a study whose shares hold their texts, of one whose records
// are joined, and that sums are reckoned for at least.
const MostWhole = 64

// MostUnmasked is the most parties of a study without masked sums: each release is held by itself while analyses
// run, and each member may welcome each party that comes late.
const MostUnmasked = 256

// Apart reports whether sealed texts travel apart from their shares.
func (s *Study) Apart() bool { return s.Sealed == SealedApart }

// Summands is over how many parties exact sums are sure to hold.
func (s *Study) Summands() int64 { return max(MostWhole, int64(len(s.Parties))) }
