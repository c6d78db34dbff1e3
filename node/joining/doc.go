// Package joining represents the questions that party join asks a steward, and aggregator invite an
// operator, as data: a person at a terminal, a file of answers and a test answer the same
// questions. It also proposes answers: which column of the data is which of the study's.
package joining
