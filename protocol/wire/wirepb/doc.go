// Package wirepb holds the code that protoc generates from wire.proto. Only
// package wire uses it: generated structs are no words of the protocol.
package wirepb
