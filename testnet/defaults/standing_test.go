package defaults

// standing are the rows of the short form. Those that are true hold, and the test asserts
// it; the others are still to come: a row that no longer fails is switched on here.
var standing = map[string]bool{
	"normal, ρ 0.3/horizontal/plain/ε 1/spread/means":        true,
	"normal, ρ 0.3/horizontal/plain/ε 1/spread/variances":    true,
	"normal, ρ 0.3/horizontal/plain/ε 1/spread/covariances":  true,
	"normal, ρ 0.3/horizontal/plain/ε 1/spread/correlations": true,

	"normal, ρ 0.3/horizontal/masked/ε 1/spread/means":        true,
	"normal, ρ 0.3/horizontal/masked/ε 1/spread/variances":    true,
	"normal, ρ 0.3/horizontal/masked/ε 1/spread/covariances":  true,
	"normal, ρ 0.3/horizontal/masked/ε 1/spread/correlations": true,

	"normal, ρ 0.3/horizontal/plain/ε 1/bounds/means":        true,
	"normal, ρ 0.3/horizontal/plain/ε 1/bounds/variances":    true,
	"normal, ρ 0.3/horizontal/plain/ε 1/bounds/covariances":  true,
	"normal, ρ 0.3/horizontal/plain/ε 1/bounds/correlations": true,

	"normal, ρ 0.95/horizontal/plain/ε 4/spread/means":        true,
	"normal, ρ 0.95/horizontal/plain/ε 4/spread/variances":    true,
	"normal, ρ 0.95/horizontal/plain/ε 4/spread/covariances":  true,
	"normal, ρ 0.95/horizontal/plain/ε 4/spread/correlations": true,

	"lognormal(1), ρ 0/horizontal/plain/ε 4/spread/means":        true,
	"lognormal(1), ρ 0/horizontal/plain/ε 4/spread/variances":    true,
	"lognormal(1), ρ 0/horizontal/plain/ε 4/spread/covariances":  true,
	"lognormal(1), ρ 0/horizontal/plain/ε 4/spread/correlations": true,

	"Pareto(2.2)/horizontal/plain/ε 1/spread/means":        true,
	"Pareto(2.2)/horizontal/plain/ε 1/spread/variances":    true,
	"Pareto(2.2)/horizontal/plain/ε 1/spread/covariances":  true,
	"Pareto(2.2)/horizontal/plain/ε 1/spread/correlations": true,

	"one-sided centres/horizontal/plain/ε 1/spread/means":        true,
	"one-sided centres/horizontal/plain/ε 1/spread/variances":    true,
	"one-sided centres/horizontal/plain/ε 1/spread/covariances":  true,
	"one-sided centres/horizontal/plain/ε 1/spread/correlations": true,

	"rare binary, .5 %/horizontal/plain/ε 1/spread/means":        true,
	"rare binary, .5 %/horizontal/plain/ε 1/spread/variances":    true,
	"rare binary, .5 %/horizontal/plain/ε 1/spread/covariances":  true,
	"rare binary, .5 %/horizontal/plain/ε 1/spread/correlations": true,
	"rare binary, .5 %/horizontal/plain/ε 1/spread/shares":       true,

	"26 classes/horizontal/plain/ε 1/spread/means":        true,
	"26 classes/horizontal/plain/ε 1/spread/variances":    true,
	"26 classes/horizontal/plain/ε 1/spread/covariances":  true,
	"26 classes/horizontal/plain/ε 1/spread/correlations": true,
	"26 classes/horizontal/plain/ε 1/spread/shares":       true,

	"nearly constant/horizontal/plain/ε 1/spread/means":        true,
	"nearly constant/horizontal/plain/ε 1/spread/variances":    true,
	"nearly constant/horizontal/plain/ε 1/spread/covariances":  true,
	"nearly constant/horizontal/plain/ε 1/spread/correlations": true,

	"10 % missing/horizontal/plain/ε 1/spread/means":        true,
	"10 % missing/horizontal/plain/ε 1/spread/variances":    true,
	"10 % missing/horizontal/plain/ε 1/spread/covariances":  true,
	"10 % missing/horizontal/plain/ε 1/spread/correlations": true,

	"breast cancer/horizontal/plain/ε 4/spread/means":        true,
	"breast cancer/horizontal/plain/ε 4/spread/variances":    true,
	"breast cancer/horizontal/plain/ε 4/spread/covariances":  true,
	"breast cancer/horizontal/plain/ε 4/spread/correlations": true,

	"three classes, one skewed/horizontal/plain/ε 4/spread/lda is defined":         true,
	"three classes, one skewed/horizontal/plain/ε 4/spread/lda: shares of classes": true,
	"three classes, one skewed/horizontal/plain/ε 4/spread/lda: means of classes":  true,

	"breast cancer/horizontal/plain/ε 4/spread/regression is defined":    false,
	"breast cancer/horizontal/plain/ε 4/spread/regression: coefficients": true,

	"answers, rates .2–.8/vertical/ε 4/spread/correlations across parties": true,
	"answers, rates .2–.8/vertical/ε 4/spread/shared records":              true,

	"5 clusters/horizontal/plain/ε 1/spread/k-means: inertia": true,
	"5 clusters/horizontal/plain/ε 1/spread/k-means: sizes":   true,

	"lognormal(0.5), ρ 0.5, people drawn anew/horizontal/plain/ε 4/spread/means of people":        true,
	"lognormal(0.5), ρ 0.5, people drawn anew/horizontal/plain/ε 4/spread/variances of people":    true,
	"lognormal(0.5), ρ 0.5, people drawn anew/horizontal/plain/ε 4/spread/covariances of people":  true,
	"lognormal(0.5), ρ 0.5, people drawn anew/horizontal/plain/ε 4/spread/correlations of people": true,
	"lognormal(0.5), ρ 0.5, people drawn anew/horizontal/plain/ε 4/spread/coefficients of people": true,

	"credit-card amounts/horizontal/plain/ε 1/bounds/means":        true,
	"credit-card amounts/horizontal/plain/ε 1/bounds/variances":    true,
	"credit-card amounts/horizontal/plain/ε 1/bounds/covariances":  true,
	"credit-card amounts/horizontal/plain/ε 1/bounds/correlations": true,

	"all rows//ε 0//realised ÷ forecast within .5 and 2":           true,
	"all rows//ε 0//realised within the stated range, from bounds": false,
}
