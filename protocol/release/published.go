package release

import (
	"fmt"

	"github.com/cosketch/cosketch/protocol/study"
	"github.com/cosketch/cosketch/seed"
)

// Publish returns the row keys that a study makes public, in its order, for the header field
// Published of a release. It is nil if the study publishes none.
func Publish(s *study.Study, root seed.Keys) ([][32]byte, error) {
	var out [][32]byte
	for _, label := range s.Published() {
		key, err := root.Derive(label)
		if err != nil {
			return nil, fmt.Errorf("publishing row keys: %w", err)
		}
		out = append(out, key)
	}
	return out, nil
}

// PublicKeys holds the row keys that a study makes public.
type PublicKeys struct {
	labels []seed.Label
	keys   [][32]byte
}

// Public returns the row keys that a release published.
func Public(s *study.Study, published [][32]byte) (PublicKeys, error) {
	labels := s.Published()
	if len(labels) != len(published) {
		return PublicKeys{}, fmt.Errorf("%d public row keys, the study publishes %d", len(published), len(labels))
	}
	return PublicKeys{labels, published}, nil
}

// Derive returns a public key, or seed.ErrAbsent for any other.
func (p PublicKeys) Derive(label seed.Label) ([32]byte, error) {
	for i, known := range p.labels {
		if known == label {
			return p.keys[i], nil
		}
	}
	return [32]byte{}, fmt.Errorf("deriving %s from what is public: %w", label, seed.ErrAbsent)
}
