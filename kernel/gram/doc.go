// Package gram computes the inner products of all pairs of integer columns, exactly.
//
// A columns-side sketch is integers, so its Gram matrix is too. Sums of integers do
// not depend on order, blocks, threads or registers, and the one rounding, to float64
// at the end, is to the nearest. So the matrix has the same bits everywhere, and the
// inner loop is as fast as that of a floating-point library.
//
// Products are taken of 32-bit entries and summed in 64 bits, over as many rows as are
// sure to fit, and from there in 128 bits. Entries beyond 32 bits are multiplied in
// 128 bits one by one, which takes many times as long.
package gram
