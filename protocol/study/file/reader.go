package file

import "github.com/cosketch/cosketch/protocol/schema"

// reader reads and checks one study file.
type reader struct{ *schema.Reader }
