package protocoltest

import "testing"

// Two rounds of more parties than sums are reckoned for at least: all post their first, and the second goes by it.
func TestRoundsOfManyParties(t *testing.T) {
	for name, terms := range map[string]Terms{
		"a look, masked": {Parties: 70, Masked: true, Rounds: true, Looks: true},
		"codes":          {Parties: 66, Rounds: true},
	} {
		t.Run(name, func(t *testing.T) { inTurn(t, newSimulation(t, Options{}, terms)) })
	}
}
