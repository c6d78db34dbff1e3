package study

// Sealed says how the sealed texts of the seed agreement travel.
type Sealed string

const (
	SealedWhole Sealed = ""      // in the share: every member reads all of them
	SealedApart Sealed = "apart" // beside the share: each member reads the one sealed to it
)

// MostWhole is the largest number of parties of a study whose shares contain their texts, and of
// one whose records are joined. Sums have room for at least this many parties.
const MostWhole = 64

// MostUnmasked is the largest number of parties of a study without masked sums: while analyses run,
// each release is held separately, and each member may have to welcome each late party.
const MostUnmasked = 256

// Apart reports whether sealed texts travel apart from their shares.
func (s *Study) Apart() bool { return s.Sealed == SealedApart }

// ExactParties returns the number of parties over which exact sums are sure to fit.
func (s *Study) ExactParties() int64 { return max(MostWhole, int64(len(s.Parties))) }
