// Package projection makes the rows of the random matrix R and multiplies data by
// them, in integers only.
//
// The row of a label (a record id, or a column name) is a keyed function of it,
// F(key, label), so parties that share a key need not sort, match or intersect
// anything. Entries are small integers; Spec.Scale, the real factor, is applied after
// release. So sums are exact in int64 and equal on every architecture, in every order
// and at every degree of parallelism, and sensitivities are exact.
//
// Batches of records go through package kernels, which has assembly where the
// machine has AVX2; records one by one, and data beyond 16 bits, go through each
// family's own row. Both give the same sums.
//
// Matrix serves the columns side (R·X: a row for each record), Fixed the records
// side (X·R: a row for each column). Each family of distributions has one file.
package projection
