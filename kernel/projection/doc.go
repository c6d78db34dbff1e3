// Package projection generates the rows of the random matrix R and multiplies data by them, in
// integers only.
//
// The row of a label (a record id, or a column name) is a keyed function of it, F(key, label). So
// parties that share a key need not sort, match or intersect anything. Entries are small integers;
// Spec.Scale, the real factor, is applied after release. So sums are exact in int64, and do not
// depend on the architecture, the order or the degree of parallelism. Sensitivities are exact too.
//
// Batches of records go through package kernels, which has assembly for machines with AVX2. Single
// records, and data beyond 16 bits, use each family's own row code. Both give the same sums.
//
// Matrix serves the columns side (R·X: a row for each record), Fixed the records side (X·R: a row
// for each column). Each family of distributions has one file.
package projection
