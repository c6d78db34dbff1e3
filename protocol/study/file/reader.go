package file

import "github.com/cosketch/cosketch/protocol/schema"

// reader reads and checks one study file.
type reader struct{ *schema.Reader }

// forbid refuses a key that is there.
func forbid(o schema.Object, key, why string) {
	if o.Has(key) {
		o.Fail(key, "does not belong here: it %s", why).Hint = "remove the key"
	}
}
