package file

import (
	"go.yaml.in/yaml/v4"

	"github.com/cosketch/cosketch/protocol/schema"
)

// reader reads one study file.
type reader struct{ schema.Reader }

// object is one mapping of it.
type object struct {
	schema.Object
	reader *reader
}

func (r *reader) object(n *yaml.Node, path string, known ...string) object {
	return object{r.Reader.Object(n, path, known...), r}
}
