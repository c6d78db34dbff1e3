package source

import (
	"slices"

	"github.com/cosketch/cosketch/node"
	"github.com/cosketch/cosketch/protocol"
)

// Cosigned checks an approval against the site's four-eyes rule. An unreadable site file approves
// nothing.
func (r *Source) Cosigned() error {
	site, err := r.Site()
	if err != nil {
		return &node.SiteError{Err: err}
	}
	if len(site.Second) == 0 {
		return nil
	}
	lines, err := r.Store.Cosignatures(r.Study.ID)
	if err != nil {
		return err
	}
	for _, line := range lines {
		c, err := protocol.ParseCosignature(r.Study.ID, r.Signer.ID(), line)
		if err == nil && c.By != r.Signer.ID() && slices.Contains(site.Second, c.By) {
			return nil
		}
	}
	return &node.CosignError{Study: r.Study.ID, Site: site.Path}
}
