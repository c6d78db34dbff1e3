package protocol_test

import (
	"bytes"
	"testing"

	"github.com/cosketch/cosketch/seed/agree"
)

// treeCase is the tree over the texts of one share. All bytes of a text have one value: the text's
// number among those that the sender sealed, from 1 on.
type treeCase struct {
	Members int       `json:"members"`
	Sender  int       `json:"sender"`
	Root    hexed     `json:"root"`
	Paths   [][]hexed `json:"paths"` // by member; none for the sender
}

func trees() vectors {
	return cases[treeCase]{
		file: "trees",
		about: "Given: members and sender of a share whose texts travel apart; text i of those that it sealed, from 1 on, is " +
			"1,232 bytes of the value i. To be found: the root, and each other member's path.",
		given: func(*testing.T) []treeCase {
			return []treeCase{{Members: 2, Sender: 0}, {Members: 3, Sender: 1}, {Members: 4, Sender: 3}, {Members: 5, Sender: 2}}
		},
		fill: func(_ *testing.T, c *treeCase) {
			var sealed [][]byte
			for i := range c.Members - 1 {
				sealed = append(sealed, bytes.Repeat([]byte{byte(i + 1)}, agree.SealedSize))
			}
			tree := agree.NewTree(c.Sender, sealed)
			c.Root, c.Paths = hexedOf(tree.Root()), make([][]hexed, c.Members)
			for member := range c.Members {
				c.Paths[member] = []hexed{}
				if member == c.Sender {
					continue
				}
				for _, hash := range tree.Path(member) {
					c.Paths[member] = append(c.Paths[member], hexedOf(hash))
				}
			}
		},
	}
}
