// Package dp holds differential privacy for integer sketches: the sensitivity of
// what a party releases, the calibration of noise to a promise, exact samplers,
// and what several releases of the same data add up to.
//
// Everything is counted in the integer units of the unscaled sketch (fixed-point
// values times integer entries of R), so a sensitivity is an exact integer and the
// noise is an exact integer distribution: no rounding leaks and no rounding term
// enters a guarantee. R is public in every guarantee.
//
// # Path of a release
//
// A Budget (ε, δ) and a Mechanism make a Guarantee (Promise), of which a sketch
// takes a part (Guarantee.Share). The sketch's Sensitivity follows from the norms
// of R's rows and from what one change of the data may do to the derived vector.
// Calibrate turns both into a Noise, and Noise.Add draws it; for randomised response
// RandomiseBits and Flips.Randomise do, before projection. Loss composes the
// guarantees of several releases.
//
// # Where entropy comes from
//
// Noise takes its entropy as an io.Reader, which is the operating system's in every
// shipped program: one fresh 256-bit key for each call, expanded by ChaCha20 and
// erased. This package cannot import package seed, so a seed that other parties know
// can never become a source of noise; a test of the import graph holds that. The
// samplers are not constant-time: draw a release's noise away from any moment that
// a peer can observe.
//
// # Laplace
//
// Discrete Laplace noise with P(j) ∝ exp(-|j|/t) on every entry of an integer vector
// of l1 sensitivity D1 gives e^(D1/t): pure ε with t ≥ D1/ε. The scale t is a
// rational that is computed exactly and rounded up.
//
// # Randomised response
//
// Bits may be flipped one by one before they are projected (Flips). A bit that is flipped
// with probability p = P/2^f, P an integer and p ≥ 1/(1+e^ε), comes out as 1 with probability
// p or 1-p, whatever else is known, so that a change of it changes no outcome's probability
// by more than (1-p)/p ≤ e^ε; the sketch is a function of what came out. The flip is exact:
// f random bits are below P.
//
// # Gaussian: why the analytic calibration holds for integers
//
// Balle and Wang 2018 (theorem 8) give the least σ for which y + N(0, σ²)ᵐ, y real
// with l2 sensitivity D2, is (ε, δ)-private; in the terms of Dong, Roth and Su 2022
// it is μ-Gaussian private with μ = D2/σ, and μ composes exactly. We release
// y + N_Z(0, σ²+η²)ᵐ for integer y, with the discrete Gaussian
// N_Z(0, s²): P(j) ∝ exp(-j²/(2s²)), and η² = 9. A plain N_Z(0, σ²) does not inherit the
// analytic calibration (it can miss δ by some 10⁻⁴ of it); this one does:
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
// Over m entries the factor is e^(±λ), λ ≤ 3·10⁻⁷⁷·m, so the release is
// (ε+2λ, e^λ·δ)-private where the continuous mechanism is (ε, δ)-private; likewise for
// compositions. For the largest m that fits a machine λ < 10⁻⁶³, and MuOf keeps a margin
// of 10⁻⁹ relative on μ, which covers it together with floating-point error.
//
// The samplers follow Canonne, Kamath and Steinke 2020. They deviate in the far tail,
// which they leave out so that every intermediate value fits 128 bits and a sum never
// overflows: discrete Gaussian values of 120 standard deviations and more, discrete
// Laplace values of 4096 scales and more. A release moves by less than 60 standard
// deviations or 1000 scales (ε ≤ 1000), so what can be seen under one data set only has
// probability below 10⁻⁷⁰⁰ per entry.
package dp
