// Package release says what one party ships in a study, exactly: for every
// sketch its plan (features, clipping, sensitivity, noise, shape, limits), the
// builder that turns encoded records into the exact sketch, and the header and
// chunks in which the noised sketch travels.
//
// The plan is a function of the study alone, so the aggregator computes the same
// one and never has to believe a header about scale or noise.
//
// # What a party looks at first
//
// A party may look at its own records with a part of the sketch's μ². With `clip: own` it counts
// for how many records each public length is the first that does not cut them: a record moves one
// count. With `standardise: own` it takes noisy sums and squares of numeric columns with bounds:
// each value is limited to its bounds, so that it moves two entries by at most a public number
// each. The length, centres and spreads that it then chooses follow from these noisy numbers
// alone and are published with the release, so that to choose costs nothing more
// (post-processing). The noise of the sketch is calibrated to the chosen length, with what is
// left of μ²; looks and sketch compose exactly. The noisy look by which a party standardises is
// kept at the party and not taken twice.
//
// # Masked sums
//
// Of n members of an attempt at most T collude, with the aggregator and each other. Each member
// draws its part of the noise (dp.Noise.Shared) and releases S + Z + M mod 2^64, M being the sum
// of its masks with the other members, of opposite signs at the two.
//
// Let H be the honest members, |H| ≥ n − T. The mask of each two of them is a keystream (AES-256)
// under a secret of both (HKDF over two halves of 32 bytes, each sealed by HPKE to the other
// alone). As long as these cannot be told from random, the words of the members of H are
// uniform given their sum mod 2^64: each member but one has a mask with the last one that nobody
// else has a part in. So the view of all others together is a function of Σ_H (S + Z) and of what
// they know already. Sums over the aggregator's choice of fewer members hold an unmasked word
// of nobody.
//
// One record is in one party's S, so Σ_H S moves by D2 at most, whoever holds it. Σ_H Z is, to the
// factors in the documentation of package dp, a discrete Gaussian of variance at least σ² + 9, and
// the noise of others is post-processing. So the sum is μ-Gaussian private, as one plain release
// is. A record that is in the data of j honest parties moves the sum by j·D2: jμ, where plain
// releases would give μ√j. If all but one collude, that one's noise is left: D2/√(v−9) for
// variance v, about μ√(n−T).
//
// An attempt that lacks a release is void, and those that are left release anew under other masks
// (of another T1), with noise for as many as they are. The two are independent given the data: μ²
// adds up, and the ledger has both. This holds also where the loss was feigned and the
// aggregator ends up with both sums: their difference is a function of two releases that
// were each paid for.
package release
