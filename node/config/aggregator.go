package config

import (
	"github.com/multiformats/go-multiaddr"
	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/node/p2p"
	"github.com/cosketch/cosketch/node/sniff"
)

// Aggregator is an aggregator's configuration file.
type Aggregator struct {
	Path    string   // of the file, whether it exists or not
	Listen  []string // multiaddrs, without /p2p; default: DefaultListen
	Limits  p2p.Limits
	Memory  int64 // bytes that a study's releases may take while they are analysed; default: DefaultMemory
	Uploads Uploads
	HTTP    HTTP
	Log     Log
}

// Uploads bounds the releases that parties may send, in bytes.
type Uploads struct {
	Study int64 // of one study; default: DefaultUploads
	Free  int64 // that they leave on the disk; default: DefaultFree
}

// Defaults, in bytes.
const (
	DefaultMemory  = 4 << 30
	DefaultUploads = 64 << 30
	DefaultFree    = 256 << 20
)

// DefaultListen returns the addresses at which an aggregator listens unless it is
// told otherwise: TCP port 7424 of every IPv4 and IPv6 address.
func DefaultListen() []string {
	return []string{"/ip4/0.0.0.0/tcp/7424", "/ip6/::/tcp/7424"}
}

// LoadAggregator reads a configuration file. An empty path means the default one,
// and so does its name: that file may be absent, which means all defaults. Any
// other must exist.
func LoadAggregator(path string) (Aggregator, error) {
	usual, err := usualFile(path, DefaultAggregatorPaths)
	if err != nil {
		return Aggregator{}, err
	}
	source, root, err := load("configuration file", sniff.Aggregator, path, usual)
	if err == nil {
		root, err = source.environment(aggregatorVariables, root, aggregatorDefaults())
	}
	a := Aggregator{Path: source.path, Memory: DefaultMemory, Uploads: Uploads{DefaultUploads, DefaultFree}}
	if err == nil {
		err = a.parse(source, root)
	}
	if err != nil {
		return Aggregator{}, err
	}
	if a.Listen == nil {
		a.Listen = DefaultListen()
	}
	return a, nil
}

func (a *Aggregator) parse(s source, root *yaml.Node) error {
	return s.fields(root, fields{
		"listen": func(n *yaml.Node) error {
			if err := s.texts(&a.Listen)(n); err != nil {
				return err
			}
			for i, text := range a.Listen {
				if err := checkListen(text); err != "" {
					return s.errorf(n.Content[i], "listen address %q: %s", text, err)
				}
			}
			return nil
		},
		"limits":   parseLimits(s, &a.Limits),
		"analysis": func(n *yaml.Node) error { return s.fields(n, fields{"memory_mib": s.mebibytes(&a.Memory)}) },
		"uploads": func(n *yaml.Node) error {
			return s.fields(n, fields{"study_mib": s.mebibytes(&a.Uploads.Study), "free_mib": s.mebibytesOrNone(&a.Uploads.Free)})
		},
		"http": a.HTTP.parse(s),
		"log":  a.Log.parse(s),
	})
}

// checkListen says what is wrong with a listen address, or "".
func checkListen(text string) string {
	const form = "want a multiaddr like /ip4/0.0.0.0/tcp/7424"
	address, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return form
	}
	if _, err := address.ValueForProtocol(multiaddr.P_P2P); err == nil {
		return "the node's own id is not part of it (leave out /p2p/…)"
	}
	if _, err := address.ValueForProtocol(multiaddr.P_TLS); err == nil {
		return "HTTPS ends at a proxy in front of this node: listen without /tls, as in /ip4/127.0.0.1/tcp/8080/ws"
	}
	return ""
}
