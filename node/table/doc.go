// Package table writes the tables and matrices of results in formats that notebooks read: CSV,
// Parquet and NPY.
package table
