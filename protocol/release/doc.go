// Package release defines exactly what one party ships in a study. For every sketch it has the plan
// (features, clipping, sensitivity, noise, shape, limits), the builder that turns encoded records
// into the exact sketch, and the header and chunks in which the noised sketch travels.
//
// The plan is a function of the study alone. The aggregator computes it too, so it need not trust a
// header about scale or noise.
//
// # The first look
//
// A party may spend a part of the sketch's μ² on a look at its own records. With `clip: own` it
// counts, for each public length, the records for which it is the first that does not cut them: a
// record moves one count. With `standardise: own` it takes noisy sums and squares of numeric
// columns with bounds: each value is limited to its bounds, so it moves two entries by at most a
// public number each. The clip, centres and spreads that it then chooses are functions of these
// noisy numbers alone and are published with the release, so the choice costs nothing more
// (post-processing). The noise of the sketch is calibrated to the chosen clip with the rest of μ²;
// looks and sketch compose exactly. The party stores the noisy look by which it standardises and
// does not take it twice.
//
// # Masked sums
//
// At most T of the n members of an attempt collude, with the aggregator and each other. Each member
// draws its share of the noise (dp.Noise.Shared) and releases S + Z + M mod 2^64. M is the sum of
// its masks with the other members; a pair's masks have opposite signs.
//
// Let H be the honest members, |H| ≥ n − T. The mask of each pair of them is a keystream (AES-256)
// under a secret of the pair (HKDF over two halves of 32 bytes, each sealed by HPKE to the other
// alone). If these are indistinguishable from random, the words of the members of H are uniform
// given their sum mod 2^64: each member but one shares a mask with the last one that nobody else
// takes part in. So the view of all others together is a function of Σ_H (S + Z) and of what they
// already know. Sums over fewer members of the aggregator's choice contain nobody's unmasked words.
//
// One record is in one party's S, so Σ_H S moves by at most D2, whoever holds it. Σ_H Z is, up to
// the factors in the documentation of package dp, a discrete Gaussian of variance at least σ² + 9,
// and the noise of others is post-processing. So the sum is μ-Gaussian private, like one plain
// release. A record in the data of j honest parties moves the sum by j·D2: jμ, where plain releases
// would give μ√j. If all but one collude, only that one's noise remains: D2/√(v−9) for variance v,
// about μ√(n−T).
//
// An attempt that lacks a release is void. The remaining members release anew under other masks (of
// another T1), with noise for their number. The two releases are independent given the data: μ²
// adds up, and the ledger records both. This holds even if the loss was feigned and the aggregator
// has both sums: their difference is a function of two releases that were each paid for.
package release
