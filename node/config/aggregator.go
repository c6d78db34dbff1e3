package config

import (
	"fmt"

	"github.com/multiformats/go-multiaddr"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/sniff"
	"github.com/cosketch/cosketch/node/webhook"
	"github.com/cosketch/cosketch/protocol/analysis"
)

// Aggregator is an aggregator's configuration file.
type Aggregator struct {
	Path     string   // path of the file, whether or not it exists
	Listen   []string // multiaddrs, without /p2p; default: DefaultListen
	Limits   p2p.Limits
	Memory   int64 // bytes of memory for analysing a study's releases; default: DefaultMemory
	Uploads  Uploads
	HTTP     HTTP
	Webhooks []webhook.Hook // in the file's order
	Log      Log
}

// Uploads bounds the releases that parties may send, in bytes.
type Uploads struct {
	Study int64 // of one study; default: DefaultUploads
	Free  int64 // bytes of the disk that they must leave free; default: DefaultFree
}

// Defaults, in bytes.
const (
	DefaultMemory  = analysis.DefaultMemory
	DefaultUploads = 64 << 30
	DefaultFree    = 256 << 20
)

// DefaultListen returns the default listen addresses of an aggregator: TCP port 7424 of every IPv4
// and IPv6 address.
func DefaultListen() []string {
	return []string{"/ip4/0.0.0.0/tcp/7424", "/ip6/::/tcp/7424"}
}

// LoadAggregator reads a configuration file. An empty path means the default path. The file at the
// default path may be absent, which means all defaults; any other must exist.
func LoadAggregator(path string) (Aggregator, error) {
	usual, err := usualFile(path, DefaultAggregatorPaths)
	if err != nil {
		return Aggregator{}, err
	}
	source, root, err := load("configuration file", sniff.Aggregator, path, usual)
	if err == nil {
		root, err = source.environment(aggregatorVariables, root, AggregatorKeys())
	}
	a := Aggregator{Path: source.path}
	if err == nil {
		err = read(source, root, aggregatorKeys(), &a)
	}
	if err != nil {
		return Aggregator{}, err
	}
	return a, nil
}

// checkListen returns what is wrong with a listen address, or "".
func checkListen(text string) string {
	const form = "listen address %q: want a multiaddr like /ip4/0.0.0.0/tcp/7424"
	address, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return fmt.Sprintf(form, text)
	}
	if _, err := address.ValueForProtocol(multiaddr.P_P2P); err == nil {
		return fmt.Sprintf("listen address %q: the node's own id is not part of it (leave out /p2p/…)", text)
	}
	if _, err := address.ValueForProtocol(multiaddr.P_TLS); err == nil {
		return fmt.Sprintf("listen address %q: HTTPS ends at a proxy in front of this node: listen without /tls, as in /ip4/127.0.0.1/tcp/8080/ws", text)
	}
	return ""
}
