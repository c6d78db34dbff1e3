// Package dp implements differential privacy for integer sketches: the sensitivity of what
// a party releases, the calibration of noise to a guarantee, exact samplers, and the
// composition of several releases of the same data.
//
// All quantities are in the integer units of the unscaled sketch (fixed-point values times
// integer entries of R). A sensitivity is therefore an exact integer and the noise an
// exact integer distribution: rounding leaks nothing and adds no term to a guarantee.
// Every guarantee treats R as public.
//
// # Path of a release
//
// A Budget (ε, δ) and a Mechanism make a Guarantee (Promise), of which a sketch takes a
// part (Guarantee.Share). The sketch's Sensitivity follows from the norms of R's rows and
// the largest change of the derived vector. Calibrate turns both into a Noise, and
// Noise.AddParallel draws it. For randomised response, RandomiseBits and Flips.Randomise
// do this before projection. Loss composes the guarantees of several releases.
//
// # Where entropy comes from
//
// Noise takes its entropy as an io.Reader, which is the operating system's in every
// shipped program: one fresh 256-bit key for each call, expanded by ChaCha20 and erased.
// This package must not import package seed, so a seed that other parties know can never
// become a source of noise; a test of the import graph checks this. Each block of 2^14
// entries has its own generator, keyed from the release's key by the block's number, so
// the noise does not depend on the number of workers.
//
// The samplers are not constant-time: the duration of a draw and the cache lines that a
// table look-up touches depend on the noise drawn (never on the data). Draw a release's
// noise as a whole, at a time that a peer cannot observe.
//
// # Laplace
//
// Discrete Laplace noise with P(j) ∝ exp(-|j|/t) on every entry of an integer vector of l1
// sensitivity D1 gives e^(D1/t): pure ε with t ≥ D1/ε. The scale t is a rational, computed
// exactly with a margin of 2^-32 relative, and rounded up.
//
// # Randomised response
//
// Bits may be flipped independently before they are projected (Flips). A bit flipped with
// probability p = P/2^f, P an integer and p ≥ 1/(1+e^ε), comes out as 1 with probability p
// or 1-p, independently of all else. A change of it therefore changes any outcome's
// probability by a factor of at most (1-p)/p ≤ e^ε, and the sketch is a function of the
// outcomes. The flip is exact: it happens if f random bits are below P.
//
// # A class beside a noised vector
//
// One of K classes may be randomised separately (Classes) and released beside a noised
// vector of other values of the same record. Given the record, both are drawn
// independently, so the probability of a pair is a product, each factor of which depends
// only on its own values.
//
// If one value changes, one of the factors stays as it is and cancels: the pair keeps the
// guarantee of the part that changed. Under unit attribute each part may therefore have
// the whole guarantee. If all of a record changes, both factors do, and the guarantees
// compose: ε adds up for pure ones, μ² for Gaussian ones, to which the class belongs by
// Guarantee.PureEquivalent. This holds for any change of the class, so a record of zeros
// may be given any class. Shuffling the records afterwards is post-processing.
//
// A class released unchanged has no ε. Under unit record the whole release then has none.
//
// # Gaussian: why the analytic calibration holds for integers
//
// Balle and Wang 2018 (theorem 8) give the least σ for which y + N(0, σ²)ᵐ, y real with l2
// sensitivity D2, is (ε, δ)-private; in the terms of Dong, Roth and Su 2022 it is
// μ-Gaussian private with μ = D2/σ, and μ composes exactly. We release y + N_Z(0, σ²+η²)ᵐ
// for integer y, with the discrete Gaussian N_Z(0, s²): P(j) ∝ exp(-j²/(2s²)), and η² = 9.
// A plain N_Z(0, σ²) does not inherit the analytic calibration (it can miss δ by some 10⁻⁴
// relative); this one does:
//
// Lemma. For integer y, integer variance s² = σ²+η² and η = 3, the probability of
// each integer under y + N_Z(0, s²) is within a factor 1 ± 3·10⁻⁷⁷ of its probability
// under a post-processing of y + N(0, σ²) that does not depend on y.
//
// Proof. The post-processing replaces a real z by an integer J drawn with probability
// exp(-(J-z)²/(2η²))/Θ(z), Θ(z) = Σ_i exp(-(i-z)²/(2η²)). By Poisson summation
// Θ(z) = η√(2π)·(1 + 2 Σ_{m≥1} exp(-2π²η²m²) cos 2πmz), so Θ(z) is within a factor
// 1 ± κ of η√(2π), κ = 2 Σ_{m≥1} exp(-2π²η²m²) < 1.5·10⁻⁷⁷ for η = 3. The probability
// P'(j) of j after it is the integral over z of the density of N(y, σ²) at z times
// exp(-(j-z)²/(2η²))/Θ(z), so it lies between 1/(1+κ) and 1/(1-κ) times f(j), where f,
// the convolution of N(y, σ²) and N(0, η²), is the density of N(y, s²). The discrete
// Gaussian gives P(j) = f(j)/(1 + 2 Σ_{m≥1} exp(-2π²s²m²)), by Poisson summation again,
// where the divisor lies between 1 and 1+κ since s ≥ η. So P(j)/P'(j) lies between
// (1-κ)/(1+κ) and 1+κ, hence within 1 ± 2κ. ∎
//
// Over m entries the factor is e^(±λ), λ ≤ 3·10⁻⁷⁷·m, so the release is (ε+2λ,
// e^λ·δ)-private if the continuous mechanism is (ε, δ)-private; likewise for compositions.
//
// # Gaussian noise that several parties share
//
// If only sums over at least h parties are ever revealed (masked sums), each party adds
// only a part of the noise (Noise.Shared): a discrete Gaussian of integer variance v ≥ 16
// with h·v ≥ s², s² = σ²+η² being the variance above.
//
// Lemma. The sum of h independent N_Z(0, v), v ≥ 16 and h ≤ 64, takes each integer with a
// probability within a factor 1 ± 10⁻⁶⁶ of that under N_Z(0, h·v).
//
// Proof. Let a = i·v and ρ² = a·v/(a+v), which is at least v/2 ≥ 8. Completing the square,
// Σ_i exp(-i²/(2a))·exp(-(j-i)²/(2v)) = exp(-j²/(2(a+v)))·Σ_i exp(-(i-c)²/(2ρ²)) with a
// centre c that depends on j. By Poisson summation the last sum is within a factor 1 ± κ of
// ρ√(2π), κ = 2 Σ_{m≥1} exp(-2π²ρ²m²) < 5.3·10⁻⁶⁹. So the convolution of N_Z(0, a) and N_Z(0, v) is,
// up to a constant and that factor, exp(-j²/(2(a+v))), and as both add up to 1 it is within
// (1 ± κ)/(1 ∓ κ) of N_Z(0, a+v). A factor that holds for every integer holds after a
// convolution with anything. After h - 1 ≤ 63 steps it is within 1 ± 10⁻⁶⁶. ∎
//
// N_Z(0, h·v) is N_Z(0, s²) or has a larger variance, for which the first lemma holds with
// a larger σ². Parts beyond h, and anything that dishonest parties add, are independent of
// the h parts: adding them is post-processing. Over the 2^34 entries of a release at most,
// the factors of this lemma and of 64 samplers instead of one come to λ ≤ 2^-63, about
// 1.1·10⁻¹⁹; the margin of the next section is 9·10⁻¹⁷.
//
// A sum of discrete Laplace variables is not discrete Laplace and has no such calibration:
// Noise.Shared refuses it. The shared guarantee holds only as long as h parties keep their
// parts secret. A party's part alone, by the smoothing lemma, is D2/√(v-9)-Gaussian
// private, which is about μ·√h.
//
// # Samplers: exact up to the last bit of a table
//
// The magnitudes of a distribution are cut into at most 384 cells of 2^w integers and a
// tail (type cells). A draw takes a cell, or the tail, from a table of 128-bit cumulative
// probabilities; within a cell it takes a uniform integer, accepted with probability
// exp(-γ), where γ, the loss of log-probability since the cell's first integer, is a
// rational; beyond the cells it takes a geometric proposal, accepted likewise. A rejected
// draw begins anew. The rejections are exact (Canonne, Kamath and Steinke 2020, algorithms
// 1 and 2), so only the table is inexact, and its error is a factor, not a distance:
//
// Lemma. A draw takes each integer with a probability within a factor e^(±2^-103) of the
// distribution's.
//
// Proof. Were the table's probabilities p_i exact, a draw would have value x with
// probability p_i·q(x)·a(x)/Z, i the cell of x, q the proposal, a the acceptance and Z the
// probability of acceptance, and the p_i are proportioned so that this is the distribution
// (type cells). The table's own probabilities differ from p_i by less than 2^-127
// (newTable). Cells end at 4 standard deviations of a discrete Gaussian and at 6 scales of
// a discrete Laplace distribution, so no p_i is below 2^-22 (a test computes them all),
// and each has a relative error below 2^-105. So have p_i·q·a and Z, a sum of such
// products; the logarithm of their quotient is off by less than 2^-103. ∎
//
// A distance would not do: it turns a pure ε into one with a δ, and enters (ε, δ)
// multiplied by e^ε. The factors enter every guarantee like those of the first lemma: over
// m entries they are e^(±λ), λ = 2^-103·m, and a release takes at most 2^34 entries, so λ
// ≤ 2^-69, about 1.7·10⁻²¹, to which the 10⁻⁶⁶ of the smoothing lemma adds nothing.
//
// Laplace: the release is pure (D1/t + 2λ), and t keeps D1/t at most ε·(1 - 2^-33). That
// is more than 2λ for every ε above 10⁻¹⁰. The values are drawn modulo 2^64 and added with
// wrap-around, which is a function of the exact sum: the far tail needs no exception, and
// ε stays pure without a δ.
//
// Gaussian: the release is (ε+2λ, e^λ·δ)-private. Under μ-Gaussian privacy δ rises with μ
// by φ(a), a = ε/μ-μ/2, and falls with ε by e^ε·Φ(-a-μ) ≤ 1.26·φ(a), and δ ≤ Φ(-a). MuOf's
// margin of 2^-30 on μ, which is at least 10⁻⁷, lowers δ by 9·10⁻¹⁷·φ(a) or more; the loss
// is 2λ·1.26·φ(a) + λ·Φ(-a), less than that for all δ up to 0.999 (Φ(-a) ≤ 1.26·φ(a) where
// a ≥ 0, and where a < 0, φ(a) is above 10⁻³). The sampler leaves out values beyond 900
// standard deviations, which no factor covers: a release moves by less than 60 standard
// deviations, so outcomes possible under only one of two data sets have probability below
// e^(-350000) per entry.
//
// Drawing s = 2^20 as a sum of table draws (a·x₁+x₂ is a discrete Gaussian up to a factor
// 1 ± 2κ where the variance of x₁ given the sum is at least η²) would take five of them
// with tables of σ ≤ 64; cells take one, at every s, and add no error.
package dp
