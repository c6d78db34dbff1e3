// Package views shows an aggregator's studies to readers, from what is stored.
package views
