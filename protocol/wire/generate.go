package wire

//go:generate protoc --go_out=. --go_opt=module=github.com/cosketch/cosketch/protocol/wire wire.proto
