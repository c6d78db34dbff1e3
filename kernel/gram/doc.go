// Package gram computes the inner products of all pairs of integer columns, exactly.
//
// A columns-side sketch consists of integers, so its Gram matrix does too. Sums of integers do not
// depend on order, blocks, threads or registers. The only rounding, to float64 at the end, is to
// the nearest. The matrix therefore has the same bits everywhere, and the inner loop is as fast as
// that of a floating-point library.
//
// Products are of 32-bit entries. They are summed in 64 bits over as many rows as are sure to fit,
// and those sums in 128 bits. Entries beyond 32 bits are multiplied in 128 bits one by one, which
// takes many times as long.
package gram
