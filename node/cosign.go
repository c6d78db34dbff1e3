package node

import (
	"slices"

	"github.com/cosketch/cosketch/protocol"
)

// cosigned holds an approval against the site's rule of four eyes. A site file that cannot
// be read approves nothing.
func (r *home) cosigned() error {
	site, err := r.Site()
	if err != nil {
		return &SiteError{err}
	}
	if len(site.Second) == 0 {
		return nil
	}
	lines, err := r.Store.Cosignatures(r.study.ID)
	if err != nil {
		return err
	}
	for _, line := range lines {
		c, err := protocol.ParseCosignature(r.study.ID, r.signer.ID(), line)
		if err == nil && c.By != r.signer.ID() && slices.Contains(site.Second, c.By) {
			return nil
		}
	}
	return &CosignError{r.study.ID, site.Path}
}
