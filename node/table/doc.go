// Package table writes the tables and matrices of results as files that notebooks read:
// CSV, Parquet and NPY.
package table
