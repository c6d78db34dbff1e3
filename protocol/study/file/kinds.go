package file

import (
	"github.com/cosketch/cosketch/protocol/schema"
	"github.com/cosketch/cosketch/protocol/study"
)

// analysisWords are the names of all kinds.
func analysisWords() schema.Words {
	v := schema.Words{What: "analysis"}
	for _, k := range study.Kinds() {
		v.Has = append(v.Has, string(k))
	}
	return v
}
