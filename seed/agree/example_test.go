package agree_test

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"github.com/cosketch/cosketch/seed/agree"
)

// Three members agree on a seed in two rounds, and confirm it in a third. Their messages are
// public. Package session transports and signs them, and handles cheating members.
func Example() {
	group := agree.Group{Study: [32]byte{1}, Attempt: 1, Members: [][32]byte{{1}, {2}, {3}}}
	secrets := make([]*agree.Secrets, 3)
	commits := make([]agree.Posted[agree.Commit], 3)
	for i, member := range group.Members {
		s, err := agree.Begin(group.Study, group.Attempt, member, rand.Reader)
		if err != nil {
			fmt.Println(err)
			return
		}
		secrets[i] = s
		commits[i] = agree.Posted[agree.Commit]{ID: id(1, i), Message: s.Commit()}
	}
	shares := make([]agree.Posted[agree.Share], 3)
	for i, s := range secrets {
		share, err := s.Share(group, commits)
		if err != nil {
			fmt.Println(err)
			return
		}
		shares[i] = agree.Posted[agree.Share]{ID: id(2, i), Message: share}
	}
	outcomes := make([]agree.Outcome, 3)
	for i, s := range secrets {
		o, err := s.Open(group, commits, shares)
		if err != nil {
			fmt.Println(err)
			return
		}
		outcomes[i] = o
	}
	confirm, err := outcomes[2].Confirm(group.Members[2])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(outcomes[0].Seed.Equal(outcomes[1].Seed), outcomes[0].Check(group.Members[2], confirm))
	// Output:
	// true <nil>
}

// id represents the hash of the envelope in which a message is posted.
func id(round, member int) [32]byte { return sha256.Sum256([]byte{byte(round), byte(member)}) }
