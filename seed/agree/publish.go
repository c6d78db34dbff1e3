package agree

import (
	"fmt"
	"slices"

	"github.com/cosketch/cosketch/seed"
	"github.com/cosketch/cosketch/seed/transcript"
)

// A study may publish row keys of one side of R, but never the seed. Each member commits to them
// when it confirms, by the hash of each, before anything is sketched with them. With its release it
// publishes the keys. Everybody can compare these with the hashes. Members compare the hashes with
// the seed when they check confirmations.

const labelPublished = "cosketch/1/agree/published"

// ErrPublished is returned if a confirmation's hashes are not those of the row keys that the study
// publishes, under the agreed seed.
var ErrPublished error = disagreed{"other-row-keys", "confirmation is of other public row keys"}

// PublishedHash returns the hash in a confirmation of a row key that will be public.
func PublishedHash(label seed.Label, key [32]byte) [32]byte {
	return transcript.Hash(labelPublished, []byte(label), key[:])
}

// published returns the hash of each row key that the study publishes; nil for none.
func (o Outcome) published() ([][32]byte, error) {
	var out [][32]byte
	for _, label := range o.Publish {
		key, err := o.Seed.Derive(label)
		if err != nil {
			return nil, fmt.Errorf("deriving a row key to publish: %w", err)
		}
		out = append(out, PublishedHash(label, key))
	}
	return out, nil
}

// checkPublished compares a confirmation's hashes with the seed.
func (o Outcome) checkPublished(c Confirm) error {
	want, err := o.published()
	if err == nil && !slices.Equal(want, c.Published) {
		err = ErrPublished
	}
	return err
}
