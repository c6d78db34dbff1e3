// Package linear trains classifiers whose boundaries are hyperplanes, and estimates their accuracy
// on records that they were not trained on.
//
// # Classifiers
//
// Perceptron is Rosenblatt's, or the voted one of Freund and Schapire 1999. SVM is the support
// vector machine without a kernel, by the dual coordinate descent of Hsieh et al. 2008. Ridge is
// least squares on targets -1 and 1. Each separates two classes. More classes are separated one
// against all others: the class with the highest score is predicted.
//
// # Randomised labels
//
// Labels may have gone through k-ary randomised response: each other class replaces the true one
// with probability p (Randomised). Training on such labels without correction is biased, however
// many records there are.
//
// Ridge is linear in its targets, and gets unbiased ones: (1[ỹ=c]-p)/(1-Kp) for K classes has mean
// 1[y=c]. So its normal equations are unbiased. This is the method of unbiased estimators of
// Natarajan, Dhillon, Ravikumar and Tewari 2013, Learning with Noisy Labels, for the squared loss.
//
// For the hinge that method gives a loss that is not convex. SVM and Perceptron use the other
// method of the same paper, a weighted surrogate loss. Labels of one class against all others are
// flipped at rates ρ₊ = (K-1)p and ρ₋ = p. Take a classification-calibrated loss with weights 1-α
// for positives and α for negatives, α = (1-ρ₊+ρ₋)/2. Its minimiser is that of the true labels' 0-1
// loss, over all measurable boundaries. For two classes the rates, and so the weights, are equal:
// no correction is needed.
//
// # Accuracy
//
// CrossValidate predicts each record by a model that was trained without it. If labels are
// randomised, a prediction agrees with the observed label with probability p if it is wrong and
// 1-(K-1)p if it is right. So accuracy is a linear function of agreement. This estimate is
// unbiased, and the interval is mapped in the same way. See Validation for what the interval
// covers.
//
// Results are deterministic for a given source of randomness, except for the last bits of floating
// point, which differ between machines.
package linear
